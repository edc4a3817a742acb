// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a window's one-sided calls: numbers of operations and bytes always (MPI_T), and the time of each call
// if calls are recorded (mpiexec --stats).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/state/call_statistics.hpp"
#include "runtime/state/rank_state.hpp"
#include "topo/text.hpp"

namespace tutti::rma {

enum class Operation : std::uint8_t { put, get, accumulate };

/// The rows of the call statistics that belong to one window.
class Recording {
public:
    explicit Recording(CallStatistics& statistics) : statistics_(statistics) {}

    /// Records a call that began at `began` (of now_ns()) and ends now. `call`: name of the MPI function; `way`: name
    /// of the access method. Both must be static strings.
    void note(std::string const& window, int ranks, char const* call, char const* way, std::uint64_t bytes,
              std::int64_t began) {
        line(window, ranks, call, way).note(bytes, static_cast<std::uint64_t>(now_ns() - began));
    }
    /// Must be called when the window's name changes.
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

/// Returns the name under which calls are recorded: "MPI_Win_fence" → "fence", "MPI_Get_accumulate" → "get_accumulate".
inline std::string operation_name(std::string_view call) {
    for (std::string_view prefix : {"MPI_", "Win_"})
        if (call.starts_with(prefix)) call.remove_prefix(prefix.size());
    return topo::lower(call);
}

inline CallStatisticsRow& Recording::line(std::string const& window, int ranks, char const* call, char const* way) {
    auto const found = std::ranges::find_if(known_, [&](Known const& k) { return k.call == call && k.way == way; });
    if (found != known_.end()) return *found->row;
    CallStatisticsRow& row = statistics_.line(window, ranks, operation_name(call), way, true);
    known_.push_back({call, way, &row});
    return row;
}

}   // namespace tutti::rma
