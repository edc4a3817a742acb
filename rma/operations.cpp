// SPDX-License-Identifier: BSD-3-Clause
// Put, get and the accumulates in their general form, and locating memory of dynamic windows.
#include "rma/operations.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "p2p/check/checks.hpp"
#include "p2p/engine.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/layout.hpp"

namespace tutti::rma {

Location locate_attached(Window& window, Target const& t, std::int64_t offset, std::int64_t count,
                         Datatype const& type) {
    auto const address = static_cast<std::uint64_t>(offset);
    if (t.local_rank == window.process.local_rank()) return {reinterpret_cast<std::byte*>(offset), address};
    AddressRange const range = AddressRange::of(address, count, type.extent(), type.true_lb(), type.true_extent());
    std::byte* const first = window.process.single_copy.local_address(t.local_rank, range.first, range.bytes);
    return {first ? first + static_cast<std::int64_t>(address - range.first) : nullptr, address};
}

bool only_owner_reaches(Window& window, Target const& t, std::int64_t offset, std::int64_t count,
                        Datatype const& type) {
    SingleCopy& copy = window.process.single_copy;
    AddressRange const range =
        AddressRange::of(static_cast<std::uint64_t>(offset), count, type.extent(), type.true_lb(), type.true_extent());
    return !copy.cma(t.local_rank) && !copy.has_local_address(t.local_rank, range.first, range.bytes);
}

SharedMemory shared_memory(Window& window, Target const& t, std::int64_t offset, std::int64_t count,
                           Datatype const& type) {
    Location const there = locate(window, t, offset, count, type);
    bool uses_atomics = t.uses_atomics;
    // Memory outside of arenas may be mapped by its owner only: the owner, too, combines there under stripes.
    if (window.flavor == Flavor::dynamic) {
        AddressRange const range =
            AddressRange::of(there.address, count, type.extent(), type.true_lb(), type.true_extent());
        uses_atomics = in_arena(window.process.segment.rank_state(t.local_rank), range.first, range.bytes);
    }
    return {there.mapped, there.address, &window.members, t.member, &window.process.single_copy,
            t.local_rank, uses_atomics};
}

// Accumulates of all forms. accumulate.hpp describes what is atomic, and how.

namespace {

/// Returns the contiguous bytes of elements of this process; null: they have gaps.
std::byte* dense_bytes(Local const& l) {
    if (!l.type.dense(l.count)) return nullptr;
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(l.buffer) +
                                        static_cast<std::uintptr_t>(l.type.true_lb()));
}

/// Combines all elements, or throws CopyRefused; in pieces if the origin's buffers have gaps. `origin` is not read if
/// it has no elements; `result` is null if the previous content is not requested.
void apply(Accumulation const& how, SharedMemory const& to, Remote const& target, Local const& origin,
           Local const* result) {
    auto const bytes = static_cast<std::size_t>(target.count * target.type.size());
    bool const has_operand = origin.count != 0;
    std::byte* const in = has_operand ? dense_bytes(origin) : nullptr;
    std::byte* const old = result ? dense_bytes(*result) : nullptr;
    if ((in || !has_operand) && (old || !result))
        return how.run_typed(to, target.count, target.type, 0, in, old, bytes);
    std::size_t const most = (16384 + how.element_bytes() - 1) / how.element_bytes() * how.element_bytes();
    auto const room = std::make_unique_for_overwrite<std::byte[]>(2 * most);
    std::byte *const packed = room.get(), *const before = packed + most;
    for (std::size_t at = 0; at < bytes; at += most) {
        std::size_t const n = std::min(most, bytes - at);
        if (has_operand && !in) origin.type.pack(origin.buffer, origin.count, at, packed, n);
        std::size_t done = n;
        try {
            how.run_typed(to, target.count, target.type, at,
                          in            ? in + at
                          : has_operand ? packed
                                        : nullptr,
                          old      ? old + at
                          : result ? before
                                   : nullptr,
                          n);
        } catch (CopyRefused const& refused) { done = refused.combined; }
        if (result && !old) result->type.unpack(result->buffer, result->count, at, before, done);
        if (done < n) throw CopyRefused{at + done};
    }
}

inline void count(Window& window, SharedMemory const& to, std::int64_t bytes) {
    window.count(Operation::accumulate, to.mapped ? AccessMethod::load_store : AccessMethod::cma,
                 static_cast<std::uint64_t>(bytes));
}

void combine(Window& window, Local const& origin, Local const* result, Remote const& target, Op const& op,
             char const* call, Ref<Request>* request = nullptr) {
    if (request) *request = completed_request(window);
    if (target.rank == proc_null) return;
    Target& t = accessible_target(window, target.rank, call);
    Accumulation const how(op, target.type);
    std::int64_t const bytes = target.count * target.type.size();
    bool const has_operand = op.builtin != BuiltinOp::no_op;
    if (has_operand && origin.count * origin.type.size() != bytes)
        fail(ErrorClass::truncate, "the target's elements hold ", bytes, " bytes but the origin's hold ",
             origin.count * origin.type.size());
    if (result && result->count * result->type.size() != bytes)
        fail(ErrorClass::truncate, "the target's elements hold ", bytes, " bytes but the result's hold ",
             result->count * result->type.size());
    if (bytes == 0) return;
    std::int64_t const at = element_offset(window, t, target.rank, target.disp, target.count, target.type);
    std::optional<Local> redirected;
    std::shared_ptr<OriginBuffers::Operation> buffers;
    if (window.access_log) [[unlikely]] {
        if (request) window.access_log->mark_incomplete(target.rank);
        else window.access_log->record(target, at, under_shared_lock(window, t), Operation::accumulate, &op);
        if (result) result = &redirected.emplace(*result);
        // From now on the buffers belong to the operation; the result is stored to separate memory at first.
        Local* const separate = redirected ? &*redirected : nullptr;
        auto const begin = [&](std::initializer_list<Local> origins) {
            return window.origin_buffers->begin(window.description(), target.rank, origins, separate, true);
        };
        buffers = has_operand ? begin({origin}) : begin({});
    }
    auto const use_active_message = [&](std::size_t from) {
        window.count(Operation::accumulate, AccessMethod::active_messages, static_cast<std::uint64_t>(bytes));
        active_messages(window).accumulate(origin, result, target, at, how, request, from);
        if (buffers) attach_buffers(request, buffers);
    };
    if (needs_active_message(window, t, target.rank, at, target.count, target.type)) [[unlikely]]
        return use_active_message(0);
    SharedMemory const to = shared_memory(window, t, at, target.count, target.type);
    try {
        apply(how, to, target, has_operand ? origin : Local{nullptr, 0, origin.type}, result);
    } catch (CopyRefused const& refused) { return use_active_message(refused.combined); }
    if (buffers) attach_buffers(request, std::move(buffers));
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
    Local const old = Local::of(result, 1, type);
    combine(window, Local::of(origin, 1, type), &old, {rank, disp, 1, type}, op, "MPI_Fetch_and_op");
}

void compare_and_swap(Window& window, void const* origin, void const* compare, void* result, Datatype const& type,
                      int rank, std::int64_t disp) {
    if (rank == proc_null) return;
    Target& t = accessible_target(window, rank, "MPI_Compare_and_swap");
    std::int64_t const at = element_offset(window, t, rank, disp, 1, type);
    if (window.access_log) [[unlikely]] {
        check_swappable(type);
        window.access_log->record({rank, disp, 1, type}, at, under_shared_lock(window, t), Operation::accumulate,
                                  nullptr);
        Local redirected = Local::of(result, 1, type);
        window.origin_buffers->begin(window.description(), rank,
                                     {Local::of(origin, 1, type), Local::of(compare, 1, type)}, &redirected, true);
        result = redirected.buffer;
    }
    auto const use_active_message = [&] {
        check_swappable(type);
        window.count(Operation::accumulate, AccessMethod::active_messages, static_cast<std::uint64_t>(type.size()));
        active_messages(window).compare_and_swap(origin, compare, result, type, rank, at);
    };
    if (needs_active_message(window, t, rank, at, 1, type)) [[unlikely]]
        return use_active_message();
    SharedMemory const to = shared_memory(window, t, at, 1, type);
    try {
        compare_and_swap(to, type, compare, origin, result);
    } catch (CopyRefused const&) { return use_active_message(); }
    count(window, to, type.size());
}

// Put and get: one copy from layout to layout if the target is mapped in this process; otherwise copies by the kernel,
// run by run.

namespace {

using Direction = MeasuredCopier::Direction;

template <Direction direction>
constexpr char const* call_name = direction == Direction::put ? "MPI_Put" : "MPI_Get";

template <Direction direction>
constexpr Operation operation = direction == Direction::put ? Operation::put : Operation::get;

/// Returns the number of bytes to move if the sizes of the two sides differ: all data that is sent must fit (MPI 3.1,
/// 11.3.1), as in a message; the rest of a larger destination is unchanged.
template <Direction direction>
std::size_t check_sizes(std::size_t here, std::size_t there) {
    if (direction == Direction::put ? here > there : there > here)
        fail(ErrorClass::truncate, "the target's elements hold ", there, " bytes but the origin's hold ", here);
    return std::min(here, there);
}

template <Direction direction>
inline void copy_dense(Process& process, std::byte* there, std::byte* here, std::size_t bytes) {
    std::byte* const to = direction == Direction::put ? there : here;
    std::byte const* const from = direction == Direction::put ? here : there;
    if (bytes == 8) std::memcpy(to, from, 8);
    else if (bytes == 4) std::memcpy(to, from, 4);
    else if (bytes < MeasuredCopier::min_bytes || process.copier.streams(2 * bytes))
        process.copier.copy(to, from, bytes, 2 * bytes);
    else process.window_copier.copy(direction, to, from, bytes);
}

/// Moves memory that only the kernel reaches: each run of the target's layout is one system call. After a refusal,
/// nothing more is moved.
template <Direction direction>
struct KernelCopier {
    SingleCopy& copy;
    unsigned local_rank;
    std::uint64_t origin;
    TypedMemory const& here;
    std::size_t position = 0;
    bool refused = false;

    void run(std::int64_t at, std::int64_t n) {
        std::uint64_t const there = origin + static_cast<std::uint64_t>(at);
        auto const bytes = static_cast<std::size_t>(n);
        if (here.dense()) return move(there, here.first() + position, bytes), void(position += bytes);
        std::byte piece[4096];
        for (std::size_t done = 0; done < bytes;) {
            std::size_t const part = std::min(sizeof piece, bytes - done);
            if (direction == Direction::put) pack_typed(here, position, piece, part);
            move(there + done, piece, part);
            if (direction == Direction::get) unpack_typed(here, position, piece, part);
            done += part;
            position += part;
        }
    }
    void strided(std::int64_t at, std::int64_t stride, std::int64_t block, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) run(at + i * stride, block);
    }

private:
    void move(std::uint64_t there, std::byte* memory, std::size_t bytes) {
        refused = refused || !(direction == Direction::put ? copy.write(local_rank, there, memory, bytes)
                                                           : copy.read(local_rank, there, memory, bytes));
    }
};

/// Returns false if the system refuses. Some data may then have been moved, which is harmless because all of it is
/// moved again.
template <Direction direction>
bool transfer_layouts(Window& window, Target& t, Location const& there, Local const& here, Remote const& target,
                      std::size_t bytes) {
    TypedMemory const mine = TypedMemory::of(here.buffer, here.count, here.type);
    if (there.mapped) {
        TypedMemory const target_memory = TypedMemory::of(there.mapped, target.count, target.type);
        if (direction == Direction::put) copy_typed(target_memory, mine, 0, bytes);
        else copy_typed(mine, target_memory, 0, bytes);
        return true;
    }
    KernelCopier<direction> sink{window.process.single_copy, t.local_rank, there.address, mine};
    auto const length = static_cast<std::int64_t>(bytes);
    if (target.type.dense(target.count)) sink.run(target.type.true_lb(), length);
    else TypeWalk(sink).repeated(*target.type.layout(), 0, target.count, target.type.extent(), 0, length);
    return !sink.refused;
}

/// Moves the data of a checked call, to or from `offset` in the target's part.
template <Direction direction>
inline void move(Window& window, Target& t, Local const& here, Remote const& target, std::int64_t offset,
                 std::size_t bytes, Ref<Request>* request) {
    auto const use_active_message = [&] {
        if (direction == Direction::put) active_messages(window).put(here, target, offset, request);
        else active_messages(window).get(here, target, offset, request);
        window.count(operation<direction>, AccessMethod::active_messages, bytes);
    };
    if (needs_active_message(window, t, target.rank, offset, target.count, target.type)) [[unlikely]]
        return use_active_message();
    Location const there = locate(window, t, offset, target.count, target.type);
    if (there.mapped && here.type.dense(here.count) && target.type.dense(target.count)) [[likely]] {
        auto const first =
            reinterpret_cast<std::uintptr_t>(here.buffer) + static_cast<std::uintptr_t>(here.type.true_lb());
        copy_dense<direction>(window.process, there.mapped + target.type.true_lb(), reinterpret_cast<std::byte*>(first),
                              bytes);
        return window.count(operation<direction>, AccessMethod::load_store, bytes);
    }
    if (!transfer_layouts<direction>(window, t, there, here, target, bytes)) return use_active_message();
    window.count(operation<direction>, there.mapped ? AccessMethod::load_store : AccessMethod::cma, bytes);
}

template <Direction direction>
void record_access(Window& window, Target& t, Local const& here, Remote const& target, std::int64_t offset) {
    AccessRecord* const record =
        window.access_log->record(target, offset, under_shared_lock(window, t), operation<direction>, nullptr);
    if (direction == Direction::get || !record) return;
    auto const bytes = static_cast<std::size_t>(target.count * target.type.size());
    p2p::Data const data = data_of(here);
    if (!data.dense() || data.bytes != bytes) return;
    record->digest_after = p2p::digest_of(data);
    p2p::CallOrder const& order = p2p::engine(window.process).checks()->call_order;
    if (!order.no_news_since_sync() || order.windows != 1) return;   // this rank may know what the target has stored
    if (needs_active_message(window, t, target.rank, offset, target.count, target.type)) return;
    Location const there = locate(window, t, offset, target.count, target.type);
    if (there.mapped)
        record->digest_before = p2p::digest_of(p2p::Data::of_bytes(there.mapped + target.type.true_lb(), bytes));
}

/// As move(), under --check.
template <Direction direction>
[[gnu::cold, gnu::noinline]] void move_checked(Window& window, Target& t, Local const& here, Remote const& target,
                                               std::int64_t offset, std::size_t bytes, Ref<Request>* request) {
    // A get with a request may be known to be complete before the epoch ends. Puts with requests are not recorded
    // either.
    if (request) window.access_log->mark_incomplete(target.rank);
    else record_access<direction>(window, t, here, target, offset);
    Local redirected = here;
    auto buffers = direction == Direction::put
                       ? window.origin_buffers->begin(window.description(), target.rank, {here}, nullptr, false)
                       : window.origin_buffers->begin(window.description(), target.rank, {}, &redirected, false);
    move<direction>(window, t, redirected, target, offset, bytes, request);
    attach_buffers(request, std::move(buffers));
}

template <Direction direction>
inline void transfer(Window& window, Local const& here, Remote const& target, Ref<Request>* request) {
    if (request) *request = completed_request(window);
    if (target.rank == proc_null) return;
    Target& t = accessible_target(window, target.rank, call_name<direction>);
    auto bytes = static_cast<std::size_t>(here.count * here.type.size());
    auto const there_bytes = static_cast<std::size_t>(target.count * target.type.size());
    if (bytes != there_bytes) [[unlikely]]
        bytes = check_sizes<direction>(bytes, there_bytes);
    if (bytes == 0) return;
    std::int64_t const offset = element_offset(window, t, target.rank, target.disp, target.count, target.type);
    if (window.access_log) [[unlikely]]
        return move_checked<direction>(window, t, here, target, offset, bytes, request);
    move<direction>(window, t, here, target, offset, bytes, request);
}

}   // namespace

void put(Window& window, Local const& origin, Remote const& target, Ref<Request>* request) {
    transfer<Direction::put>(window, origin, target, request);
}

void get(Window& window, Local const& origin, Remote const& target, Ref<Request>* request) {
    transfer<Direction::get>(window, origin, target, request);
}

}   // namespace tutti::rma
