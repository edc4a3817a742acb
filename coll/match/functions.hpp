// SPDX-License-Identifier: BSD-3-Clause
// The calls that are noted, by numbers that are the same in all ranks.
#pragma once

#include <cstdint>

namespace tutti::coll {

/// 0: a call that is not noted.
std::uint8_t function_named(char const* name);
/// "MPI_Bcast"; of a number of the above but 0.
char const* function_name(std::uint8_t function);
/// May the call wait until other members make theirs?
bool function_waits(std::uint8_t function);

}   // namespace tutti::coll
