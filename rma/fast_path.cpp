// SPDX-License-Identifier: BSD-3-Clause
// Operations on elements that are not one word.
#include "rma/fast_path.hpp"

namespace tutti::rma::fast {
namespace {

bool is_valid(std::int64_t bytes) { return bytes > 0 && bytes <= max_bytes; }

}   // namespace

template <Operation operation>
bool copy_elements(Window& window, void* here, std::int64_t bytes, int rank, std::int64_t disp) {
    if (!is_valid(bytes)) return false;
    std::byte* const there = target_memory(window, rank, disp, bytes);
    if (!there) return false;
    void* const to = operation == Operation::put ? there : here;
    void const* const from = operation == Operation::put ? here : there;
    switch (bytes) {   // 1, 2 and 16 bytes by one load and one store each
    case 1: std::memcpy(to, from, 1); break;
    case 2: std::memcpy(to, from, 2); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    window.count(operation, AccessMethod::load_store, static_cast<std::uint64_t>(bytes));
    return true;
}
template bool copy_elements<Operation::put>(Window&, void*, std::int64_t, int, std::int64_t);
template bool copy_elements<Operation::get>(Window&, void*, std::int64_t, int, std::int64_t);

template <class T>
bool add_number(Window& window, void const* in, void* old, int rank, std::int64_t disp) {
    std::byte* const there = target_memory(window, rank, disp, sizeof(T));
    if (!there) [[unlikely]]
        return false;
    Target const& t = window.target(rank);
    std::uint64_t const address = t.address + static_cast<std::uint64_t>(there - t.memory);
    if (address % granule_bytes > granule_bytes - sizeof(T)) [[unlikely]]   // crosses a granule
        return false;
    T operand, value;
    std::memcpy(&operand, in, sizeof operand);
    {
        StripeGuard const guard(window.members, t.member, address);
        std::memcpy(&value, there, sizeof value);
        if (old) std::memcpy(old, &value, sizeof value);
        value = operand + value;
        std::memcpy(there, &value, sizeof value);
    }
    window.count(Operation::accumulate, AccessMethod::load_store, sizeof(T));
    return true;
}
template bool add_number<double>(Window&, void const*, void*, int, std::int64_t);
template bool add_number<float>(Window&, void const*, void*, int, std::int64_t);

bool combine_elements(Window& window, Elements elements, void const* in, void* old, int rank, std::int64_t disp,
                      BuiltinOp op) {
    if (!is_valid(elements.bytes)) return false;
    std::byte* const there = target_memory(window, rank, disp, elements.bytes);
    if (!there) return false;
    bool const has_kernel = op != BuiltinOp::replace && op != BuiltinOp::no_op;
    BinaryKernel const kernel = has_kernel ? binary_kernel(op, elements.kind) : nullptr;
    if (has_kernel && !kernel) return false;   // the operator is not defined on these elements
    Target const& t = window.target(rank);
    SharedMemory const to{there,           t.address + static_cast<std::uint64_t>(there - t.memory),
                          &window.members, t.member,
                          nullptr,         t.local_rank,
                          t.uses_atomics};
    Accumulation(op, elements.kind, elements.size, kernel)
        .run(to, static_cast<std::byte const*>(in), static_cast<std::byte*>(old),
             static_cast<std::size_t>(elements.bytes));
    window.count(Operation::accumulate, AccessMethod::load_store, static_cast<std::uint64_t>(elements.bytes));
    return true;
}

}   // namespace tutti::rma::fast
