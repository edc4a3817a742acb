// SPDX-License-Identifier: BSD-3-Clause
// Runs the generic cases with several operations of a rank in flight, which end in an order that differs from rank to
// rank.
#pragma once

#include "tests/coll/world/calls.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {

/// All cases of `own`, by turns as blocking, nonblocking and persistent calls, at most `most` in flight. `own` is the
/// rank's own suite, for requests hold references to its datatypes. `at` becomes the number of each case that begins at
/// rank 0. The cases that are in flight share `arena`.
void run_overlapped_cases(Comm& comm, Suite& own, std::atomic<std::size_t>& at, int rank, std::size_t most,
                          std::span<std::byte> arena = {});

}   // namespace tutti::coll::test
