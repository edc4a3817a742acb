// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan by recursive doubling with messages, over any list of ranks: in step k a rank and the one whose place
// differs in bit k exchange the sums of their blocks of 2^k places; who comes later adds what it gets to its prefix,
// too. The first rank has the sum of all in the end. Operators need not commute. ⌈log2 n⌉ exchanges of s bytes; each
// rank loads up to 4·s and stores 2·s bytes per step.
//
// Two sums, by turns: while a partner reads one, the other one is written.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.5, steps 1 to 3.
#pragma once

#include <array>
#include <span>

#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/messages/segments.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

template <class Env>
class PrefixDoubling {
public:
    /// Of up to `most` bytes at a time, among `ranks`, of which this one has the place `place`.
    PrefixDoubling(Env& env, Messages<Env>& m, ReduceArgs const& a, std::span<int const> ranks, int place,
                   std::size_t most)
        : env_(env), m_(m), reducer_(env.traffic(), a), element_(element_of(a)), ranks_(ranks), place_(place) {
        for (auto& sum : sums_) sum = PooledBytes(env.frames(), most);
    }
    FramePool& frames() { return env_.frames(); }

    /// `own`: this rank's packed operand, which stays as it is. Inclusive: `prefix` has a copy of it and becomes the
    /// sum of all up to this rank. Exclusive: it becomes the sum of the ranks before this one, and stays as it is at
    /// the first.
    Task run(std::byte const* own, std::byte* prefix, std::size_t bytes, bool inclusive) {
        bool any = inclusive;   // is there anything in `prefix`?
        sum_ = own;
        for (int bit = 1; bit < places(); bit *= 2) {
            int const partner = place_ ^ bit;
            if (partner >= places()) continue;
            bool const later = partner < place_, go_on = goes_on(bit);
            std::byte const* mine = sum_;
            std::byte* next = sums_[mine == sums_[0].get() ? 1 : 0].get();
            auto use = [&](std::byte const* from, std::size_t at, std::size_t k) {
                void const* operands[] = {later ? from : mine + at, later ? mine + at : from};
                if (go_on) reducer_.combine(operands, 2, next + at, k / element_);
                if (later && any) reducer_.accumulate(from, prefix + at, k / element_);
                else if (later) env_.copy(prefix + at, from, k, 0);
            };
            int const rank = ranks_[static_cast<std::size_t>(partner)];
            co_await m_.exchange(rank, packed_part(mine, bytes), rank, bytes, use);
            any = any || later;
            sum_ = next;
        }
    }

    /// At the first rank: the sum of all.
    std::byte const* total() const { return sum_; }

private:
    int places() const { return static_cast<int>(ranks_.size()); }
    /// Is the sum needed after the step of this bit, by a further partner or as the total?
    bool goes_on(int bit) const {
        if (place_ == 0) return true;
        for (bit *= 2; bit < places(); bit *= 2)
            if ((place_ ^ bit) < places()) return true;
        return false;
    }

    Env& env_;
    Messages<Env>& m_;
    Reducer reducer_;
    std::size_t element_;
    std::span<int const> ranks_;
    int place_;
    std::array<PooledBytes, 2> sums_;
    std::byte const* sum_ = nullptr;   ///< of the block that this rank is in
};

}   // namespace tutti::coll
