// SPDX-License-Identifier: BSD-3-Clause
// Stands before every algorithm's source where it is compiled for the tests (extra.cmake): its namespace becomes
// thread_algorithms, and its record's last field the coroutine of threads alone.
#pragma once

#include "coll/algorithms/algorithm.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

#undef TUTTI_RUNS
#undef TUTTI_RUNS_ANYWHERE
#undef TUTTI_RUNS_ON_NODES   // such files are left out
#define TUTTI_RUNS(function) function<ThreadEnv>
#define TUTTI_RUNS_ANYWHERE(function) function<ThreadEnv>
#define algorithms thread_algorithms
