// SPDX-License-Identifier: BSD-3-Clause
// Accumulates of all forms. What is atomic, and how, stands in rma/node/accumulation.hpp.
#include <algorithm>
#include <memory>
#include <optional>

#include "rma/operations/access.hpp"
#include "rma/operations/operations.hpp"
#include "rma/operations/request.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {
namespace {

/// Dense bytes of this process; null where it has gaps.
std::byte* dense_bytes(Local const& l) {
    if (!l.type.dense(l.count)) return nullptr;
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(l.buffer) +
                                        static_cast<std::uintptr_t>(l.type.true_lb()));
}

/// Applies all of it, or throws Refused, in pieces where this process's side has gaps. `origin` is not looked at when
/// it has no elements; `result` is null when what was there is not asked for.
void apply(Accumulation const& how, SharedMemory const& to, Remote const& target, Local const& origin,
           Local const* result) {
    auto const bytes = static_cast<std::size_t>(target.count * target.type.size());
    bool const given = origin.count != 0;
    std::byte* const in = given ? dense_bytes(origin) : nullptr;
    std::byte* const old = result ? dense_bytes(*result) : nullptr;
    if ((in || !given) && (old || !result)) return how.typed(to, target.count, target.type, 0, in, old, bytes);
    std::size_t const most = (16384 + how.element() - 1) / how.element() * how.element();
    auto const room = std::make_unique_for_overwrite<std::byte[]>(2 * most);
    std::byte *const packed = room.get(), *const before = packed + most;
    for (std::size_t at = 0; at < bytes; at += most) {
        std::size_t const n = std::min(most, bytes - at);
        if (given && !in) origin.type.pack(origin.buffer, origin.count, at, packed, n);
        std::size_t done = n;
        try {
            how.typed(to, target.count, target.type, at,
                      in      ? in + at
                      : given ? packed
                              : nullptr,
                      old      ? old + at
                      : result ? before
                               : nullptr,
                      n);
        } catch (Refused const& refused) { done = refused.combined; }
        if (result && !old) result->type.unpack(result->buffer, result->count, at, before, done);
        if (done < n) throw Refused{at + done};
    }
}

inline void count(Window& window, SharedMemory const& to, std::int64_t bytes) {
    window.count(Operation::accumulate, to.mapped ? Path::load_store : Path::cma, static_cast<std::uint64_t>(bytes));
}

/// --check: the buffers are the operation's from now on, and the result's is another one.
std::shared_ptr<OriginBuffers::Operation> begin_checked(Window& window, int rank, Local const* origin, Local* result) {
    if (!origin) return window.origins->begin(window.words(), rank, {}, result, true);
    return window.origins->begin(window.words(), rank, {*origin}, result, true);
}
/// The same of calls for one element, without a request.
void begin_checked(Window& window, int rank, std::initializer_list<Local> origins, void*& result,
                   Datatype const& type) {
    Local aside = Local::of(result, 1, type);
    window.origins->begin(window.words(), rank, origins, &aside, true);
    result = aside.buffer;
}

void combine(Window& window, Local const& origin, Local const* result, Remote const& target, Op const& op,
             char const* call, Ref<Request>* request = nullptr) {
    if (request) *request = completed_request(window);
    if (target.rank == proc_null) return;
    Target& t = accessible(window, target.rank, call);
    Accumulation const how(op, target.type);
    std::int64_t const bytes = target.count * target.type.size();
    bool const given = op.builtin != BuiltinOp::no_op;
    if (given && origin.count * origin.type.size() != bytes)
        fail(ErrorClass::truncate, "the target's elements hold ", bytes, " bytes, but the origin's ",
             origin.count * origin.type.size());
    if (result && result->count * result->type.size() != bytes)
        fail(ErrorClass::truncate, "the target's elements hold ", bytes, " bytes, but the result's ",
             result->count * result->type.size());
    if (bytes == 0) return;
    std::int64_t const at = origin_of(window, t, target.rank, target.disp, target.count, target.type);
    std::optional<Local> aside;
    std::shared_ptr<OriginBuffers::Operation> buffers;
    if (window.accesses) [[unlikely]] {
        if (request) window.accesses->note_unkept(target.rank);
        else window.accesses->note(target, at, under_shared_lock(window, t), Operation::accumulate, &op);
        if (result) result = &aside.emplace(*result);
        buffers = begin_checked(window, target.rank, given ? &origin : nullptr, aside ? &*aside : nullptr);
    }
    auto const ask_owner = [&](std::size_t from) {
        window.count(Operation::accumulate, Path::messages, static_cast<std::uint64_t>(bytes));
        messages(window).accumulate(origin, result, target, at, how, request, from);
        if (buffers) watch(request, buffers);
    };
    if (asked_by_messages(window, t, target.rank, at, target.count, target.type)) [[unlikely]]
        return ask_owner(0);
    SharedMemory const to = shared_memory(window, t, at, target.count, target.type);
    try {
        apply(how, to, target, given ? origin : Local{nullptr, 0, origin.type}, result);
    } catch (Refused const& refused) { return ask_owner(refused.combined); }
    if (buffers) watch(request, std::move(buffers));
    count(window, to, bytes);
}

}   // namespace

void accumulate(Window& window, Local const& origin, Remote const& target, Op const& op, Ref<Request>* request) {
    combine(window, origin, nullptr, target, op, "MPI_Accumulate", request);
}

void get_accumulate(Window& window, Local const& origin, Local const& result, Remote const& target, Op const& op,
                    Ref<Request>* request) {
    combine(window, origin, &result, target, op, "MPI_Get_accumulate", request);
}

void fetch_and_op(Window& window, void const* origin, void* result, Datatype const& type, int rank, std::int64_t disp,
                  Op const& op) {
    if (rank == proc_null) return;
    Target& t = accessible(window, rank, "MPI_Fetch_and_op");
    std::int64_t const at = origin_of(window, t, rank, disp, 1, type);
    if (window.accesses) [[unlikely]] {
        Accumulation const allowed(op, type);   // what is refused touches nothing
        window.accesses->note({rank, disp, 1, type}, at, under_shared_lock(window, t), Operation::accumulate, &op);
        bool const given = op.builtin != BuiltinOp::no_op;
        given ? begin_checked(window, rank, {Local::of(origin, 1, type)}, result, type)
              : begin_checked(window, rank, {}, result, type);
    }
    bool const simple = t.by_processor && t.memory;   // not of a dynamic window
    if (simple) [[likely]] {
        ByProcessor const way(window.members, t.member);
        if (way.granted() && fetch_integer(op.builtin, type.basic(), t.memory + at, origin, result)) [[likely]]
            return window.count_atomic(static_cast<std::uint64_t>(type.size()));
    }
    Accumulation const how(op, type);
    Local const mine = Local::of(origin, op.builtin != BuiltinOp::no_op, type), old = Local::of(result, 1, type);
    auto const ask_owner = [&] {
        window.count(Operation::accumulate, Path::messages, static_cast<std::uint64_t>(type.size()));
        messages(window).accumulate(Local::of(origin, 1, type), &old, {rank, disp, 1, type}, at, how, nullptr);
    };
    if (asked_by_messages(window, t, rank, at, 1, type)) [[unlikely]]
        return ask_owner();
    SharedMemory const to = shared_memory(window, t, at, 1, type);
    try {
        apply(how, to, {rank, disp, 1, type}, mine, &old);
    } catch (Refused const&) { return ask_owner(); }
    count(window, to, type.size());
}

void compare_and_swap(Window& window, void const* origin, void const* compare, void* result, Datatype const& type,
                      int rank, std::int64_t disp) {
    if (rank == proc_null) return;
    Target& t = accessible(window, rank, "MPI_Compare_and_swap");
    std::int64_t const at = origin_of(window, t, rank, disp, 1, type);
    if (window.accesses) [[unlikely]] {
        check_swappable(type);
        window.accesses->note({rank, disp, 1, type}, at, under_shared_lock(window, t), Operation::accumulate, nullptr,
                              true);
        begin_checked(window, rank, {Local::of(origin, 1, type), Local::of(compare, 1, type)}, result, type);
    }
    auto const ask_owner = [&] {
        check_swappable(type);
        window.count(Operation::accumulate, Path::messages, static_cast<std::uint64_t>(type.size()));
        messages(window).compare_and_swap(origin, compare, result, type, rank, at);
    };
    if (asked_by_messages(window, t, rank, at, 1, type)) [[unlikely]]
        return ask_owner();
    SharedMemory const to = shared_memory(window, t, at, 1, type);
    try {
        compare_and_swap(to, type, compare, origin, result);
    } catch (Refused const&) { return ask_owner(); }
    count(window, to, type.size());
}

}   // namespace tutti::rma
