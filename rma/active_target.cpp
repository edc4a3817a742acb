// SPDX-License-Identifier: BSD-3-Clause
// Active target synchronization: fence (MPI 3.1, 11.5.1); post, start, complete and wait (MPI 3.1, 11.5.2).
#include <algorithm>

#include "coll/call/collectives.hpp"
#include "rma/am_messages.hpp"
#include "rma/epochs.hpp"
#include "rma/operations.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

void fence(Window& window, Assertions assertions, char const* call) {
    if (window.global_epoch != AccessEpoch::fence)
        if (std::string const open = open_epochs(window); !open.empty())
            fail(ErrorClass::rma_sync, open, " is open; close it before the fence");
    if (window.active_messages) active_messages(window).flush_all(call);
    window.complete_at_origin(-1);
    if (assertions.no_precede && assertions.no_succeed) {
        coll::record_call(*window.comm, "MPI_Win_fence", coll::WaitsFor::no_rank);   // no epoch ends and none begins
    } else {
        if (window.access_log) {
            exchange_at_fence(window, assertions, call);
            exchange_shared(window, call);
        }
        coll::execute(window.fence_call);   // on the node, operations are complete when their call returns
    }
    window.global_epoch = assertions.no_succeed ? AccessEpoch::none : AccessEpoch::fence;
    if (assertions.no_succeed) window.close_targets();
    else window.open_all_targets(false);
    window.fence_used = false;
}

// Epochs between groups: post, start, complete and wait.
//
// Each member's control contains two words for each other member of the node, which only that other member writes: the
// number of exposure epochs that it has opened for this member, and the number of access epochs that it has closed
// towards it. The n-th start towards a target matches the target's n-th post for this origin, and the n-th wait matches
// the n-th complete, so comparing a word with a local counter is sufficient: no word is ever reset, and an epoch may be
// closed, and the next one opened, before the other side has read the word. A word is stored with release order after
// the accesses of the epoch (for a post: after the program's previous stores) and loaded with acquire order, so a rank
// that sees the new value sees these accesses as well.

namespace {

std::vector<int> ranks_in(Window const& window, Group const& group) {
    std::vector<int> ranks;
    for (int world : group.world_ranks()) ranks.push_back(window.comm->group->rank_of(world));
    return ranks;
}

int rank_of(Window const& window, Target const& t) { return static_cast<int>(&t - window.targets.data()); }

/// The words of this process in the member's control.
Control::EpochCounters& outgoing_counters(Window& window, Target& t) {
    return t.control->counters_from(window.target(window.rank()).member);
}
/// The words of the member in this process's control.
Control::EpochCounters& incoming_counters(Window& window, Target& t) {
    return window.target(window.rank()).control->counters_from(t.member);
}

void increment_and_wake(Window& window, Target& t, Word& word) {
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    window.process.waiter.wake_sleepers(word);
}

/// Returns true if the member has completed its access epoch for the present exposure epoch.
bool has_completed(Window& window, Target& t) {
    if (!t.control) return active_messages(window).has_completed(rank_of(window, t));
    return incoming_counters(window, t).completed.load(std::memory_order_acquire) > window.completes_used[t.member];
}

void end_exposure(Window& window) {
    for (int r : window.posted_ranks)
        if (Target& t = window.target(r); t.control) ++window.completes_used[t.member];
        else active_messages(window).end_exposure(r);
    window.posted = {};
    window.posted_ranks.clear();
}

}   // namespace

void post(Window& window, Ref<Group> group, Assertions, char const*) {
    if (window.posted) fail(ErrorClass::rma_sync, "an exposure epoch of MPI_Win_post is already open");
    window.posted_ranks = ranks_in(window, *group);
    // All memory is allocated before the first message to a member.
    for (int r : window.posted_ranks)
        if (!window.target(r).control) active_messages(window).prepare_post(r);
    record_post(window);
    window.posted = std::move(group);
    for (int r : window.posted_ranks)
        if (Target& t = window.target(r); t.control) increment_and_wake(window, t, outgoing_counters(window, t).posted);
        else active_messages(window).post(r);
}

void start(Window& window, Ref<Group> group, Assertions assertions, char const*) {
    if (std::string const open = open_epochs(window); !open.empty() && !window.posted)
        fail(ErrorClass::rma_sync, open, " is open; close it before opening an access epoch");
    if (window.started) fail(ErrorClass::rma_sync, "an access epoch of MPI_Win_start is already open");
    if (window.global_epoch == AccessEpoch::fence) window.global_epoch = AccessEpoch::none;
    window.close_targets();   // posts are not checked yet
    window.started_ranks = ranks_in(window, *group);
    for (int r : window.started_ranks)
        if (!window.target(r).control) active_messages(window).prepare_start(r);
    record_start(window);
    window.started = std::move(group);
    for (int r : window.started_ranks) {
        Target& t = window.target(r);
        t.epoch = AccessEpoch::group;
        if (t.control) ++window.posts_used[t.member];
        else active_messages(window).start(r);
        t.post_seen = assertions.no_check;
    }
}

void await_post(Window& window, Target& t, char const* call) {
    if (!t.control) {
        active_messages(window).await_post(rank_of(window, t), call);
        t.post_seen = true;
        return;
    }
    Word& posted = incoming_counters(window, t).posted;
    std::uint64_t const expected = window.posts_used[t.member];
    window.process.waiter.wait_until([&] { return posted.load(std::memory_order_acquire) >= expected; },
                                     window.reason(call, rank_of(window, t)), &posted);
    t.post_seen = true;
}

void complete(Window& window, char const* call) {
    if (!window.started) fail(ErrorClass::rma_sync, "no access epoch is open; call MPI_Win_start first");
    if (window.access_log) window.access_log->complete(-1);
    if (window.active_messages) active_messages(window).complete(window.started_ranks, call);
    window.complete_at_origin(-1);
    for (int r : window.started_ranks) {
        Target& t = window.target(r);
        t.epoch = AccessEpoch::none;
        t.post_seen = true;
        if (t.control) increment_and_wake(window, t, outgoing_counters(window, t).completed);
    }
    window.started = {};
    window.started_ranks.clear();
}

void wait(Window& window, char const* call) {
    if (!window.posted) fail(ErrorClass::rma_sync, "no exposure epoch is open; call MPI_Win_post first");
    for (int r : window.posted_ranks) {
        Target& t = window.target(r);
        if (t.control)
            window.process.waiter.wait_until([&] { return has_completed(window, t); }, window.reason(call, r),
                                             &incoming_counters(window, t).completed);
        else active_messages(window).await_complete(r, call);
    }
    end_exposure(window);
}

bool test(Window& window, char const* name) {
    if (!window.posted) fail(ErrorClass::rma_sync, "no exposure epoch is open; call MPI_Win_post first");
    auto const all = [&] {
        return std::ranges::all_of(window.posted_ranks, [&](int r) { return has_completed(window, window.target(r)); });
    };
    auto const call = [&] { return window.reason(name).blocked_call().call; };
    if (!window.process.waiter.test(all, CallText(call))) return false;
    end_exposure(window);
    return true;
}

}   // namespace tutti::rma
