// SPDX-License-Identifier: BSD-3-Clause
// The names under which calls are recorded.
#include "rma/window/recording.hpp"

#include <algorithm>
#include <string_view>

#include "topo/base/words.hpp"

namespace tutti::rma {
namespace {

/// "MPI_Win_fence" → "fence", "MPI_Get_accumulate" → "get_accumulate".
std::string operation_name(std::string_view call) {
    for (std::string_view prefix : {"MPI_", "Win_"})
        if (call.starts_with(prefix)) call.remove_prefix(prefix.size());
    return topo::lower(call);
}

}   // namespace

CallStatisticsRow& Recording::line(std::string const& window, int ranks, char const* call, char const* way) {
    auto const found = std::ranges::find_if(known_, [&](Known const& k) { return k.call == call && k.way == way; });
    if (found != known_.end()) return *found->row;
    CallStatisticsRow& row = statistics_.line(window, ranks, operation_name(call), way, true);
    known_.push_back({call, way, &row});
    return row;
}

}   // namespace tutti::rma
