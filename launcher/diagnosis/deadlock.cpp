// SPDX-License-Identifier: BSD-3-Clause
// Releases all ranks that can be released. The cores are the terminal strongly connected components of the remaining
// graph.
#include "launcher/diagnosis/deadlock.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace tutti::launcher {
namespace {

using State = RankWait::State;

/// A rank's wait whose ranges are inside the world, have a stride of at least 1 and are not empty.
struct Wait {
    Awaiting awaiting = Awaiting::unknown;
    std::vector<RankRange> awaited{}, others{};
    bool outside = false;   ///< a rank outside the world is awaited, too
};

/// Restricts a wait to the world. The ranges were written by another process and may be arbitrary; 64 bits prevent
/// overflow.
Wait within_world(RankWait const& rank, int world) {
    Wait wait{.awaiting = rank.awaiting, .others = rank.others};
    for (auto [first, last, stride] : rank.awaited) {
        std::int64_t const step = std::max<std::int64_t>(stride, 1), begin = first;
        std::int64_t const end = stride < 1 ? begin : last;
        std::int64_t const from = begin < 0 ? begin + (step - 1 - begin) / step * step : begin;
        std::int64_t const to = std::min<std::int64_t>(end, world - 1);
        wait.outside |= (begin < 0 && begin <= end) || (begin <= end && begin + (end - begin) / step * step >= world);
        if (from <= to) wait.awaited.push_back({int(from), int(to), int(step)});
    }
    return wait;
}

bool contains(std::vector<RankRange> const& ranges, int rank) {
    return std::ranges::any_of(ranges, [rank](RankRange const& range) { return range.contains(rank); });
}

/// Iterates over the ranks that a wait names, without storing a list of them.
class AwaitedIterator {
public:
    /// Returns the next rank, or -1 after the last one.
    int next(Wait const& wait) {
        if (range_ == wait.awaited.size()) return -1;
        RankRange const& range = wait.awaited[range_];
        int const rank = range.first + count_ * range.stride;
        ++count_;
        if (range.last - rank < range.stride) ++range_, count_ = 0;
        return rank;
    }

private:
    std::size_t range_ = 0;
    int count_ = 0;
};

/// Returns the number of different ranks that a wait names. `seen` has one number per rank, none of which may equal
/// `mark`.
int count_awaited(Wait const& wait, std::vector<int>& seen, int mark) {
    int count = 0;
    AwaitedIterator awaited;
    for (int rank = awaited.next(wait); rank >= 0; rank = awaited.next(wait))
        if (std::exchange(seen[rank], mark) != mark) ++count;
    return count;
}

/// A blocked thread of a rank.
struct Thread {
    int rank = -1;
    Wait wait{};
    int acts_needed = 0;   ///< acts that an `all` wait still needs
};

/// Ranks that can act, and the blocked threads of all other ranks.
struct Search {
    std::vector<int> able{};
    std::vector<Thread> blocked{};
};

/// Returns true if the thread needs no act of another rank.
bool is_free(Thread const& thread) {
    switch (thread.wait.awaiting) {
    case Awaiting::all: return thread.acts_needed == 0;
    case Awaiting::any: return thread.wait.outside;
    default: return true;
    }
}

Search begin_search(std::vector<RankWait> const& ranks) {
    int const world = static_cast<int>(ranks.size());
    Search search;
    std::vector<int> seen(ranks.size(), -1);
    int counted = 0;
    for (int rank = 0; rank < world; ++rank) {
        if (ranks[rank].state == State::ended) continue;
        bool free = ranks[rank].state == State::running;
        std::vector<Thread> threads;
        auto const add = [&](RankWait const& wait) {
            Thread& one = threads.emplace_back(Thread{rank, within_world(wait, world)});
            if (one.wait.awaiting == Awaiting::all) one.acts_needed = count_awaited(one.wait, seen, counted++);
            free |= is_free(one);
        };
        if (!free) add(ranks[rank]);
        for (RankWait const& wait : ranks[rank].other_threads)
            if (!free) add(wait);
        if (free) search.able.push_back(rank);
        else std::ranges::move(threads, std::back_inserter(search.blocked));
    }
    return search;
}

/// Returns for each rank whether it is deadlocked. Each rank that becomes able to act is searched for once in every
/// remaining wait, so no reverse lists of awaited ranks are needed. A rank that awaits itself is not released by that:
/// it becomes able to act only when one of its threads has been released.
std::vector<char> find_deadlocked(std::vector<RankWait> const& ranks) {
    auto [able, blocked] = begin_search(ranks);
    std::vector<char> deadlocked(ranks.size());
    for (Thread const& one : blocked) deadlocked[one.rank] = true;
    for (std::size_t i = 0; i < able.size(); ++i) {
        std::erase_if(blocked, [&, actor = able[i]](Thread& thread) {
            if (!deadlocked[thread.rank]) return true;   // released by another of its threads
            bool const acts_for_others = contains(thread.wait.others, actor);
            if (!acts_for_others && !contains(thread.wait.awaited, actor)) return false;
            if (!acts_for_others && thread.wait.awaiting == Awaiting::all && --thread.acts_needed > 0) return false;
            deadlocked[thread.rank] = false;
            able.push_back(thread.rank);
            return true;
        });
    }
    return deadlocked;
}

/// Returns the union of the ranks that a rank's threads await; `awaiting` is not meaningful in the result.
Wait merge_threads(RankWait const& rank, int world) {
    Wait all = within_world(rank, world);
    for (RankWait const& one : rank.other_threads) {
        Wait const wait = within_world(one, world);
        all.awaited.insert(all.awaited.end(), wait.awaited.begin(), wait.awaited.end());
    }
    return all;
}

/// Strongly connected components of the deadlocked ranks (Tarjan 1972), with an explicit stack: chains of waits can be
/// as long as the world is large. Edges are read from the waits each time.
class Components {
public:
    Components(std::vector<Wait> const& waits, std::vector<char> const& deadlocked)
        : waits_(waits), deadlocked_(deadlocked), number_(waits.size()), lowest_(waits.size()), done_(waits.size()),
          leads_out_(waits.size()) {
        for (int rank = 0; rank < static_cast<int>(waits.size()); ++rank)
            if (deadlocked_[rank] && number_[rank] == 0) search(rank);
    }

    /// Returns the components without an edge to another component, each sorted.
    std::vector<std::vector<int>> const& terminal() const { return terminal_; }

private:
    struct Frame {
        int rank;
        AwaitedIterator awaited{};
    };

    void enter(int rank) {
        number_[rank] = lowest_[rank] = ++entered_;
        path_.push_back({rank});
        open_.push_back(rank);
    }

    void search(int root) {
        enter(root);
        while (!path_.empty()) {
            int const rank = path_.back().rank, to = path_.back().awaited.next(waits_[rank]);
            if (to < 0) leave(rank);
            else if (deadlocked_[to]) follow(rank, to);
        }
    }

    void follow(int rank, int to) {
        if (number_[to] == 0) enter(to);
        else if (done_[to]) leads_out_[rank] = true;
        else lowest_[rank] = std::min(lowest_[rank], number_[to]);
    }

    void leave(int rank) {
        if (lowest_[rank] == number_[rank]) close(rank);
        path_.pop_back();
        if (path_.empty()) return;
        int const before = path_.back().rank;
        if (done_[rank]) leads_out_[before] = true;
        else lowest_[before] = std::min(lowest_[before], lowest_[rank]);
    }

    void close(int root) {
        auto const begin = std::find(open_.rbegin(), open_.rend(), root).base() - 1;
        std::vector<int> component(begin, open_.end());
        open_.erase(begin, open_.end());
        bool leads_out = false;
        for (int rank : component) {
            done_[rank] = true;
            leads_out |= leads_out_[rank] != 0;
        }
        if (leads_out) return;
        std::sort(component.begin(), component.end());
        terminal_.push_back(std::move(component));
    }

    std::vector<Wait> const& waits_;
    std::vector<char> const& deadlocked_;
    // By rank: its number in the order of entry (0: not entered); the lowest such number that it reaches.
    std::vector<int> number_, lowest_;
    // By rank: its component is complete; it has an edge into another component.
    std::vector<char> done_, leads_out_;
    std::vector<Frame> path_;
    std::vector<int> open_;   // entered, and not in a complete component
    int entered_ = 0;
    std::vector<std::vector<int>> terminal_;
};

/// Returns the ended ranks that a rank awaits, sorted; empty if it also awaits a deadlocked rank.
std::vector<int> only_ended(Wait const& wait, std::vector<RankWait> const& ranks, std::vector<char> const& deadlocked) {
    std::vector<int> ended;
    AwaitedIterator awaited;
    for (int rank = awaited.next(wait); rank >= 0; rank = awaited.next(wait)) {
        if (deadlocked[rank]) return {};
        if (ranks[rank].state == State::ended) ended.push_back(rank);
    }
    std::sort(ended.begin(), ended.end());
    ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
    return ended;
}

}   // namespace

bool awaits(RankWait const& wait, int rank) {
    return contains(wait.awaited, rank) ||
           std::ranges::any_of(wait.other_threads, [rank](RankWait const& one) { return awaits(one, rank); });
}

Deadlock find_deadlock(std::vector<RankWait> const& ranks) {
    std::vector<Wait> waits;
    waits.reserve(ranks.size());
    for (RankWait const& rank : ranks) waits.push_back(merge_threads(rank, static_cast<int>(ranks.size())));
    std::vector<char> deadlocked = find_deadlocked(ranks);
    Deadlock found;
    std::map<std::vector<int>, std::vector<int>> by_ended;   // ranks that wait for the same ended ranks
    Components const components(waits, deadlocked);
    for (std::vector<int> const& component : components.terminal()) {
        std::vector<int> const ended =
            component.size() == 1 ? only_ended(waits[component[0]], ranks, deadlocked) : std::vector<int>{};
        if (ended.empty()) found.cores.push_back(component);
        else by_ended[ended].push_back(component[0]);
    }
    for (auto& [ended, core] : by_ended) {
        std::sort(core.begin(), core.end());
        found.cores.push_back(std::move(core));
    }
    std::sort(found.cores.begin(), found.cores.end());
    for (std::vector<int> const& core : found.cores)
        for (int rank : core) deadlocked[rank] = false;
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank)
        if (deadlocked[rank]) found.dependents.push_back(rank);
    return found;
}

}   // namespace tutti::launcher
