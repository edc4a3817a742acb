// SPDX-License-Identifier: BSD-3-Clause
// Creation and destruction of a window's active messages, and the origin's side of synchronization: confirming that
// commands are complete with as few messages as possible.
#include <algorithm>

#include "rma/am_messages.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {
namespace {

// Time for which commands may be held back while the polling thread waits for something else.
constexpr std::int64_t longest_ns = 20'000;

}   // namespace

void make_messages(Window& window) { window.messages = std::make_unique<Messages>(window); }

void start_serving(Window& window) {
    Process& process = window.process;
    if (!window.messages || !window.serves() || process.progress_thread) return;
    if (process.start_progress_thread() && process.threads_begin) process.threads_begin(process);
}

Messages::Messages(Window& window)
    : window_(window), service_(service_of(window.process)), peers_(static_cast<std::size_t>(window.size())) {
    Cluster const& cluster = window.process.cluster;
    std::vector<bool> seen(static_cast<std::size_t>(cluster.nodes()));
    seen[static_cast<std::size_t>(cluster.here())] = true;
    for (int rank = 0; rank < window.size(); ++rank) {
        auto const node = static_cast<std::size_t>(cluster.node_of(window.comm->world_rank(rank)));
        if (!seen[node]) first_members_.push_back(rank);
        seen[node] = true;
    }
    service_.add(*this, window.comm->context);
    if (window.serves()) window.process.waiter.begin_service(window.needs_messages);
}

Messages::~Messages() {
    for_each_peer([&](Peer& to) { dispatch(to); });
    auto const quiet = [&] {
        return replies_ == 0 && std::ranges::all_of(used_, [](Peer const* to) { return to->under_way == 0; });
    };
    while (!quiet()) {   // operations in flight refer to this object
        try {
            window_.process.waiter.until(quiet, window_.reason("MPI_Win_free"));
        } catch (Error const&) {             // of another operation that was progressed
        } catch (std::bad_alloc const&) {}   // likewise
    }
    if (window_.serves()) window_.process.waiter.end_service(window_.needs_messages);
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
    if (locks_wanted_ != 0) moved |= retry_locks();
    return moved;
}

/// Waits for a notification that the member sends by itself (posted, completed).
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

/// Sends a command that is answered when all previous ones are complete; `by`: flush or unlock.
void Messages::confirm(Peer& to, Act by) {
    Command command{.act = by, .exclusive = to.exclusive};
    p2p::Data const nothing;
    add(to, command, {.into = &nothing});
    to.unconfirmed = false;
}

void Messages::await_quiet(Peer& to, char const* call) {
    dispatch(to);
    if (to.under_way != 0)
        window_.process.waiter.until([&] { return to.under_way == 0; }, window_.reason(call, to.rank));
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

/// Also counts the locks that are not known to be held.
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

/// Throws std::bad_alloc; the lock is then wanted as before.
void Messages::ask_for_lock(Peer& to) {
    set_lock(to, Lock::asked);   // first, because make_room requests wanted locks
    try {
        make_room(to, 0);
    } catch (std::bad_alloc const&) {
        set_lock(to, Lock::wanted);
        throw;
    }
    write(to, {.act = Act::lock, .exclusive = to.exclusive});
}

void Messages::unlock(int rank, char const* call) {
    if (!peers_[static_cast<std::size_t>(rank)]) return;
    Peer& to = peer(rank);
    if (to.lock == Lock::none) return flush(rank, call);
    confirm(to, Act::unlock);
    set_lock(to, Lock::none);
    await_quiet(to, call);
}

/// Requests the lock of a node. It must later be followed by leave_node, whatever the answer is.
void Messages::ask_for_node(Peer& to, bool waits) {
    Command command{.act = Act::lock_node, .waits = waits, .bytes = sizeof to.granted};
    p2p::Data const answer = p2p::Data::of_bytes(&to.granted, sizeof to.granted);
    add(to, command, {.into = &answer});
    to.node = NodeLock::waiting;
    dispatch(to);
}

bool Messages::try_nodes(char const* call) {
    send_leaves();
    for (int rank : first_members_)
        if (Peer& to = peer(rank); to.node != NodeLock::held) ask_for_node(to, false);
    bool all = true;
    for (int rank : first_members_) {
        Peer& to = peer(rank);
        if (to.node == NodeLock::held) continue;
        await_quiet(to, call);
        if (to.granted) to.node = NodeLock::held;
        else all = false;
    }
    return all;
}

void Messages::await_node(char const* call) {
    auto const refused = std::ranges::find_if(first_members_, [&](int rank) { return !peer(rank).granted; });
    Peer& to = peer(*refused);
    ask_for_node(to, true);
    await_quiet(to, call);
    to.node = NodeLock::held;
}

void Messages::command_node(Peer& to, Act act, NodeLock then) {
    make_room(to, 0);
    write(to, {.act = act});
    dispatch(to);
    to.node = then;
}

void Messages::step_back() {
    for (int rank : first_members_)
        if (Peer& to = peer(rank); to.node == NodeLock::held) command_node(to, Act::step_back, NodeLock::waiting);
}

void Messages::leave_nodes() {
    for (int rank : first_members_)
        if (auto& to = peers_[static_cast<std::size_t>(rank)]; to && to->node != NodeLock::none)
            to->node = NodeLock::leaving;
    if (!unless_out_of_memory([this] { return send_leaves(), true; })) short_of_memory_ = true;
}

void Messages::send_leaves() {
    for (int rank : first_members_)
        if (auto& to = peers_[static_cast<std::size_t>(rank)]; to && to->node == NodeLock::leaving)
            command_node(*to, Act::leave_node, NodeLock::none);
}

void Messages::post(int rank) {
    Peer& to = peer(rank);
    write(to, {.act = Act::posted});
    dispatch(to);
}

/// Notifies all targets that the epoch is closed or, if memory is missing, none of them.
void Messages::complete(std::vector<int> const& ranks, char const* call) {
    for (int rank : ranks)
        if (Peer& to = peer(rank); !to.here) make_room(to, 0);
        else if (to.unconfirmed) confirm(to, Act::flush);
    for (int rank : ranks) {
        Peer& to = peer(rank);
        if (!to.here) write(to, {.act = Act::completed});
        to.unconfirmed = false;
        dispatch(to);
    }
    for (int rank : ranks) await_quiet(peer(rank), call);
}

}   // namespace tutti::rma
