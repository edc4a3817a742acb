// SPDX-License-Identifier: BSD-3-Clause
#include "rma/synchronization/matching.hpp"

#include <algorithm>

#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnosis/mistake.hpp"

namespace tutti::rma {
namespace {

constexpr int epochs_tag = 1401;   // of messages in the window's own communicator

/// What a member says of itself to another one. Plain bytes.
struct Told {
    std::uint64_t fences = 0;           ///< called so far
    std::uint64_t site = 0;             ///< of this call
    std::uint64_t posts = 0;            ///< for the other one
    std::uint64_t accesses = 0;         ///< to the other's part, which follow
    bool frees = false;                 ///< else it is in a fence,
    bool first = false, last = false;   ///< with MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED
};

std::uint64_t site_here(Window const& window) { return reinterpret_cast<std::uintptr_t>(window.process.call_site); }

Mistake::Part part(Window const& window, int rank, Told const& told) {
    char const* const call = told.frees ? "MPI_Win_free(" : "MPI_Win_fence(";
    return {window.comm->world_rank(rank), join(call, window.words(), ")"), {}, told.site};
}

/// One of the two frees the window, the other one fences it.
[[noreturn]] void tell_fences(Window& window, Told const& mine, int rank, Told const& theirs) {
    Mistake::Part const parts[] = {part(window, window.rank(), mine), part(window, rank, theirs)};
    auto const fences = [](std::uint64_t n) { return join(n, n == 1 ? " fence" : " fences"); };
    bool const more = mine.fences > theirs.fences;
    Mistake::Part const &first = parts[more ? 0 : 1], &second = parts[more ? 1 : 0];
    std::string text =
        join("rank ", first.rank, " has called ", fences(std::max(mine.fences, theirs.fences)), " of ", window.words(),
             ", rank ", second.rank, " has called ", std::min(mine.fences, theirs.fences));
    if (mine.fences == theirs.fences)
        text = join("MPI_Win_fence of rank ", parts[mine.frees ? 1 : 0].rank, " meets MPI_Win_free of rank ",
                    parts[mine.frees ? 0 : 1].rank, " on ", window.words());
    report(
        window.process,
        {"T15", text,
         mine.fences == theirs.fences
             ? "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED are given to a fence by all ranks of the window, or by none"
             : "all ranks of a window call MPI_Win_fence equally often: look for one in a branch or a loop that "
               "not all of them go through",
         parts});
}

/// A target that was not accessed was not waited for.
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
    Mistake::Part const parts[] = {part(window, window.rank(), mine), part(window, rank, theirs)};
    warn(window.process,
         {"T15",
          join(mine.first != theirs.first ? "MPI_MODE_NOPRECEDE" : "MPI_MODE_NOSUCCEED",
               " is given by some ranks of a fence only"),
          "what is said of the epoch before a fence, or behind it, all ranks of the window say, or none", parts});
}

/// This process's starts towards the member against that one's posts for it.
void compare_posts(Window& window, int rank, std::uint64_t posts) {
    if (!window.pairs.empty() && window.pairs[static_cast<std::size_t>(rank)].starts > posts)
        tell_starts(window, rank, posts);
}

void compare_told(Window& window, Told const& mine, int rank, Told const& theirs) {
    if (mine.frees != theirs.frees) tell_fences(window, mine, rank, theirs);
    if (mine.frees) return compare_posts(window, rank, theirs.posts);
    bool const alike = mine.first == theirs.first && mine.last == theirs.last;
    if (!alike && window.rank() < rank) tell_assertions(window, mine, rank, theirs);
}

/// Each member tells each other one of itself, and what it has done to its part.
void exchange(Window& window, Told mine, char const* call) {
    Accesses& accesses = *window.accesses;
    std::span<Accessed const> const own = accesses.of(window.rank());
    std::vector<Accessed> here(own.begin(), own.end());
    for (int step = 1; step < window.size(); ++step) {
        int const to = (window.rank() + step) % window.size(),
                  from = (window.rank() - step + window.size()) % window.size();
        std::span<Accessed const> const out = accesses.of(to);
        mine.accesses = out.size();
        mine.posts = window.pairs.empty() ? 0 : window.pairs[static_cast<std::size_t>(to)].posts;
        Told theirs;
        p2p::sendrecv_bytes(*window.comm, &mine, sizeof mine, to, &theirs, sizeof theirs, from, epochs_tag, call);
        compare_told(window, mine, from, theirs);
        here.resize(here.size() + theirs.accesses);
        p2p::sendrecv_bytes(*window.comm, out.data(), out.size_bytes(), to, here.data() + here.size() - theirs.accesses,
                            theirs.accesses * sizeof(Accessed), from, epochs_tag, call);
    }
    accesses.compare(here);
    accesses.forget();
}

}   // namespace

void note_fence(Window& window) {
    Control::FenceNote& note = window.members.mine->fence_note[++window.barriers % 2];
    note.barrier.store(window.barriers, std::memory_order_relaxed);
    note.fences.store(window.fences, std::memory_order_relaxed);
    note.site.store(site_here(window), std::memory_order_relaxed);
}

void note_free(Window& window) {
    ++window.barriers;
    if (window.process.variables.diagnosis == "no") return;   // a fence may have let others through, who are gone
    std::size_t const mine = window.target(window.rank()).member;
    for (Control* control : window.members.controls)
        control->from(mine).freed.store(window.barriers, std::memory_order_relaxed);
}

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
    if (window.process.variables.diagnosis == "no") return;
    Told const mine{.fences = window.fences, .site = site_here(window), .frees = true};
    for (int r : window.on_node) {
        Target const& t = window.target(r);
        Control::Pair const& heard = window.members.mine->from(t.member);
        Control::FenceNote const& note = t.control->fence_note[window.barriers % 2];
        bool const fences = heard.freed.load(std::memory_order_relaxed) != window.barriers &&
                            note.barrier.load(std::memory_order_relaxed) == window.barriers;
        if (fences)
            tell_fences(window, mine, r,
                        {.fences = note.fences.load(std::memory_order_relaxed),
                         .site = note.site.load(std::memory_order_relaxed)});
        // With --check all members have been compared by messages.
        if (!window.accesses) compare_posts(window, r, heard.posted.load(std::memory_order_relaxed));
    }
}

void exchange_at_fence(Window& window, Assertions assertions, char const* call) {
    exchange(window,
             {.fences = window.fences,
              .site = site_here(window),
              .first = assertions.no_precede,
              .last = assertions.no_succeed},
             call);
}

void exchange_at_free(Window& window, char const* call) {
    if (window.everybody == Access::fence && window.fence_used) {
        Mistake::Part const parts[] = {
            {window.process.rank(), join("MPI_Win_free(", window.words(), ")"), {}, site_here(window)}};
        warn(window.process, {"T15", "a window is freed while an epoch of MPI_Win_fence is open",
                              "what was put or got since the last fence is complete when all ranks have called "
                              "another one, which is missing before MPI_Win_free",
                              parts});
    }
    exchange(window, {.fences = window.fences, .site = site_here(window), .frees = true}, call);
}

}   // namespace tutti::rma
