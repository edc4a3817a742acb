// SPDX-License-Identifier: BSD-3-Clause
// Comparison of epochs between the members, by messages (--check) or by the counters of the node.
#include "rma/epoch_check.hpp"

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
struct Told {
    std::uint64_t site = 0;             ///< call site of this call
    std::uint64_t posts = 0;            ///< for the receiver
    std::uint64_t accesses = 0;         ///< number of accesses to the receiver's part, which follow
    bool frees = false;                 ///< in MPI_Win_free; otherwise in a fence
    bool first = false, last = false;   ///< MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED
    bool all_kept = true;               ///< the accesses are complete since the last fence
};

std::uint64_t site_here(Window const& window) { return reinterpret_cast<std::uintptr_t>(window.process.call_site); }

Mistake::Part fence_part(Window const& window, int rank, Told const& told) {
    return {window.comm->world_rank(rank), join("MPI_Win_fence(", window.words(), ")"), {}, told.site};
}

/// Warns of starts without a post, which did not wait because the target was not accessed.
void tell_starts(Window& window, int rank, std::uint64_t posts) {
    PairEpochs const& mine = window.pairs[static_cast<std::size_t>(rank)];
    int const other = window.comm->world_rank(rank);
    Mistake::Part const parts[] = {{window.process.rank(), join("MPI_Win_start(", window.words(), ")"),
                                    join("to rank ", other, ", ", mine.starts, mine.starts == 1 ? " time" : " times"),
                                    mine.site}};
    warn(window.process,
         {"T15",
          join("rank ", window.process.rank(), " has started ", mine.starts, mine.starts == 1 ? " epoch" : " epochs",
               " towards rank ", other, " of ", window.words(), ", which has posted ", posts, " for it"),
          "each MPI_Win_start has an MPI_Win_post at each rank of its group, whose group has the rank that starts; it "
          "went well only because nothing was accessed there",
          parts});
}

void tell_assertions(Window& window, Told const& mine, int rank, Told const& theirs) {
    Mistake::Part const parts[] = {fence_part(window, window.rank(), mine), fence_part(window, rank, theirs)};
    warn(window.process,
         {"T15",
          join(mine.first != theirs.first ? "MPI_MODE_NOPRECEDE" : "MPI_MODE_NOSUCCEED",
               " is given by some ranks of a fence only"),
          "what is said of the epoch before a fence, or behind it, all ranks of the window say, or none", parts});
}

/// Compares this process's starts towards the member with that member's posts for it.
void compare_posts(Window& window, int rank, std::uint64_t posts) {
    if (!window.pairs.empty() && window.pairs[static_cast<std::size_t>(rank)].starts > posts)
        tell_starts(window, rank, posts);
}

void compare_told(Window& window, Told const& mine, int rank, Told const& theirs) {
    if (mine.frees != theirs.frees) return;   // the records of both calls report the error
    if (mine.frees) return compare_posts(window, rank, theirs.posts);
    bool const alike = mine.first == theirs.first && mine.last == theirs.last;
    if (!alike && window.rank() < rank) tell_assertions(window, mine, rank, theirs);
}

/// As compare_posts(), for members of other nodes, if any rank has started an epoch towards one.
void compare_posts_of_nodes(Window& window) {
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
void exchange(Window& window, Told mine, char const* call) {
    Accesses& accesses = *window.accesses;
    std::span<Accessed const> const own = accesses.of(window.rank());
    std::vector<Accessed> here(own.begin(), own.end());
    bool all_kept = accesses.all_kept(window.rank());
    for (int step = 1; step < window.size(); ++step) {
        int const to = (window.rank() + step) % window.size(),
                  from = (window.rank() - step + window.size()) % window.size();
        std::span<Accessed const> const out = accesses.of(to);
        mine.accesses = out.size();
        mine.posts = window.pairs.empty() ? 0 : window.pairs[static_cast<std::size_t>(to)].posts;
        mine.all_kept = accesses.all_kept(to);
        Told theirs;
        p2p::sendrecv_bytes(*window.comm, &mine, sizeof mine, to, &theirs, sizeof theirs, from, epochs_tag, call);
        compare_told(window, mine, from, theirs);
        all_kept = all_kept && theirs.all_kept;
        here.resize(here.size() + theirs.accesses);
        p2p::sendrecv_bytes(*window.comm, out.data(), out.size_bytes(), to, here.data() + here.size() - theirs.accesses,
                            theirs.accesses * sizeof(Accessed), from, epochs_tag, call);
    }
    accesses.compare(here);
    accesses.forget();
    if (mine.frees) return;
    // All members are in this fence and their operations are complete; no access of the next epoch begins before
    // all members have completed this exchange.
    LocalStores& stores = *window.stores;
    if (all_kept) accesses.tell_stores(stores.changed(here), stores.site(), mine.site);
    bool const watched = window.flavor == Flavor::create || window.flavor == Flavor::allocate;
    if (watched && !mine.last) stores.open(window.base, window.bytes, mine.site);
    else stores.close();
}

}   // namespace

void note_post(Window& window) {
    window.pairs.resize(window.targets.size());
    for (int r : window.posted_ranks) ++window.pairs[static_cast<std::size_t>(r)].posts;
}

void note_start(Window& window) {
    window.pairs.resize(window.targets.size());
    for (int r : window.started_ranks) {
        PairEpochs& pair = window.pairs[static_cast<std::size_t>(r)];
        ++pair.starts;
        pair.site = site_here(window);
    }
}

void compare_at_free(Window& window) {
    coll::compare_last_calls(*window.comm);
    if (window.accesses || window.process.variables.diagnosis == "no") return;   // --check has compared by messages
    for (int r : window.on_node) {
        Control::Pair const& heard = window.members.mine->from(window.target(r).member);
        compare_posts(window, r, heard.posted.load(std::memory_order_relaxed));
    }
    if (window.several_nodes) compare_posts_of_nodes(window);
}

void exchange_at_fence(Window& window, Assertions assertions, char const* call) {
    exchange(window, {.site = site_here(window), .first = assertions.no_precede, .last = assertions.no_succeed}, call);
}

void exchange_at_free(Window& window, char const* call) {
    window.complete_here(-1);
    if (window.everybody == Access::fence && window.fence_used) {
        Mistake::Part const parts[] = {
            {window.process.rank(), join("MPI_Win_free(", window.words(), ")"), {}, site_here(window)}};
        warn(window.process, {"T15", "a window is freed while an epoch of MPI_Win_fence is open",
                              "what was put or got since the last fence is complete when all ranks have called "
                              "another one, which is missing before MPI_Win_free",
                              parts});
    }
    exchange(window, {.site = site_here(window), .frees = true}, call);
}

}   // namespace tutti::rma
