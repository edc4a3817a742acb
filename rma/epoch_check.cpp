// SPDX-License-Identifier: BSD-3-Clause
// Comparison of epochs between the members, by messages (--check) or by the counters of the node.
#include "rma/epochs.hpp"

#include <algorithm>

#include "coll/call/collectives.hpp"
#include "coll/call/internal.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"

namespace tutti::rma {
namespace {

constexpr int epochs_tag = 1401;   // tag of messages in the window's communicator

/// State that a member sends to another one. Trivially copyable.
struct MemberState {
    std::uint64_t site = 0;             ///< call site of this call
    std::uint64_t posts = 0;            ///< for the receiver
    std::uint64_t access_count = 0;     ///< number of accesses to the receiver's part, which follow
    bool frees = false;                 ///< in MPI_Win_free; otherwise in a fence
    bool first = false, last = false;   ///< MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED
    bool records_complete = true;       ///< the records are complete since the last fence
};

std::uint64_t site_here(Window const& window) { return reinterpret_cast<std::uintptr_t>(window.process.call_site); }

UsageError::Call fence_part(Window const& window, int rank, MemberState const& state) {
    return {window.comm->world_rank(rank), join("MPI_Win_fence(", window.description(), ")"), {}, state.site};
}

/// Warns of starts without a post, which did not wait because the target was not accessed.
void report_unmatched_starts(Window& window, int rank, std::uint64_t posts) {
    PairEpochs const& mine = window.pairs[static_cast<std::size_t>(rank)];
    int const other = window.comm->world_rank(rank);
    UsageError::Call const parts[] = {
        {window.process.rank(), join("MPI_Win_start(", window.description(), ")"),
         join("to rank ", other, ", ", mine.starts, mine.starts == 1 ? " time" : " times"), mine.site}};
    warn(window.process,
         {"T15",
          join("rank ", window.process.rank(), " has started ", mine.starts, mine.starts == 1 ? " epoch" : " epochs",
               " towards rank ", other, " of ", window.description(), ", which has posted ", posts, " for it"),
          "each MPI_Win_start needs a matching MPI_Win_post at each rank of its group; without one it would have "
          "blocked "
          "if it had accessed that rank",
          parts});
}

void report_assertions(Window& window, MemberState const& mine, int rank, MemberState const& other) {
    UsageError::Call const parts[] = {fence_part(window, window.rank(), mine), fence_part(window, rank, other)};
    warn(window.process,
         {"T15",
          join(mine.first != other.first ? "MPI_MODE_NOPRECEDE" : "MPI_MODE_NOSUCCEED",
               " is asserted by only some ranks of a fence"),
          "all ranks of the window must pass the same assertions on the epochs before and after a fence", parts});
}

/// Compares this process's starts towards the member with that member's posts for it.
void compare_posts(Window& window, int rank, std::uint64_t posts) {
    if (!window.pairs.empty() && window.pairs[static_cast<std::size_t>(rank)].starts > posts)
        report_unmatched_starts(window, rank, posts);
}

void compare_states(Window& window, MemberState const& mine, int rank, MemberState const& other) {
    if (mine.frees != other.frees) return;   // the records of both calls report the error
    if (mine.frees) return compare_posts(window, rank, other.posts);
    bool const alike = mine.first == other.first && mine.last == other.last;
    if (!alike && window.rank() < rank) report_assertions(window, mine, rank, other);
}

/// As compare_posts(), for members of other nodes, if any rank has started an epoch towards one.
void compare_posts_across_nodes(Window& window) {
    auto const n = static_cast<std::size_t>(window.size());
    std::vector<PairEpochs>& pairs = window.pairs;
    char const starts = std::ranges::any_of(pairs, [&](PairEpochs const& pair) {
        return pair.starts > 0 && !window.targets[static_cast<std::size_t>(&pair - pairs.data())].control;
    });
    std::vector<char> some(n);
    coll::allgather_bytes(*window.comm, &starts, 1, some.data());
    if (std::ranges::count(some, 0) == window.size()) return;
    std::vector<std::uint64_t> mine(n), all(n * n);
    for (std::size_t r = 0; r < pairs.size(); ++r) mine[r] = pairs[r].posts;
    coll::allgather_bytes(*window.comm, mine.data(), n * sizeof(std::uint64_t), all.data());
    for (std::size_t r = 0; r < n; ++r)
        if (!window.targets[r].control)
            compare_posts(window, static_cast<int>(r), all[r * n + static_cast<std::size_t>(window.rank())]);
}

/// Each member sends its state, and its accesses to the receiver's part, to each other member.
void exchange(Window& window, MemberState mine, char const* call) {
    AccessLog& log = *window.access_log;
    std::span<AccessRecord const> const own = log.records_for(window.rank());
    std::vector<AccessRecord> here(own.begin(), own.end());
    bool all_complete = log.is_complete(window.rank());
    for (int step = 1; step < window.size(); ++step) {
        int const to = (window.rank() + step) % window.size(),
                  from = (window.rank() - step + window.size()) % window.size();
        std::span<AccessRecord const> const out = log.records_for(to);
        mine.access_count = out.size();
        mine.posts = window.pairs.empty() ? 0 : window.pairs[static_cast<std::size_t>(to)].posts;
        mine.records_complete = log.is_complete(to);
        MemberState other;
        p2p::sendrecv_bytes(*window.comm, &mine, sizeof mine, to, &other, sizeof other, from, epochs_tag, call);
        compare_states(window, mine, from, other);
        all_complete = all_complete && other.records_complete;
        here.resize(here.size() + other.access_count);
        p2p::sendrecv_bytes(*window.comm, out.data(), out.size_bytes(), to,
                            here.data() + here.size() - other.access_count, other.access_count * sizeof(AccessRecord),
                            from, epochs_tag, call);
    }
    log.report_conflicts(here);
    log.clear();
    if (mine.frees) return;
    // All members are in this fence and their operations are complete; no access of the next epoch begins before
    // all members have completed this exchange.
    LocalStores& stores = *window.local_stores;
    if (all_complete) log.report_stores(stores.changed_accesses(here), stores.site(), mine.site);
    bool const is_checked = window.flavor == Flavor::create || window.flavor == Flavor::allocate;
    if (is_checked && !mine.last) stores.begin_epoch(window.base, window.bytes, mine.site);
    else stores.skip_epoch();
}

}   // namespace

void record_post(Window& window) {
    window.pairs.resize(window.targets.size());
    for (int r : window.posted_ranks) ++window.pairs[static_cast<std::size_t>(r)].posts;
}

void record_start(Window& window) {
    window.pairs.resize(window.targets.size());
    for (int r : window.started_ranks) {
        PairEpochs& pair = window.pairs[static_cast<std::size_t>(r)];
        ++pair.starts;
        pair.site = site_here(window);
    }
}

void compare_at_free(Window& window) {
    coll::compare_last_calls(*window.comm);
    if (window.access_log || window.process.variables.diagnosis == "no") return;   // --check has compared by messages
    for (int r : window.on_node) {
        Control::EpochCounters const& counters = window.members.own_control->counters_from(window.target(r).member);
        compare_posts(window, r, counters.posted.load(std::memory_order_relaxed));
    }
    if (window.multi_node) compare_posts_across_nodes(window);
}

void exchange_at_fence(Window& window, Assertions assertions, char const* call) {
    exchange(window, {.site = site_here(window), .first = assertions.no_precede, .last = assertions.no_succeed}, call);
}

void exchange_at_free(Window& window, char const* call) {
    window.complete_at_origin(-1);
    if (window.global_epoch == AccessEpoch::fence && window.fence_used) {
        UsageError::Call const parts[] = {
            {window.process.rank(), join("MPI_Win_free(", window.description(), ")"), {}, site_here(window)}};
        warn(window.process,
             {"T15", "a window is freed while an epoch of MPI_Win_fence is open",
              "operations since the last fence are complete only after another MPI_Win_fence of all ranks, which is "
              "missing before MPI_Win_free",
              parts});
    }
    exchange(window, {.site = site_here(window), .frees = true}, call);
}

}   // namespace tutti::rma
