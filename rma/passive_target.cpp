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

Word& exclusive_count(Window& window) { return window.members.controls.front()->exclusive.word; }
Control& own_control(Window& window) { return *window.target(window.rank()).control; }

/// Throws if an access epoch of this process is open towards the same targets. An exposure epoch of its own part is
/// allowed, and so is the hint no_locks: locks work anyway, and some programs break that promise.
void may_lock(Window const& window, int rank) {
    bool const by_nobody =
        window.everybody == Access::none || (window.everybody == Access::fence && !window.fence_used);
    if (by_nobody && window.locks == 0 && !window.started && !window.posted) return;
    bool const others_locked =
        window.locks > 0 && rank >= 0 && window.targets[static_cast<std::size_t>(rank)].access != Access::lock;
    bool const only_exposed = window.posted && !window.started && window.locks == 0 && window.everybody == Access::none;
    std::string const open = others_locked || only_exposed ? "" : open_epochs(window);
    if (!open.empty()) fail(ErrorClass::rma_sync, "a lock while ", open, " is open");
}

/// The lock that this rank waits for.
struct Wanted {
    Window const& window;
    Target const& target;
    int rank;

    /// Describes the lock and its holders at the time of the call.
    static void tell(void const* about, Blockage& blockage) {
        auto const& [window, target, rank] = *static_cast<Wanted const*>(about);
        std::string& text = blockage.call;
        text += join("(rank ", rank, ", ", window.words(), ")");
        int const holder = exclusive_holder(target.control->lock.word);
        if (holder >= 0) {
            text += join(", whose lock rank ", holder, " holds");
            return blockage.await(holder);
        }
        std::string list;
        for (std::size_t i = 0; i < window.members.controls.size(); ++i)
            if (all_locked(window.members.controls[i]->all.word))
                list += join(list.empty() ? "" : ", ", window.comm->world_rank(window.on_node[i]));
        std::uint64_t const shared = target.control->lock.word.load(std::memory_order_relaxed);
        if (shared != 0)
            text += join(", where ", shared, shared == 1 ? " shared lock is held" : " shared locks are held");
        bool const remote = all_locked(window.members.controls.front()->remote_all.word);
        if (!list.empty()) text += ", where everybody is locked by rank " + list;
        if (remote) text += list.empty() ? ", where everybody is locked by ranks of other nodes" : " and other nodes";
    }
    Reason reason(char const* call) const { return {call, -1, -1, tell, this}; }
};

void take_exclusive(Window& window, Target& t, int rank, char const* call) {
    Others const others{window.members.controls, exclusive_count(window)};
    bool got = false;   // a wait may check again after another thread, on its behalf, has acquired the lock
    std::int64_t const since = now_ns();
    auto const ready = [&] {
        if (got) return true;
        bool disturbed = false, patient = now_ns() - since < patience_ns;
        got = try_exclusive(t.control->lock.word, window.process.rank(), patient, others, disturbed);
        if (disturbed) window.process.waiter.wake_sleepers(others.exclusive);
        return got;
    };
    Wanted const wanted{window, t, rank};
    if (!ready()) window.process.waiter.until(ready, wanted.reason(call));
}

void take_shared(Window& window, Target& t, int rank, char const* call) {
    Word& lock = t.control->lock.word;
    bool got = false;
    auto const ready = [&] { return got = got || try_shared(lock); };
    Wanted const wanted{window, t, rank};
    if (!ready()) window.process.waiter.until(ready, wanted.reason(call), &lock);
}

/// The lock of all parts, on all nodes. A rank that is refused on one node holds none of them while it waits for that
/// node, because the holders that it waits for may wait for the locks that it would hold. All nodes know that it waits,
/// so exclusive lockers step back for it. The requests to other nodes are sent together, and not with the first
/// operation towards each: by then the program may have used this rank's own part, whose lock it could not release
/// while another node refuses it.
class LockOfAll {
public:
    explicit LockOfAll(Window& window)
        : window_(window), mine_(own_control(window).all.word),
          nodes_(window.several_nodes ? &messages(window) : nullptr) {}

    void take(char const* call) {
        begin_all(mine_);
        try {
            for (;;) {
                bool const here = try_here(), everywhere = !nodes_ || nodes_->try_nodes(call);
                if (here && everywhere) return;
                step_back();
                if (here) nodes_->await_node(call);
                else window_.process.waiter.until([&] { return try_here(); }, window_.reason(call), &exclusive());
            }
        } catch (...) {
            leave();
            throw;
        }
    }
    void give_back() {
        held_here_ = true;
        leave();
    }

private:
    Word& exclusive() const { return exclusive_count(window_); }
    bool try_here() {
        if (held_here_) return true;
        bool disturbed = false;
        held_here_ = try_all(mine_, exclusive(), disturbed);
        if (disturbed) window_.process.waiter.wake_sleepers();
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
        leave_all(mine_, held_here_);
        window_.process.waiter.wake_sleepers();
        if (nodes_) nodes_->leave_nodes();
    }

    Window& window_;
    Word& mine_;
    Messages* const nodes_;   ///< null: the window is on one node
    bool held_here_ = false;
};

void give_back(Window& window, Target& t) {
    Word& lock = t.control->lock.word;
    if (t.exclusive) {
        leave_exclusive(lock, exclusive_count(window));
        window.process.waiter.wake_sleepers();
    } else {
        leave_shared(lock);
        window.process.waiter.wake_sleepers(lock);
    }
}

/// Orders previous stores before all later accesses, of this process and of ranks that synchronize with it.
void order() { std::atomic_thread_fence(std::memory_order_seq_cst); }

void must_be_passive(Window const& window, int rank) {
    bool const locked =
        window.everybody == Access::lock_all ||
        (rank >= 0 ? window.targets[static_cast<std::size_t>(rank)].access == Access::lock : window.locks > 0);
    if (locked) return;
    if (rank >= 0) fail(ErrorClass::rma_sync, "rank ", rank, " is not locked (MPI_Win_lock, MPI_Win_lock_all)");
    fail(ErrorClass::rma_sync, "nobody is locked (MPI_Win_lock, MPI_Win_lock_all)");
}

}   // namespace

void lock(Window& window, bool exclusive, int rank, Assertions assertions, char const* call) {
    if (rank == proc_null) return;
    may_lock(window, rank);
    hold_locks(window.process, call);
    Target& t = window.target(rank);
    t.exclusive = exclusive;
    t.no_check = assertions.no_check;
    if (!t.no_check && !t.control) messages(window).lock(rank, exclusive);
    if (!t.no_check && t.control)
        exclusive ? take_exclusive(window, t, rank, call) : take_shared(window, t, rank, call);
    if (exclusive && window.accesses) [[unlikely]]
        p2p::engine(window.process).checks()->call_order.may_learn();
    t.access = Access::lock;
    window.everybody = Access::none;
    ++window.locks;
    if (window.locks == 1) window.open_towards(rank, 1, true);
    else window.open_towards_nobody();
}

void unlock(Window& window, int rank, char const* call) {
    if (rank == proc_null) return;
    Target& t = window.target(rank);
    if (t.access != Access::lock)
        fail(ErrorClass::rma_sync, "rank ", rank, " is not locked by MPI_Win_lock",
             window.everybody == Access::lock_all ? ", but by MPI_Win_lock_all (MPI_Win_unlock_all)" : "");
    window.open_towards_nobody();
    if (window.accesses) window.accesses->end(rank);
    if (window.messages) messages(window).unlock(rank, call);
    window.complete_here(rank);
    if (t.no_check) order();
    else if (t.control) give_back(window, t);
    t.access = Access::none;
    --window.locks;
}

void lock_all(Window& window, Assertions assertions, char const* call) {
    may_lock(window, -1);
    hold_locks(window.process, call);
    window.all_no_check = assertions.no_check;
    if (!assertions.no_check) LockOfAll(window).take(call);
    window.everybody = Access::lock_all;
    window.open_towards_all(true);
}

void unlock_all(Window& window, char const* call) {
    if (window.everybody != Access::lock_all) fail(ErrorClass::rma_sync, "MPI_Win_lock_all was not called");
    window.open_towards_nobody();
    if (window.accesses) window.accesses->end(-1);
    if (window.messages) messages(window).flush_all(call);
    window.complete_here(-1);
    if (window.all_no_check) order();
    else LockOfAll(window).give_back();
    window.everybody = Access::none;
}

void flush(Window& window, int rank, char const* call) {
    if (rank == proc_null) return;
    must_be_passive(window, rank);
    if (window.accesses) window.accesses->end(rank);
    if (window.messages) messages(window).flush(rank, call);
    window.complete_here(rank);
    window.order();
}

void flush_all(Window& window, char const* call) {
    must_be_passive(window, -1);
    if (window.accesses) window.accesses->end(-1);
    if (window.messages) messages(window).flush_all(call);
    window.complete_here(-1);
    window.order();
}

void flush_local(Window& window, int rank, char const* call) {
    if (rank == proc_null) return;
    must_be_passive(window, rank);
    if (window.accesses) window.accesses->end_gets(rank);
    if (window.messages) messages(window).flush_local(rank, call);
    window.complete_here(rank);
}

void flush_local_all(Window& window, char const* call) {
    must_be_passive(window, -1);
    if (window.accesses) window.accesses->end_gets(-1);
    if (window.messages) messages(window).flush_local_all(call);
    window.complete_here(-1);
}

}   // namespace tutti::rma
