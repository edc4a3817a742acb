// SPDX-License-Identifier: BSD-3-Clause
// What of the common case is not worth to be inline.
#include "rma/operations/direct.hpp"

#include "runtime/base/error.hpp"

namespace tutti::rma {

void copy_direct(void* to, void const* from, std::size_t bytes) {
    switch (bytes) {
    case 1: return void(std::memcpy(to, from, 1));
    case 2: return void(std::memcpy(to, from, 2));
    case 4: return void(std::memcpy(to, from, 4));
    case 8: return void(std::memcpy(to, from, 8));
    case 16: return void(std::memcpy(to, from, 16));
    default: std::memcpy(to, from, bytes);
    }
}

bool combine_direct(Window& window, int rank, std::byte* there, Datatype const& type, Op const& op, void const* in,
                    void* old, std::int64_t bytes) {
    Kernel2 kernel = nullptr;
    if (op.builtin != BuiltinOp::replace && op.builtin != BuiltinOp::no_op) {
        try {
            kernel = op.kernels(type).two;
        } catch (Error const&) { return false; } catch (std::bad_alloc const&) {   // for the Error's sentence
            return false;
        }
    }
    Target const& t = window.target(rank);
    SharedMemory const to{there,           t.address + static_cast<std::uint64_t>(there - t.memory),
                          &window.members, t.member,
                          nullptr,         t.place,
                          t.by_processor};
    Accumulation const how(op.builtin, type.basic(), static_cast<std::size_t>(type.size()), kernel);
    how.run(to, static_cast<std::byte const*>(in), static_cast<std::byte*>(old), static_cast<std::size_t>(bytes));
    window.count(Operation::accumulate, Path::load_store, static_cast<std::uint64_t>(bytes));
    return true;
}

}   // namespace tutti::rma
