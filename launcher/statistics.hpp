// SPDX-License-Identifier: BSD-3-Clause
// The table of --stats.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/segment.hpp"

namespace tutti::launcher {

/// Which way the data went, a line for each rank, one for all, and what the columns mean.
std::string statistics(Segment const& segment);

/// "0", "512 B", "1.5 KiB", "3.0 GiB"
std::string size_words(std::uint64_t bytes);

}  // namespace tutti::launcher
