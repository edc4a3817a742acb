// SPDX-License-Identifier: BSD-3-Clause
// What is counted of a window's calls: operations and bytes always (MPI_T), and each call's time where calls are
// recorded (mpiexec --stats).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/counters/call_statistics.hpp"
#include "runtime/counters/rank_state.hpp"

namespace tutti::rma {

enum class Operation : std::uint8_t { put, get, accumulate };

/// The lines of the call statistics that belong to one window.
class Recording {
public:
    explicit Recording(CallStatistics& statistics) : statistics_(statistics) {}

    /// A call that began at `began` of now_ns() is over. `call` is the MPI function's name and `way` how data goes,
    /// both static.
    void note(std::string const& window, int ranks, char const* call, char const* way, std::uint64_t bytes,
              std::int64_t began) {
        line(window, ranks, call, way).note(bytes, static_cast<std::uint64_t>(now_ns() - began));
    }
    /// The window has another name now.
    void forget() { known_.clear(); }

private:
    struct Known {
        char const *call, *way;
        CallStatisticsRow* row;
    };
    CallStatisticsRow& line(std::string const& window, int ranks, char const* call, char const* way);

    CallStatistics& statistics_;
    std::vector<Known> known_;
};

}   // namespace tutti::rma
