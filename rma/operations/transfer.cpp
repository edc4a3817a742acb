// SPDX-License-Identifier: BSD-3-Clause
// Put and get: one copy from layout to layout where the target is mapped here; by the kernel, run by run, where only it
// reaches the target.
#include <algorithm>
#include <cstring>

#include "p2p/check/digest.hpp"
#include "p2p/engine.hpp"
#include "rma/operations/access.hpp"
#include "rma/operations/operations.hpp"
#include "rma/operations/request.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/layout/walk.hpp"

namespace tutti::rma {
namespace {

using Direction = MeasuredCopier::Direction;

template <Direction direction>
constexpr char const* call_name = direction == Direction::put ? "MPI_Put" : "MPI_Get";

template <Direction direction>
constexpr Operation operation = direction == Direction::put ? Operation::put : Operation::get;

/// What moves where the two sides hold different numbers of bytes: all that is sent must fit (MPI 3.1, 11.3.1), as in a
/// message; what the other side has more of stays as it is.
template <Direction direction>
std::size_t fitting(std::size_t here, std::size_t there) {
    if (direction == Direction::put ? here > there : there > here)
        fail(ErrorClass::truncate, "the target's elements hold ", there, " bytes, but the origin's ", here);
    return std::min(here, there);
}

template <Direction direction>
inline void copy_dense(Process& process, std::byte* there, std::byte* here, std::size_t bytes) {
    std::byte* const to = direction == Direction::put ? there : here;
    std::byte const* const from = direction == Direction::put ? here : there;
    if (bytes == 8) std::memcpy(to, from, 8);
    else if (bytes == 4) std::memcpy(to, from, 4);
    else if (bytes < MeasuredCopier::least_bytes || process.copier.streams(2 * bytes))
        process.copier.copy(to, from, bytes, 2 * bytes);
    else process.window_copier.copy(direction, to, from, bytes);
}

/// What only the kernel reaches: each run of the target's layout is a call of the system. Once it refuses one, nothing
/// more is moved.
template <Direction direction>
struct ByKernel {
    SingleCopy& copy;
    unsigned place;
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
        refused = refused || !(direction == Direction::put ? copy.write(place, there, memory, bytes)
                                                           : copy.read(place, there, memory, bytes));
    }
};

/// False: the system refuses. Then some of it may have been moved, which does no harm when all of it is moved again.
template <Direction direction>
bool transfer_layouts(Window& window, Target& t, Reached const& there, Local const& here, Remote const& target,
                      std::size_t bytes) {
    TypedMemory const mine = TypedMemory::of(here.buffer, here.count, here.type);
    if (there.mapped) {
        TypedMemory const theirs = TypedMemory::of(there.mapped, target.count, target.type);
        if (direction == Direction::put) copy_typed(theirs, mine, 0, bytes);
        else copy_typed(mine, theirs, 0, bytes);
        return true;
    }
    ByKernel<direction> sink{window.process.single_copy, t.place, there.address, mine};
    auto const length = static_cast<std::int64_t>(bytes);
    if (target.type.dense(target.count)) sink.run(target.type.true_lb(), length);
    else TypeWalk(sink).repeated(*target.type.layout(), 0, target.count, target.type.extent(), 0, length);
    return !sink.refused;
}

/// What is allowed already, to or from `origin` in the target's part.
template <Direction direction>
inline void move(Window& window, Target& t, Local const& here, Remote const& target, std::int64_t origin,
                 std::size_t bytes, Ref<Request>* request) {
    auto const ask_owner = [&] {
        if (direction == Direction::put) messages(window).put(here, target, origin, request);
        else messages(window).get(here, target, origin, request);
        window.count(operation<direction>, Path::messages, bytes);
    };
    if (asked_by_messages(window, t, target.rank, origin, target.count, target.type)) [[unlikely]]
        return ask_owner();
    Reached const there = reach(window, t, origin, target.count, target.type);
    if (there.mapped && here.type.dense(here.count) && target.type.dense(target.count)) [[likely]] {
        auto const first =
            reinterpret_cast<std::uintptr_t>(here.buffer) + static_cast<std::uintptr_t>(here.type.true_lb());
        copy_dense<direction>(window.process, there.mapped + target.type.true_lb(), reinterpret_cast<std::byte*>(first),
                              bytes);
        return window.count(operation<direction>, Path::load_store, bytes);
    }
    if (!transfer_layouts<direction>(window, t, there, here, target, bytes)) return ask_owner();
    window.count(operation<direction>, there.mapped ? Path::load_store : Path::cma, bytes);
}

template <Direction direction>
void note(Window& window, Target& t, Local const& here, Remote const& target, std::int64_t origin) {
    Accessed* const kept =
        window.accesses->note(target, origin, under_shared_lock(window, t), operation<direction>, nullptr);
    if (direction == Direction::get || !kept) return;
    auto const bytes = static_cast<std::size_t>(target.count * target.type.size());
    p2p::Data const data = data_of(here);
    if (!data.dense() || data.bytes != bytes) return;
    kept->left = p2p::digest_of(data);
    p2p::CallOrder const& order = p2p::engine(window.process).checks()->call_order;
    if (!order.alone() || order.windows != 1) return;   // what the target has stored may be known here
    if (asked_by_messages(window, t, target.rank, origin, target.count, target.type)) return;
    Reached const there = reach(window, t, origin, target.count, target.type);
    if (there.mapped) kept->found = p2p::digest_of(p2p::Data::of_bytes(there.mapped + target.type.true_lb(), bytes));
}

/// The same under --check.
template <Direction direction>
[[gnu::cold, gnu::noinline]] void move_checked(Window& window, Target& t, Local const& here, Remote const& target,
                                               std::int64_t origin, std::size_t bytes, Ref<Request>* request) {
    // One that got something for a request may be known to be complete before the epoch ends.
    if (request) window.accesses->note_unkept(target.rank);
    else note<direction>(window, t, here, target, origin);
    Local aside = here;
    auto buffers = direction == Direction::put
                       ? window.origins->begin(window.words(), target.rank, {here}, nullptr, false)
                       : window.origins->begin(window.words(), target.rank, {}, &aside, false);
    move<direction>(window, t, aside, target, origin, bytes, request);
    watch(request, std::move(buffers));
}

template <Direction direction>
inline void transfer(Window& window, Local const& here, Remote const& target, Ref<Request>* request) {
    if (request) *request = completed_request(window);
    if (target.rank == proc_null) return;
    Target& t = accessible(window, target.rank, call_name<direction>);
    auto bytes = static_cast<std::size_t>(here.count * here.type.size());
    auto const there_bytes = static_cast<std::size_t>(target.count * target.type.size());
    if (bytes != there_bytes) [[unlikely]]
        bytes = fitting<direction>(bytes, there_bytes);
    if (bytes == 0) return;
    std::int64_t const origin = origin_of(window, t, target.rank, target.disp, target.count, target.type);
    if (window.accesses) [[unlikely]]
        return move_checked<direction>(window, t, here, target, origin, bytes, request);
    move<direction>(window, t, here, target, origin, bytes, request);
}

}   // namespace

void put(Window& window, Local const& origin, Remote const& target, Ref<Request>* request) {
    transfer<Direction::put>(window, origin, target, request);
}

void get(Window& window, Local const& origin, Remote const& target, Ref<Request>* request) {
    transfer<Direction::get>(window, origin, target, request);
}

}   // namespace tutti::rma
