// SPDX-License-Identifier: BSD-3-Clause
// The algorithms once more, for ThreadEnv: their sources are compiled a second time behind as_thread_algorithms.hpp
// into another namespace, so that both versions can be linked.
#pragma once

#include "coll/choice/choose.hpp"
#include "tests/coll/threads/thread_env.hpp"
#include "tests/coll/world/any_args.hpp"

namespace tutti::coll {
namespace thread_algorithms {

/// The head of coll's record, followed by the function for ThreadEnv and the cost.
template <class Args>
struct Algorithm : RecordHead {
    Task (*thread)(ThreadEnv&, Args const&);
    Cost cost = {};
};

template <class Args>
Task run_record(Algorithm<Args> const& record, ThreadEnv& env, Args const& args) {
    return record.thread(env, args);
}

}   // namespace thread_algorithms

/// Runs one operation of the row's algorithm as a coroutine, and one that replaces it if it refuses. Throws
/// std::invalid_argument if the algorithm was not compiled for ThreadEnv, as those for several nodes only.
void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, AlgorithmRow const& row,
         test::AnyArgs args);

/// Finds an algorithm by name, for tests of one algorithm.
AlgorithmRow const& row_of(Collective collective, std::string_view name);

}   // namespace tutti::coll
