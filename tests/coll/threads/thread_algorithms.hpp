// SPDX-License-Identifier: BSD-3-Clause
// The algorithms once more, in the environment of threads: their sources are compiled a second time behind
// as_thread_algorithms.hpp, into a namespace of their own, so that both can be linked.
#pragma once

#include "coll/choice/choose.hpp"
#include "tests/coll/threads/thread_env.hpp"
#include "tests/coll/world/any_args.hpp"

namespace tutti::coll {
namespace thread_algorithms {

/// The fields of coll's record as its sources fill them in, with the function for threads behind them.
template <class Args>
struct Algorithm {
    char const* name;
    char const* sentence;
    Family family;
    char const* source;
    unsigned requirements;
    std::span<Parameter const> parameters;
    Task (*thread)(ThreadEnv&, Args const&);
};

}   // namespace thread_algorithms

/// One operation of the row's algorithm, as run() of a coroutine. Throws std::invalid_argument where the algorithm was
/// not compiled for threads, as those on several nodes alone are not.
void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, AlgorithmRow const& row,
         test::AnyArgs args);

/// By name, for tests of one algorithm.
AlgorithmRow const& row_of(Collective collective, std::string_view name);

}   // namespace tutti::coll
