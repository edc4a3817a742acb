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

    /// Records a call that began at `began` (of now_ns()) and ends now. `call`: name of the MPI function; `method`:
    /// name of the access method. Both must be static strings.
    void record(std::string const& window, int ranks, char const* call, char const* method, std::uint64_t bytes,
                std::int64_t began) {
        find_or_add_row(window, ranks, call, method).record(bytes, static_cast<std::uint64_t>(now_ns() - began));
    }
    /// Must be called when the window's name changes.
    void clear_cache() { known_.clear(); }

private:
    struct KnownRow {
        char const *call, *method;
        CallStatisticsRow* row;
    };
    CallStatisticsRow& find_or_add_row(std::string const& window, int ranks, char const* call, char const* method);

    CallStatistics& statistics_;
    std::vector<KnownRow> known_;
};

/// Returns the name under which calls are recorded: "MPI_Win_fence" → "fence", "MPI_Get_accumulate" → "get_accumulate".
inline std::string operation_name(std::string_view call) {
    for (std::string_view prefix : {"MPI_", "Win_"})
        if (call.starts_with(prefix)) call.remove_prefix(prefix.size());
    return topo::lower(call);
}

inline CallStatisticsRow& Recording::find_or_add_row(std::string const& window, int ranks, char const* call,
                                                     char const* method) {
    auto const found =
        std::ranges::find_if(known_, [&](KnownRow const& k) { return k.call == call && k.method == method; });
    if (found != known_.end()) return *found->row;
    CallStatisticsRow& row = statistics_.row(window, ranks, operation_name(call), method, true);
    known_.push_back({call, method, &row});
    return row;
}

}   // namespace tutti::rma
