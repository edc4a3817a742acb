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
constexpr std::int64_t max_hold_ns = 20'000;

}   // namespace

void create_active_messages(Window& window) { window.active_messages = std::make_unique<ActiveMessages>(window); }

void start_serving(Window& window) {
    Process& process = window.process;
    if (!window.active_messages || !window.serves_commands() || process.progress_thread) return;
    if (process.start_progress_thread() && process.on_lock_enabled) process.on_lock_enabled(process);
}

ActiveMessages::ActiveMessages(Window& window)
    : window_(window), service_(service_of(window.process)), peers_(static_cast<std::size_t>(window.size())) {
    Cluster const& cluster = window.process.cluster;
    std::vector<bool> seen(static_cast<std::size_t>(cluster.nodes()));
    seen[static_cast<std::size_t>(cluster.this_node())] = true;
    for (int rank = 0; rank < window.size(); ++rank) {
        auto const node = static_cast<std::size_t>(cluster.node_of(window.comm->world_rank(rank)));
        if (!seen[node]) first_members_.push_back(rank);
        seen[node] = true;
    }
    service_.add(*this, window.comm->context);
    if (window.serves_commands()) window.process.waiter.begin_service(window.needs_messages);
}

ActiveMessages::~ActiveMessages() {
    for_each_peer([&](Peer& to) { dispatch(to); });
    auto const quiet = [&] {
        return replies_ == 0 && std::ranges::all_of(existing_peers_, [](Peer const* to) { return to->in_flight == 0; });
    };
    while (!quiet()) {   // operations in flight refer to this object
        try {
            window_.process.waiter.wait_until(quiet, window_.reason("MPI_Win_free"));
        } catch (Error const&) {             // of another operation that was progressed
        } catch (std::bad_alloc const&) {}   // likewise
    }
    if (window_.serves_commands()) window_.process.waiter.end_service(window_.needs_messages);
    service_.remove(*this, window_.comm->context);
}

bool ActiveMessages::poll() {
    if (is_quiescent()) [[likely]]
        return false;
    std::int64_t const now = now_ns();
    bool moved = false;
    if (short_of_memory_) [[unlikely]]
        moved = retry();
    for_each_peer([&](Peer& to) {
        if (to.open_message && now - to.open_message->since > max_hold_ns) dispatch(to), moved = true;
    });
    if (waiting_locks_ != 0) moved |= retry_locks();
    return moved;
}

/// Waits for a notification that the member sends by itself (posted, completed).
template <class Condition>
void ActiveMessages::await_notification(Peer& of, char const* call, Condition condition) {
    p2p::Engine const& engine = p2p::engine(window_.process);
    int const peer = service_.peer(of.world_rank);
    window_.process.waiter.wait_until([&] { return condition() || engine.loss_reason(peer); },
                                      window_.reason(call, of.rank));
    if (!condition()) throw Error(ErrorClass::other, *engine.loss_reason(peer));
}

void ActiveMessages::await_post(int rank, char const* call) {
    Peer& of = peer(rank);
    await_notification(of, call, [&] { return of.posts >= of.posts_used; });
}

void ActiveMessages::await_complete(int rank, char const* call) {
    Peer& of = peer(rank);
    await_notification(of, call, [&] { return of.completes > of.completes_used; });
}

/// Sends a command that is answered when all previous ones are complete; `by`: flush or unlock.
void ActiveMessages::confirm(Peer& to, Opcode by) {
    Command command{.opcode = by, .exclusive = to.exclusive};
    p2p::Data const nothing;
    add(to, command, {.into = &nothing});
    to.unconfirmed = false;
}

void ActiveMessages::await_in_flight(Peer& to, char const* call) {
    dispatch(to);
    if (to.in_flight != 0)
        window_.process.waiter.wait_until([&] { return to.in_flight == 0; }, window_.reason(call, to.rank));
    check(to);
}

void ActiveMessages::flush(int rank, char const* call) {
    if (!peers_[static_cast<std::size_t>(rank)]) return;
    Peer& to = peer(rank);
    if (to.unconfirmed) confirm(to, Opcode::flush);
    await_in_flight(to, call);
}

void ActiveMessages::flush_all(char const* call) {
    for_each_peer([&](Peer& to) {
        if (to.unconfirmed) confirm(to, Opcode::flush);
        dispatch(to);
    });
    for_each_peer([&](Peer& to) { await_in_flight(to, call); });
}

void ActiveMessages::flush_local(int rank, char const* call) {
    if (peers_[static_cast<std::size_t>(rank)]) await_in_flight(peer(rank), call);
}

void ActiveMessages::flush_local_all(char const* call) {
    for_each_peer([&](Peer& to) { dispatch(to); });
    for_each_peer([&](Peer& to) { await_in_flight(to, call); });
}

/// Also counts the locks that are not known to be held.
void ActiveMessages::set_lock(Peer& to, Lock lock) {
    auto const open = [](Lock l) { return l == Lock::deferred || l == Lock::requested; };
    pending_locks_ = pending_locks_ + open(lock) - open(to.lock);
    to.lock = lock;
}

void ActiveMessages::lock(int rank, bool exclusive) {
    Peer& to = peer(rank);
    set_lock(to, Lock::deferred);
    to.exclusive = exclusive;
}

void ActiveMessages::acquire_deferred_locks(char const* call) {
    if (pending_locks_ == 0) return;
    for_each_peer([&](Peer& to) {
        if (to.lock == Lock::deferred) request_lock(to);
        if (to.lock != Lock::requested) return;
        confirm(to, Opcode::flush);
        dispatch(to);
    });
    for_each_peer([&](Peer& to) {
        if (to.lock == Lock::requested) await_in_flight(to, call);
    });
}

/// Throws std::bad_alloc; the lock is then deferred as before.
void ActiveMessages::request_lock(Peer& to) {
    set_lock(to, Lock::requested);   // first, because reserve_command requests deferred locks
    try {
        reserve_command(to, 0);
    } catch (std::bad_alloc const&) {
        set_lock(to, Lock::deferred);
        throw;
    }
    write(to, {.opcode = Opcode::lock, .exclusive = to.exclusive});
}

void ActiveMessages::unlock(int rank, char const* call) {
    if (!peers_[static_cast<std::size_t>(rank)]) return;
    Peer& to = peer(rank);
    if (to.lock == Lock::none) return flush(rank, call);
    confirm(to, Opcode::unlock);
    set_lock(to, Lock::none);
    await_in_flight(to, call);
}

/// Requests the lock of a node. It must later be followed by release_node, whatever the answer is.
void ActiveMessages::request_node(Peer& to, bool waits) {
    Command command{.opcode = Opcode::lock_node, .waits = waits, .bytes = sizeof to.node_granted};
    p2p::Data const answer = p2p::Data::of_bytes(&to.node_granted, sizeof to.node_granted);
    add(to, command, {.into = &answer});
    to.node = NodeLock::waiting;
    dispatch(to);
}

bool ActiveMessages::try_nodes(char const* call) {
    send_node_releases();
    for (int rank : first_members_)
        if (Peer& to = peer(rank); to.node != NodeLock::held) request_node(to, false);
    bool all = true;
    for (int rank : first_members_) {
        Peer& to = peer(rank);
        if (to.node == NodeLock::held) continue;
        await_in_flight(to, call);
        if (to.node_granted) to.node = NodeLock::held;
        else all = false;
    }
    return all;
}

void ActiveMessages::await_node(char const* call) {
    auto const refused = std::ranges::find_if(first_members_, [&](int rank) { return !peer(rank).node_granted; });
    Peer& to = peer(*refused);
    request_node(to, true);
    await_in_flight(to, call);
    to.node = NodeLock::held;
}

void ActiveMessages::send_node_command(Peer& to, Opcode opcode, NodeLock then) {
    reserve_command(to, 0);
    write(to, {.opcode = opcode});
    dispatch(to);
    to.node = then;
}

void ActiveMessages::step_back() {
    for (int rank : first_members_)
        if (Peer& to = peer(rank); to.node == NodeLock::held)
            send_node_command(to, Opcode::step_back, NodeLock::waiting);
}

void ActiveMessages::release_nodes() {
    for (int rank : first_members_)
        if (auto& to = peers_[static_cast<std::size_t>(rank)]; to && to->node != NodeLock::none)
            to->node = NodeLock::releasing;
    if (!unless_out_of_memory([this] { return send_node_releases(), true; })) short_of_memory_ = true;
}

void ActiveMessages::send_node_releases() {
    for (int rank : first_members_)
        if (auto& to = peers_[static_cast<std::size_t>(rank)]; to && to->node == NodeLock::releasing)
            send_node_command(*to, Opcode::release_node, NodeLock::none);
}

void ActiveMessages::post(int rank) {
    Peer& to = peer(rank);
    write(to, {.opcode = Opcode::posted});
    dispatch(to);
}

/// Notifies all targets that the epoch is closed or, if memory is missing, none of them.
void ActiveMessages::complete(std::vector<int> const& ranks, char const* call) {
    for (int rank : ranks)
        if (Peer& to = peer(rank); !to.on_this_node) reserve_command(to, 0);
        else if (to.unconfirmed) confirm(to, Opcode::flush);
    for (int rank : ranks) {
        Peer& to = peer(rank);
        if (!to.on_this_node) write(to, {.opcode = Opcode::completed});
        to.unconfirmed = false;
        dispatch(to);
    }
    for (int rank : ranks) await_in_flight(peer(rank), call);
}

}   // namespace tutti::rma
