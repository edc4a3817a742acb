// SPDX-License-Identifier: BSD-3-Clause
// Epochs between groups: post, start, complete and wait (MPI 3.1, 11.5.2).
//
// Each member has, in its control, two words from each other member of the node, which only that one writes: how many
// exposure epochs it has opened for this member, and how many access epochs it has closed towards it. The n-th start
// towards a target belongs to its n-th post for this origin, and the n-th wait to the n-th complete, so comparing with
// a count of one's own is all there is: no word is ever reset, and an epoch may be closed, and the next one opened,
// before the other side has looked. A word is stored with release after what the epoch has done (or, of a post, what
// the program has stored before it) and loaded with acquire, so who sees it sees that as well.
#include <algorithm>

#include "rma/messages/messages.hpp"
#include "rma/operations/access.hpp"
#include "rma/synchronization/matching.hpp"
#include "rma/synchronization/synchronization.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {
namespace {

std::vector<int> ranks_in(Window const& window, Group const& group) {
    std::vector<int> ranks;
    for (int world : group.world_ranks()) ranks.push_back(window.comm->group->rank_of(world));
    return ranks;
}

int rank_of(Window const& window, Target const& t) { return static_cast<int>(&t - window.targets.data()); }

/// Of this process towards the member, in the member's control.
Control::Pair& told(Window& window, Target& t) { return t.control->from(window.target(window.rank()).member); }
/// Of the member towards this process.
Control::Pair& heard(Window& window, Target& t) { return window.target(window.rank()).control->from(t.member); }

void tell(Window& window, Target& t, Word& word) {
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    window.process.waiter.wake_sleepers(word);
}

/// All origins have closed as many epochs as this process has opened for them.
bool completed(Window& window, Target& t) {
    if (!t.control) return messages(window).has_completed(rank_of(window, t));
    return heard(window, t).completed.load(std::memory_order_acquire) > window.completes_used[t.member];
}

void end_exposure(Window& window) {
    for (int r : window.posted_ranks)
        if (Target& t = window.target(r); t.control) ++window.completes_used[t.member];
        else messages(window).end_exposure(r);
    window.posted = {};
    window.posted_ranks.clear();
}

}   // namespace

void post(Window& window, Ref<Group> group, Assertions, char const*) {
    if (window.posted) fail(ErrorClass::rma_sync, "an exposure epoch of MPI_Win_post is open already");
    window.posted_ranks = ranks_in(window, *group);
    // All memory is taken before the first message to a member.
    for (int r : window.posted_ranks)
        if (!window.target(r).control) messages(window).prepare_post(r);
    note_post(window);
    window.posted = std::move(group);
    for (int r : window.posted_ranks)
        if (Target& t = window.target(r); t.control) tell(window, t, told(window, t).posted);
        else messages(window).post(r);
}

void start(Window& window, Ref<Group> group, Assertions assertions, char const*) {
    if (std::string const open = open_epochs(window); !open.empty() && !window.posted)
        fail(ErrorClass::rma_sync, "an access epoch is opened while ", open, " is open");
    if (window.started) fail(ErrorClass::rma_sync, "an access epoch of MPI_Win_start is open already");
    if (window.everybody == Access::fence) window.everybody = Access::none;
    window.open_towards_nobody();   // without a look at who has posted
    window.started_ranks = ranks_in(window, *group);
    for (int r : window.started_ranks)
        if (!window.target(r).control) messages(window).prepare_start(r);
    note_start(window);
    window.started = std::move(group);
    for (int r : window.started_ranks) {
        Target& t = window.target(r);
        t.access = Access::group;
        if (t.control) ++window.posts_used[t.member];
        else messages(window).start(r);
        t.post_seen = assertions.no_check;
    }
}

void await_post(Window& window, Target& t, char const* call) {
    if (!t.control) {
        messages(window).await_post(rank_of(window, t), call);
        t.post_seen = true;
        return;
    }
    Word& posted = heard(window, t).posted;
    std::uint64_t const wanted = window.posts_used[t.member];
    window.process.waiter.until([&] { return posted.load(std::memory_order_acquire) >= wanted; },
                                window.reason(call, rank_of(window, t)), &posted);
    t.post_seen = true;
}

void complete(Window& window, char const* call) {
    if (!window.started) fail(ErrorClass::rma_sync, "no access epoch is open (MPI_Win_start)");
    if (window.accesses) window.accesses->end(-1);
    if (window.messages) messages(window).complete(window.started_ranks, call);
    window.complete_here(-1);
    for (int r : window.started_ranks) {
        Target& t = window.target(r);
        t.access = Access::none;
        t.post_seen = true;
        if (t.control) tell(window, t, told(window, t).completed);
    }
    window.started = {};
    window.started_ranks.clear();
}

void wait(Window& window, char const* call) {
    if (!window.posted) fail(ErrorClass::rma_sync, "no exposure epoch is open (MPI_Win_post)");
    for (int r : window.posted_ranks) {
        Target& t = window.target(r);
        if (t.control)
            window.process.waiter.until([&] { return completed(window, t); }, window.reason(call, r),
                                        &heard(window, t).completed);
        else messages(window).await_complete(r, call);
    }
    end_exposure(window);
}

bool test(Window& window, char const* name) {
    if (!window.posted) fail(ErrorClass::rma_sync, "no exposure epoch is open (MPI_Win_post)");
    auto const all = [&] {
        return std::ranges::all_of(window.posted_ranks, [&](int r) { return completed(window, window.target(r)); });
    };
    auto const call = [&] { return window.reason(name).blockage().call; };
    if (!window.process.waiter.test(all, CallText(call))) return false;
    end_exposure(window);
    return true;
}

}   // namespace tutti::rma
