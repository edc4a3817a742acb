// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a rank's collective calls, one row per communicator (name and size), collective and algorithm, and of
// its window calls, one row per operation and access path. They lie in the node segment so that mpiexec can read them
// however the rank has ended. Only the rank itself writes. The strings of a row are written before `used_` includes
// it and never change; its counters may be read at any time. Zeroed memory is a valid empty state.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/flag.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti {

struct alignas(cache_line) CallStatisticsRow {
    Counter calls, bytes;    ///< bytes of the messages that the rank itself contributed or received
    Counter time, longest;   ///< nanoseconds: sum over all calls, and the longest call
    std::int32_t ranks;      ///< size of the communicator
    /// Nonzero: the row belongs to a window instead of a communicator; `collective` holds the operation and
    /// `algorithm` the access path. Not a bool, because the program may overwrite it with a value that is invalid for
    /// a bool.
    std::uint8_t is_window;
    char communicator[32];   ///< its name, possibly truncated; all three strings are zero-terminated
    char collective[20];
    char algorithm[103];   ///< with the parameters that differ from their defaults

    /// Counts one call that moved `message` bytes and took `nanoseconds`.
    void record(std::uint64_t message, std::uint64_t nanoseconds) {
        calls.add(1);
        bytes.add(message);
        time.add(nanoseconds);
        if (nanoseconds > longest.read()) longest.set(nanoseconds);
    }
};

class CallStatistics {
public:
    static constexpr std::size_t capacity = 128;   ///< maximum number of rows

    /// Returns the row with these strings, creating it if needed, or `other_calls()` if all rows are in use. Must be
    /// called only by the rank that owns the statistics.
    CallStatisticsRow& row(std::string_view communicator, int ranks, std::string_view collective,
                           std::string_view algorithm, bool is_window = false);
    std::span<CallStatisticsRow const> rows() const {
        return {rows_.data(), std::min<std::size_t>(used_.load(std::memory_order_acquire), capacity)};
    }
    /// Sum of all calls that have no row of their own.
    CallStatisticsRow const& other_calls() const { return other_calls_; }

private:
    std::atomic<std::uint32_t> used_;
    std::array<CallStatisticsRow, capacity> rows_;
    CallStatisticsRow other_calls_;
};

}   // namespace tutti
