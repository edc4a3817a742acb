// SPDX-License-Identifier: BSD-3-Clause
// Releases whoever can be released; cores are the terminal strongly connected components of what remains.
#include "launcher/diagnosis/deadlock.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace tutti::launcher {
namespace {

using State = RankWait::State;

/// A rank's wait with ranges that lie in the world, have a stride of at least 1 and are not empty.
struct Wait {
    Awaiting awaiting = Awaiting::unknown;
    std::vector<RankRange> awaited{}, others{};
    bool outside = false;   ///< somebody outside of the world is awaited, too
};

/// What another process has written may be anything: 64 bits, so that nothing overflows.
Wait within_world(RankWait const& rank, int world) {
    Wait wait{.awaiting = rank.awaiting, .others = rank.others};
    for (auto [first, last, stride] : rank.awaited) {
        std::int64_t const by = std::max<std::int64_t>(stride, 1), named = first;
        std::int64_t const end = stride < 1 ? named : last;
        std::int64_t const from = named < 0 ? named + (by - 1 - named) / by * by : named;
        std::int64_t const to = std::min<std::int64_t>(end, world - 1);
        wait.outside |= (named < 0 && named <= end) || (named <= end && named + (end - named) / by * by >= world);
        if (from <= to) wait.awaited.push_back({int(from), int(to), int(by)});
    }
    return wait;
}

bool contain(std::vector<RankRange> const& ranges, int rank) {
    return std::ranges::any_of(ranges, [rank](RankRange const& range) { return range.contains(rank); });
}

/// The ranks that a wait names, one after the other, without a list of them.
class Named {
public:
    /// The next one, -1 behind the last.
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

/// How many different ranks a wait names. `seen` has a number for each rank, none of them `mark` yet.
int count_named(Wait const& wait, std::vector<int>& seen, int mark) {
    int count = 0;
    Named named;
    for (int rank = named.next(wait); rank >= 0; rank = named.next(wait))
        if (std::exchange(seen[rank], mark) != mark) ++count;
    return count;
}

/// A blocked thread of a rank.
struct Thread {
    int rank = -1;
    Wait wait{};
    int missing = 0;   ///< of those whom `all` awaits
};

/// Ranks that can act, and the blocked threads of all others.
struct Search {
    std::vector<int> able{};
    std::vector<Thread> blocked{};
};

/// Nobody need act for this one.
bool is_free(Thread const& thread) {
    switch (thread.wait.awaiting) {
    case Awaiting::all: return thread.missing == 0;
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
            if (one.wait.awaiting == Awaiting::all) one.missing = count_named(one.wait, seen, counted++);
            free |= is_free(one);
        };
        if (!free) add(ranks[rank]);
        for (RankWait const& wait : ranks[rank].also)
            if (!free) add(wait);
        if (free) search.able.push_back(rank);
        else std::ranges::move(threads, std::back_inserter(search.blocked));
    }
    return search;
}

/// Of each rank, whether it waits in vain. Whoever becomes able to act is looked for in each remaining wait once, so
/// that what is awaited need not be stored the other way round. A rank that awaits itself is never released by that:
/// it becomes able only when a thread of it has been released.
std::vector<char> waiting_in_vain(std::vector<RankWait> const& ranks) {
    auto [able, blocked] = begin_search(ranks);
    std::vector<char> in_vain(ranks.size());
    for (Thread const& one : blocked) in_vain[one.rank] = true;
    for (std::size_t i = 0; i < able.size(); ++i) {
        std::erase_if(blocked, [&, actor = able[i]](Thread& thread) {
            if (!in_vain[thread.rank]) return true;   // by another thread of it
            bool const acts_for_others = contain(thread.wait.others, actor);
            if (!acts_for_others && !contain(thread.wait.awaited, actor)) return false;
            if (!acts_for_others && thread.wait.awaiting == Awaiting::all && --thread.missing > 0) return false;
            in_vain[thread.rank] = false;
            able.push_back(thread.rank);
            return true;
        });
    }
    return in_vain;
}

/// All that a rank's threads await. `awaiting` is of no use here.
Wait of_all_threads(RankWait const& rank, int world) {
    Wait all = within_world(rank, world);
    for (RankWait const& one : rank.also) {
        Wait const wait = within_world(one, world);
        all.awaited.insert(all.awaited.end(), wait.awaited.begin(), wait.awaited.end());
    }
    return all;
}

/// Strongly connected components of the ranks that wait in vain (Tarjan 1972), with a stack of its own: chains of waits
/// are as long as worlds are large. Edges are read from the waits each time.
class Components {
public:
    Components(std::vector<Wait> const& waits, std::vector<char> const& in_vain)
        : waits_(waits), in_vain_(in_vain), number_(waits.size()), lowest_(waits.size()), done_(waits.size()),
          leads_out_(waits.size()) {
        for (int rank = 0; rank < static_cast<int>(waits.size()); ++rank)
            if (in_vain_[rank] && number_[rank] == 0) search(rank);
    }

    /// Those without an edge to another one, each sorted.
    std::vector<std::vector<int>> const& terminal() const { return terminal_; }

private:
    struct Frame {
        int rank;
        Named named{};
    };

    void enter(int rank) {
        number_[rank] = lowest_[rank] = ++entered_;
        path_.push_back({rank});
        open_.push_back(rank);
    }

    void search(int root) {
        enter(root);
        while (!path_.empty()) {
            int const rank = path_.back().rank, to = path_.back().named.next(waits_[rank]);
            if (to < 0) leave(rank);
            else if (in_vain_[to]) follow(rank, to);
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
    std::vector<char> const& in_vain_;
    std::vector<int> number_, lowest_;     // by rank: when it was entered, 0 not yet; the earliest that it reaches
    std::vector<char> done_, leads_out_;   // by rank: its component is complete; it has an edge into another one
    std::vector<Frame> path_;
    std::vector<int> open_;   // entered, and not in a complete component
    int entered_ = 0;
    std::vector<std::vector<int>> terminal_;
};

/// The ended ranks that a rank awaits, if it awaits nobody else in vain; empty otherwise.
std::vector<int> only_ended(Wait const& wait, std::vector<RankWait> const& ranks, std::vector<char> const& in_vain) {
    std::vector<int> ended;
    Named named;
    for (int rank = named.next(wait); rank >= 0; rank = named.next(wait)) {
        if (in_vain[rank]) return {};
        if (ranks[rank].state == State::ended) ended.push_back(rank);
    }
    std::sort(ended.begin(), ended.end());
    ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
    return ended;
}

}   // namespace

bool awaits(RankWait const& wait, int rank) {
    return contain(wait.awaited, rank) ||
           std::ranges::any_of(wait.also, [rank](RankWait const& one) { return awaits(one, rank); });
}

Deadlock find_deadlock(std::vector<RankWait> const& ranks) {
    std::vector<Wait> waits;
    waits.reserve(ranks.size());
    for (RankWait const& rank : ranks) waits.push_back(of_all_threads(rank, static_cast<int>(ranks.size())));
    std::vector<char> in_vain = waiting_in_vain(ranks);
    Deadlock found;
    std::map<std::vector<int>, std::vector<int>> by_ended;   // who waits for the same ended ranks
    Components const components(waits, in_vain);
    for (std::vector<int> const& component : components.terminal()) {
        std::vector<int> const ended =
            component.size() == 1 ? only_ended(waits[component[0]], ranks, in_vain) : std::vector<int>{};
        if (ended.empty()) found.cores.push_back(component);
        else by_ended[ended].push_back(component[0]);
    }
    for (auto& [ended, core] : by_ended) {
        std::sort(core.begin(), core.end());
        found.cores.push_back(std::move(core));
    }
    std::sort(found.cores.begin(), found.cores.end());
    for (std::vector<int> const& core : found.cores)
        for (int rank : core) in_vain[rank] = false;
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank)
        if (in_vain[rank]) found.behind.push_back(rank);
    return found;
}

}   // namespace tutti::launcher
