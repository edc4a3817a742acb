// SPDX-License-Identifier: BSD-3-Clause
// Runs the generic cases with several operations of a rank in flight, which complete in an order that differs from rank
// to rank.
#pragma once

#include "tests/coll/world/calls.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {

/// Runs all cases of `own`, in turn as blocking, nonblocking and persistent calls, with at most `most` in flight. `own`
/// belongs to the rank, because requests hold references to its datatypes. `at` is set to the number of each case that
/// begins on rank 0. The cases in flight share `arena`.
void run_overlapped_cases(Comm& comm, Suite& own, std::atomic<std::size_t>& at, int rank, std::size_t most,
                          std::span<std::byte> arena = {});

}   // namespace tutti::coll::test
