// SPDX-License-Identifier: BSD-3-Clause
// Passive target synchronization: locks and flushes (MPI 3.1, 11.5.3, 11.5.4). node_control.hpp describes how locks
// exclude each other.
#include "rma/node_control.hpp"

#include "p2p/engine.hpp"
#include "rma/am_messages.hpp"
#include "rma/epochs.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {
namespace {

Word& exclusive_count(Window& window) { return window.members.controls.front()->exclusive_count.word; }
Control& own_control(Window& window) { return *window.target(window.rank()).control; }

/// Throws if an access epoch of this process is open towards the same targets. An exposure epoch of its own part is
/// allowed, and so is the hint no_locks: locks work anyway, and some programs break that promise.
void check_no_conflicting_epoch(Window const& window, int rank) {
    bool const no_epoch =
        window.global_epoch == AccessEpoch::none || (window.global_epoch == AccessEpoch::fence && !window.fence_used);
    if (no_epoch && window.locks == 0 && !window.started && !window.posted) return;
    bool const only_others_locked =
        window.locks > 0 && rank >= 0 && window.targets[static_cast<std::size_t>(rank)].epoch != AccessEpoch::lock;
    bool const only_exposed =
        window.posted && !window.started && window.locks == 0 && window.global_epoch == AccessEpoch::none;
    std::string const open = only_others_locked || only_exposed ? "" : open_epochs(window);
    if (!open.empty()) fail(ErrorClass::rma_sync, open, " is open; close it before locking");
}

/// The lock that this rank waits for.
struct LockWait {
    Window const& window;
    Target const& target;
    int rank;

    /// Describes the lock and its holders at the time of the call.
    static void describe(void const* about, BlockedCall& blocked) {
        auto const& [window, target, rank] = *static_cast<LockWait const*>(about);
        blocked.kind = CallKind::rma;
        std::string& text = blocked.call;
        text += join("(rank ", rank, ", ", window.description(), ")");
        int const holder = exclusive_holder(target.control->lock.word);
        if (holder >= 0) {
            text += join(", whose lock rank ", holder, " holds");
            return blocked.await(holder);
        }
        std::string list;
        for (std::size_t i = 0; i < window.members.controls.size(); ++i)
            if (all_locked(window.members.controls[i]->lock_all.word))
                list += join(list.empty() ? "" : ", ", window.comm->world_rank(window.on_node[i]));
        std::uint64_t const shared = target.control->lock.word.load(std::memory_order_relaxed);
        if (shared != 0)
            text += join(", where ", shared, shared == 1 ? " shared lock is held" : " shared locks are held");
        bool const remote = all_locked(window.members.controls.front()->remote_lock_all.word);
        if (!list.empty()) text += ", where all parts are locked by rank " + list;
        if (remote) text += list.empty() ? ", where all parts are locked by ranks of other nodes" : " and other nodes";
    }
    Reason reason(char const* call) const { return {call, -1, -1, describe, this}; }
};

void acquire_exclusive(Window& window, Target& t, int rank, char const* call) {
    NodeLockState const node_locks{window.members.controls, exclusive_count(window)};
    bool got = false;   // a wait may check again after another thread, on its behalf, has acquired the lock
    std::int64_t const since = now_ns();
    auto const ready = [&] {
        if (got) return true;
        bool must_wake = false, steps_back = now_ns() - since < step_back_ns;
        got = try_exclusive(t.control->lock.word, window.process.rank(), steps_back, node_locks, must_wake);
        if (must_wake) window.process.waiter.wake_sleepers(node_locks.exclusive);
        return got;
    };
    LockWait const wait{window, t, rank};
    if (!ready()) window.process.waiter.wait_until(ready, wait.reason(call));
}

void acquire_shared(Window& window, Target& t, int rank, char const* call) {
    Word& lock = t.control->lock.word;
    bool got = false;
    auto const ready = [&] { return got = got || try_shared(lock); };
    LockWait const wait{window, t, rank};
    if (!ready()) window.process.waiter.wait_until(ready, wait.reason(call), &lock);
}

/// The lock of all parts, on all nodes. A rank that is refused on one node holds none of them while it waits for that
/// node, because the holders that it waits for may wait for the locks that it would hold. All nodes know that it waits,
/// so exclusive lockers step back for it. The requests to other nodes are sent together, and not with the first
/// operation towards each: by then the program may have used this rank's own part, whose lock it could not release
/// while another node refuses it.
class AllPartsLock {
public:
    explicit AllPartsLock(Window& window)
        : window_(window), mine_(own_control(window).lock_all.word),
          nodes_(window.multi_node ? &active_messages(window) : nullptr) {}

    void acquire(char const* call) {
        start_waiting_for_all(mine_);
        try {
            for (;;) {
                bool const here = try_here(), everywhere = !nodes_ || nodes_->try_nodes(call);
                if (here && everywhere) return;
                step_back();
                if (here) nodes_->await_node(call);
                else window_.process.waiter.wait_until([&] { return try_here(); }, window_.reason(call), &exclusive());
            }
        } catch (...) {
            leave();
            throw;
        }
    }
    void release() {
        held_here_ = true;
        leave();
    }

private:
    Word& exclusive() const { return exclusive_count(window_); }
    bool try_here() {
        if (held_here_) return true;
        bool must_wake = false;
        held_here_ = try_all(mine_, exclusive(), must_wake);
        if (must_wake) window_.process.waiter.wake_sleepers();
        return held_here_;
    }
    void step_back() {
        if (held_here_) {
            rma::step_back(mine_);
            held_here_ = false;
            window_.process.waiter.wake_sleepers();
        }
        if (nodes_) nodes_->step_back();
    }
    void leave() {
        release_all(mine_, held_here_);
        window_.process.waiter.wake_sleepers();
        if (nodes_) nodes_->release_nodes();
    }

    Window& window_;
    Word& mine_;
    ActiveMessages* const nodes_;   ///< null: the window is on one node
    bool held_here_ = false;
};

void release(Window& window, Target& t) {
    Word& lock = t.control->lock.word;
    if (t.exclusive) {
        release_exclusive(lock, exclusive_count(window));
        window.process.waiter.wake_sleepers();
    } else {
        release_shared(lock);
        window.process.waiter.wake_sleepers(lock);
    }
}

/// Orders previous stores before all later accesses, of this process and of ranks that synchronize with it.
void order() { std::atomic_thread_fence(std::memory_order_seq_cst); }

void check_locked(Window const& window, int rank) {
    bool const locked =
        window.global_epoch == AccessEpoch::lock_all ||
        (rank >= 0 ? window.targets[static_cast<std::size_t>(rank)].epoch == AccessEpoch::lock : window.locks > 0);
    if (locked) return;
    if (rank >= 0)
        fail(ErrorClass::rma_sync, "rank ", rank, " is not locked; call MPI_Win_lock or MPI_Win_lock_all first");
    fail(ErrorClass::rma_sync, "no target is locked; call MPI_Win_lock or MPI_Win_lock_all first");
}

}   // namespace

void lock(Window& window, bool exclusive, int rank, Assertions assertions, char const* call) {
    if (rank == proc_null) return;
    check_no_conflicting_epoch(window, rank);
    acquire_deferred_locks(window.process, call);
    Target& t = window.target(rank);
    t.exclusive = exclusive;
    t.no_check = assertions.no_check;
    if (!t.no_check && !t.control) active_messages(window).lock(rank, exclusive);
    if (!t.no_check && t.control)
        exclusive ? acquire_exclusive(window, t, rank, call) : acquire_shared(window, t, rank, call);
    if (exclusive && window.access_log) [[unlikely]]
        p2p::engine(window.process).checks()->call_order.on_news();
    t.epoch = AccessEpoch::lock;
    window.global_epoch = AccessEpoch::none;
    ++window.locks;
    if (window.locks == 1) window.set_open_targets(rank, 1, true);
    else window.close_targets();
}

void unlock(Window& window, int rank, char const* call) {
    if (rank == proc_null) return;
    Target& t = window.target(rank);
    if (t.epoch != AccessEpoch::lock)
        fail(ErrorClass::rma_sync, "rank ", rank, " is not locked by MPI_Win_lock",
             window.global_epoch == AccessEpoch::lock_all ? ", but by MPI_Win_lock_all; call MPI_Win_unlock_all" : "");
    window.close_targets();
    if (window.access_log) window.access_log->complete(rank);
    if (window.active_messages) active_messages(window).unlock(rank, call);
    window.complete_at_origin(rank);
    if (t.no_check) order();
    else if (t.control) release(window, t);
    t.epoch = AccessEpoch::none;
    --window.locks;
}

void lock_all(Window& window, Assertions assertions, char const* call) {
    check_no_conflicting_epoch(window, -1);
    acquire_deferred_locks(window.process, call);
    window.all_no_check = assertions.no_check;
    if (!assertions.no_check) AllPartsLock(window).acquire(call);
    window.global_epoch = AccessEpoch::lock_all;
    window.open_all_targets(true);
}

void unlock_all(Window& window, char const* call) {
    if (window.global_epoch != AccessEpoch::lock_all) fail(ErrorClass::rma_sync, "no lock of MPI_Win_lock_all is held");
    window.close_targets();
    if (window.access_log) window.access_log->complete(-1);
    if (window.active_messages) active_messages(window).flush_all(call);
    window.complete_at_origin(-1);
    if (window.all_no_check) order();
    else AllPartsLock(window).release();
    window.global_epoch = AccessEpoch::none;
}

void flush(Window& window, int rank, char const* call) {
    if (rank == proc_null) return;
    check_locked(window, rank);
    if (window.access_log) window.access_log->complete(rank);
    if (window.active_messages) active_messages(window).flush(rank, call);
    window.complete_at_origin(rank);
    window.order();
}

void flush_all(Window& window, char const* call) {
    check_locked(window, -1);
    if (window.access_log) window.access_log->complete(-1);
    if (window.active_messages) active_messages(window).flush_all(call);
    window.complete_at_origin(-1);
    window.order();
}

void flush_local(Window& window, int rank, char const* call) {
    if (rank == proc_null) return;
    check_locked(window, rank);
    if (window.access_log) window.access_log->complete_gets(rank);
    if (window.active_messages) active_messages(window).flush_local(rank, call);
    window.complete_at_origin(rank);
}

void flush_local_all(Window& window, char const* call) {
    check_locked(window, -1);
    if (window.access_log) window.access_log->complete_gets(-1);
    if (window.active_messages) active_messages(window).flush_local_all(call);
    window.complete_at_origin(-1);
}

}   // namespace tutti::rma
