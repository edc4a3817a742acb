// SPDX-License-Identifier: BSD-3-Clause
// Included before the source of each algorithm that is compiled for these tests (extra.cmake): moves it into the
// namespace thread_algorithms and makes the last field of its record the coroutine for ThreadEnv only.
#pragma once

#include "coll/algorithms/algorithm.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

#undef TUTTI_SHM_ONLY
#undef TUTTI_SHM_AND_NET
#undef TUTTI_SHM_AND_NODES
#undef TUTTI_NET_ONLY   // such files are not compiled for these tests
#define TUTTI_SHM_ONLY(function) function<ThreadEnv>
#define TUTTI_SHM_AND_NET(function) function<ThreadEnv>
#define TUTTI_SHM_AND_NODES(function) function<ThreadEnv>
#define algorithms thread_algorithms
