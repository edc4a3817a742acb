// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/statistics/not_freed.hpp"

#include <algorithm>

#include "runtime/base/error.hpp"

namespace tutti::launcher {

void NotFreedCounts::add(NotFreedCounts const& others) {
    if (most.empty()) *this = others;
    for (std::size_t kind = 0; kind < std::min(most.size(), others.most.size()); ++kind) {
        most[kind] = std::max(most[kind], others.most[kind]);
        least[kind] = std::min(least[kind], others.least[kind]);
    }
}

NotFreedCounts not_freed_on(Segment const& segment) {
    NotFreedCounts counts;
    for (unsigned place = 0; place < segment.ranks(); ++place) {
        RankState const& rank_state = segment.rank_state(place);
        if (rank_state.state.load(std::memory_order_acquire) != RankPhase::finalised) continue;
        std::vector<std::uint64_t> mine;
        for (Counter const& one : rank_state.not_freed.objects) mine.push_back(one.read());
        counts.add({mine, mine});
    }
    return counts;
}

std::string not_freed_words(NotFreedCounts const& counts) {
    std::string list;
    for (std::size_t kind = 0; kind < std::min<std::size_t>(counts.most.size(), NotFreed::kinds); ++kind) {
        std::uint64_t const number = counts.most[kind];
        if (number == 0) continue;
        list += join(list.empty() ? "" : ", ", number, " ", NotFreed::names[kind], number == 1 ? "" : "s");
    }
    if (list.empty()) return {};
    bool const equal = counts.most == counts.least;
    return join(equal ? "" : "up to ", list, equal ? "" : " per rank", " never freed; --check shows where");
}

}   // namespace tutti::launcher
