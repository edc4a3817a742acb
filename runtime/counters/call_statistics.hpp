// SPDX-License-Identifier: BSD-3-Clause
// What a rank's collectives have done, line by line: one for each communicator's name and size, collective and
// algorithm; likewise its calls about windows, by operation and way. It lies in the node segment, so that mpiexec can
// read it when the rank has ended, however it ended. Only the rank itself writes. A line's texts are written before
// `used_` tells of it and never change; its counters may be read at any time. Zeroed memory is empty call statistics.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/flag.hpp"
#include "runtime/counters/counter.hpp"

namespace tutti {

struct alignas(cache_line) CallStatisticsRow {
    Counter calls, bytes;    ///< bytes of the messages that the rank itself gave or got
    Counter time, longest;   ///< nanoseconds in all calls, and in the longest
    std::int32_t ranks;      ///< of the communicator
    /// Not 0: a window takes the place of the communicator; the collective is an operation, the algorithm its way.
    /// No bool, because a program may overwrite it with a value that no bool has.
    std::uint8_t of_window;
    char communicator[32];   ///< its name, or the beginning of it; this and the others end in a zero
    char collective[20];
    char algorithm[103];   ///< with the parameters that are not as by default

    void note(std::uint64_t message, std::uint64_t nanoseconds) {
        calls.add(1);
        bytes.add(message);
        time.add(nanoseconds);
        if (nanoseconds > longest.read()) longest.set(nanoseconds);
    }
};

class CallStatistics {
public:
    static constexpr std::size_t room = 128;

    /// The line with these texts, made if there is none; `others()` when all are in use. For the call statistics' own
    /// rank.
    CallStatisticsRow& line(std::string_view communicator, int ranks, std::string_view collective,
                            std::string_view algorithm, bool of_window = false);
    std::span<CallStatisticsRow const> lines() const {
        return {lines_.data(), std::min<std::size_t>(used_.load(std::memory_order_acquire), room)};
    }
    /// Everything that has no line of its own, together.
    CallStatisticsRow const& others() const { return others_; }

private:
    std::atomic<std::uint32_t> used_;
    std::array<CallStatisticsRow, room> lines_;
    CallStatisticsRow others_;
};

}   // namespace tutti
