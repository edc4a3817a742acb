// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks' shares lie in the vector of a reduce_scatter, and where each goes.
#pragma once

#include <functional>
#include <numeric>

#include "coll/env/arguments.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

class Shares {
public:
    Shares(ReduceScatterArgs const& a, FramePool& frames) : a_(a), starts_(a.counts.size() + 1, frames) {
        // Counts are ints, their sums need not be.
        std::inclusive_scan(a.counts.begin(), a.counts.end(), starts_.begin() + 1, std::plus<>(), std::int64_t{0});
        for (std::int64_t& start : starts_) start *= a.type->size();
    }

    /// In bytes of the packed vector; start(size) is its end.
    std::size_t start(int rank) const { return static_cast<std::size_t>(starts_[static_cast<std::size_t>(rank)]); }
    std::size_t end(int rank) const { return start(rank + 1); }
    std::size_t bytes(int rank) const { return end(rank) - start(rank); }

    /// The result of this rank, who asks with its own number.
    Buffer result(int rank) const { return {a_.out, a_.counts[static_cast<std::size_t>(rank)], a_.type}; }

    /// Puts this rank's packed sum into its result.
    template <class Env>
    void deliver(Env& env, std::byte const* sum) const {
        Buffer const to = result(env.rank());
        if (!to.type->dense(to.count) || sum != first_byte(to)) env.store(to, 0, sum, bytes(env.rank()));
    }

private:
    ReduceScatterArgs const& a_;
    PooledVector<std::int64_t> starts_;
};

}   // namespace tutti::coll
