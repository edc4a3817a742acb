// SPDX-License-Identifier: BSD-3-Clause
// The algorithms once more, in the environment of threads: their sources are compiled a second time behind
// as_thread_algorithms.hpp, into a namespace of their own, so that both can be linked.
#pragma once

#include <stdexcept>

#include "coll/choice/choose.hpp"
#include "tests/coll/threads/thread_env.hpp"

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

/// The Algorithm of a row of coll's list; null: it was not compiled, which is right for those on several nodes alone.
void const* find(AlgorithmRow const& row);

}   // namespace thread_algorithms

/// One operation of the row's algorithm, as run() of a coroutine.
template <class Args>
void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, AlgorithmRow const& row, Args const& args) {
    auto const* algorithm = static_cast<thread_algorithms::Algorithm<Args> const*>(thread_algorithms::find(row));
    if (!algorithm) throw std::invalid_argument(std::string(row.name) + " is not compiled for threads");
    run(world, rank, op, frames, algorithm->thread, args);
}

/// By name, for tests of one algorithm.
AlgorithmRow const& row_of(Collective collective, std::string_view name);

}   // namespace tutti::coll
