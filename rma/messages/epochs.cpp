// SPDX-License-Identifier: BSD-3-Clause
// Beginning and end of the service for a window, and the origin's side of synchronisation: how it learns that what it
// asked for is done, in as few messages as there can be.
#include <algorithm>

#include "rma/messages/operation.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {
namespace {

// How long commands may be kept back while whoever polls waits for something else.
constexpr std::int64_t longest_ns = 20'000;

}   // namespace

void make_messages(Window& window) { window.messages = std::make_unique<Messages>(window); }

void start_serving(Window& window) {
    Process& process = window.process;
    if (!window.messages || process.progress_thread) return;
    if (process.start_progress_thread() && process.threads_begin) process.threads_begin(process);
}

Messages::Messages(Window& window)
    : window_(window), service_(service_of(window.process)), peers_(static_cast<std::size_t>(window.size())) {
    service_.add(*this, window.comm->context);
    window.process.waiter.begin_service(window.needs_messages);
}

Messages::~Messages() {
    try {
        for_each_peer([&](Peer& to) { dispatch(to); });
        window_.process.waiter.until(
            [&] {
                return replies_ == 0 && std::ranges::all_of(used_, [](Peer const* to) { return to->under_way == 0; });
            },
            window_.reason("MPI_Win_free"));
    } catch (Error const&) {   // of something else that was moved on
    }
    window_.process.waiter.end_service(window_.needs_messages);
    service_.remove(*this, window_.comm->context);
}

bool Messages::poll() {
    if (at_rest()) [[likely]]
        return false;
    std::int64_t const now = now_ns();
    bool moved = false;
    if (short_of_memory_) [[unlikely]]
        moved = try_again();
    for_each_peer([&](Peer& to) {
        if (to.open && now - to.open->since > longest_ns) dispatch(to), moved = true;
    });
    if (locks_wanted_ != 0) retry_locks();
    return moved;
}

/// Waits for what a member tells by itself.
template <class Condition>
void Messages::await_word(Peer& of, char const* call, Condition condition) {
    p2p::Engine const& engine = p2p::engine(window_.process);
    int const peer = service_.peer(of.world);
    window_.process.waiter.until([&] { return condition() || engine.loss(peer); }, window_.reason(call, of.rank));
    if (!condition()) throw Error(ErrorClass::other, *engine.loss(peer));
}

void Messages::await_post(int rank, char const* call) {
    Peer& of = peer(rank);
    await_word(of, call, [&] { return of.posts >= of.posts_used; });
}

void Messages::await_complete(int rank, char const* call) {
    Peer& of = peer(rank);
    await_word(of, call, [&] { return of.completes > of.completes_used; });
}

/// One message that is answered when all before it is done; `by`: flush or unlock.
void Messages::confirm(Peer& to, Act by) {
    Command command{.act = by, .exclusive = to.exclusive};
    await_answer(to, command, {}, 0, nullptr);
    add(to, command);
    to.unconfirmed = false;
}

void Messages::await_quiet(Peer& to, char const* call) {
    dispatch(to);
    if (to.under_way != 0)
        window_.process.waiter.until([&] { return to.under_way == 0; },
                                     window_.reason(call));   // any rank there may serve
    check(to);
}

void Messages::flush(int rank, char const* call) {
    if (!peers_[static_cast<std::size_t>(rank)]) return;
    Peer& to = peer(rank);
    if (to.unconfirmed) confirm(to, Act::flush);
    await_quiet(to, call);
}

void Messages::flush_all(char const* call) {
    for_each_peer([&](Peer& to) {
        if (to.unconfirmed) confirm(to, Act::flush);
        dispatch(to);
    });
    for_each_peer([&](Peer& to) { await_quiet(to, call); });
}

void Messages::flush_local(int rank, char const* call) {
    if (peers_[static_cast<std::size_t>(rank)]) await_quiet(peer(rank), call);
}

void Messages::flush_local_all(char const* call) {
    for_each_peer([&](Peer& to) { dispatch(to); });
    for_each_peer([&](Peer& to) { await_quiet(to, call); });
}

/// Counts the locks that are not known to be held.
void Messages::set_lock(Peer& to, Lock lock) {
    auto const open = [](Lock l) { return l == Lock::wanted || l == Lock::asked; };
    unheld_ = unheld_ + open(lock) - open(to.lock);
    to.lock = lock;
}

void Messages::lock(int rank, bool exclusive) {
    Peer& to = peer(rank);
    set_lock(to, Lock::wanted);
    to.exclusive = exclusive;
}

/// All are asked for before the first one is awaited: they are locks of one lock_all, or there is one only.
void Messages::take_locks(char const* call) {
    if (unheld_ == 0) return;
    for_each_peer([&](Peer& to) {
        if (to.lock == Lock::wanted) ask_for_lock(to);
        if (to.lock != Lock::asked) return;
        confirm(to, Act::flush);
        dispatch(to);
    });
    for_each_peer([&](Peer& to) {
        if (to.lock == Lock::asked) await_quiet(to, call);
    });
}

void Messages::ask_for_lock(Peer& to) {
    if (to.lock == Lock::none) {
        to.exclusive = false;
        to.by_all = true;
    }
    set_lock(to, Lock::asked);
    add(to, {.act = Act::lock, .exclusive = to.exclusive});
}

void Messages::unlock(int rank, char const* call) {
    if (!peers_[static_cast<std::size_t>(rank)]) return;
    Peer& to = peer(rank);
    if (to.lock == Lock::none) return flush(rank, call);
    confirm(to, Act::unlock);
    set_lock(to, Lock::none);
    await_quiet(to, call);
}

void Messages::unlock_all(char const* call) {
    all_locked_ = false;
    for_each_peer([&](Peer& to) {
        if (to.by_all) confirm(to, Act::unlock);
        else if (to.unconfirmed) confirm(to, Act::flush);
        if (to.by_all) set_lock(to, Lock::none);
        to.by_all = false;
        dispatch(to);
    });
    for_each_peer([&](Peer& to) { await_quiet(to, call); });
}

void Messages::post(int rank) {
    Peer& to = peer(rank);
    add(to, {.act = Act::posted});
    dispatch(to);
}

void Messages::complete(std::vector<int> const& ranks, char const* call) {
    for (int rank : ranks) {
        Peer& to = peer(rank);
        if (!to.here) add(to, {.act = Act::completed});
        else if (to.unconfirmed) confirm(to, Act::flush);
        to.unconfirmed = false;
        dispatch(to);
    }
    for (int rank : ranks) await_quiet(peer(rank), call);
}

}   // namespace tutti::rma
