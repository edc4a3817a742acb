// SPDX-License-Identifier: BSD-3-Clause
// Finds and creates rows of the call statistics.
#include "runtime/state/call_statistics.hpp"

#include <algorithm>

namespace tutti {
namespace {

template <std::size_t n>
std::string_view fitting(std::string_view text, char const (&)[n]) {
    return text.substr(0, n - 1);
}

}   // namespace

CallStatisticsRow& CallStatistics::row(std::string_view communicator, int ranks, std::string_view collective,
                                       std::string_view algorithm, bool is_window) {
    std::uint32_t const used = used_.load(std::memory_order_relaxed);
    CallStatisticsRow& fresh = used < capacity ? rows_[used] : other_calls_;
    communicator = fitting(communicator, fresh.communicator);
    collective = fitting(collective, fresh.collective);
    algorithm = fitting(algorithm, fresh.algorithm);
    for (CallStatisticsRow& l : std::span(rows_.data(), used))
        if (l.ranks == ranks && l.communicator == communicator && l.collective == collective &&
            l.algorithm == algorithm && (l.is_window != 0) == is_window)
            return l;
    if (used == capacity) return fresh;
    fresh.ranks = ranks;
    fresh.is_window = is_window;
    communicator.copy(fresh.communicator, communicator.size());
    collective.copy(fresh.collective, collective.size());
    algorithm.copy(fresh.algorithm, algorithm.size());
    used_.store(used + 1, std::memory_order_release);
    return fresh;
}

}   // namespace tutti
