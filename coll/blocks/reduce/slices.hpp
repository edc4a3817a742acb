// SPDX-License-Identifier: BSD-3-Clause
// How sliced reductions cut a vector: into rounds, and each round into one slice per rank, whose result is that rank's
// to finish. Slices of allreduce and reduce lie side by side; those of reduce_scatter lie each in its rank's share.
// YHCCL (Peng et al., SC 2023), section 5.1: I = max(min(s/p, Imax), a cache line).
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/env/env.hpp"
#include "coll/env/parameter.hpp"

namespace tutti::coll {

inline constexpr Parameter largest_slice_parameter = {"slice", 131072,
                                                      "bytes of a slice at most; p of them make a round"};

/// Elements [first, first + count) of the packed vector.
struct Slice {
    std::size_t first, count;
};

class Slices {
public:
    /// `largest`: Imax in bytes.
    Slices(ReduceArgs const& a, int ranks, std::size_t largest)
        : element_(std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()))),
          ranks_(static_cast<std::size_t>(ranks)), all_(a.bytes() / element_), largest_(largest) {
        elements_ = cut((all_ + ranks_ - 1) / ranks_);
        rounds_ = (all_ + ranks_ * elements_ - 1) / (ranks_ * elements_);
    }
    Slices(ReduceScatterArgs const& a, int ranks, std::size_t largest)
        : element_(std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()))),
          ranks_(static_cast<std::size_t>(ranks)), all_(a.bytes() / element_), largest_(largest), starts_(ranks_ + 1) {
        // Counts are ints, their sums need not be.
        std::inclusive_scan(a.counts.begin(), a.counts.end(), starts_.begin() + 1, std::plus<>(), std::size_t{0});
        auto const longest = static_cast<std::size_t>(*std::max_element(a.counts.begin(), a.counts.end()));
        elements_ = cut(longest);
        rounds_ = all_ == 0 ? 0 : (longest + elements_ - 1) / elements_;
    }

    std::size_t element() const { return element_; }
    std::uint64_t rounds() const { return rounds_; }
    /// The most elements that a slice has, and the whole lines that they take.
    std::size_t elements() const { return elements_; }
    std::size_t stride() const { return (elements_ * element_ + cache_line - 1) / cache_line * cache_line; }

    /// Do the slices of a round lie side by side? Then `round` is all of them.
    bool adjoin() const { return starts_.empty(); }
    Slice round(std::uint64_t k) const {
        std::size_t const first = k * ranks_ * elements_;
        return {first, std::min(ranks_ * elements_, all_ - first)};
    }

    Slice of(int rank, std::uint64_t k) const {
        auto const r = static_cast<std::size_t>(rank);
        if (!adjoin()) return piece(starts_[r], starts_[r + 1], k * elements_, elements_);
        Slice const all = round(k);
        std::size_t const each = width(k);
        return piece(all.first, all.first + all.count, r * each, each);
    }
    /// The same in bytes of the packed vector.
    std::size_t position(int rank, std::uint64_t k) const { return of(rank, k).first * element_; }
    std::size_t bytes(int rank, std::uint64_t k) const { return of(rank, k).count * element_; }
    /// Where a rank's slice lies when a round's are laid out one after the other.
    std::size_t offset(int rank, std::uint64_t k) const { return static_cast<std::size_t>(rank) * width(k) * element_; }

private:
    /// Elements of a slice where there are so many for each rank.
    std::size_t cut(std::size_t each) const {
        std::size_t const line = std::max<std::size_t>(1, cache_line / element_);
        auto whole = [line](std::size_t n) { return (n + line - 1) / line * line; };
        return std::max(std::min(whole(each), largest_ / element_ / line * line), line);
    }
    /// The last round shares out what is left.
    std::size_t width(std::uint64_t k) const {
        if (!adjoin() || k + 1 < rounds_) return elements_;
        return cut((round(k).count + ranks_ - 1) / ranks_);
    }
    static Slice piece(std::size_t start, std::size_t end, std::size_t before, std::size_t most) {
        std::size_t const first = std::min(end, start + before);
        return {first, std::min(most, end - first)};
    }

    std::size_t element_, ranks_, all_, largest_, elements_ = 1;
    std::uint64_t rounds_ = 0;
    std::vector<std::size_t> starts_;   ///< of the shares, in elements; none where slices adjoin
};

/// Who gets the result of which slices: everybody of its own, everybody of all, the root of all.
enum class Receives { own, all, root };

template <class Args>
struct Sliced {
    Args const& args;
    Receives receives;
    bool dense() const { return args.type->dense(args.count); }
    /// Does a rank get results of others?
    bool collects(int rank) const {
        return receives == Receives::all || (receives == Receives::root && rank == args.root);
    }
    /// Where slice `k` of this rank's own result starts in its result, in bytes.
    std::size_t result_position(Slices const& slices, int rank, std::uint64_t k) const {
        return receives == Receives::own ? k * slices.elements() * slices.element() : slices.position(rank, k);
    }
    Buffer result(int rank) const {
        if constexpr (std::is_same_v<Args, ReduceScatterArgs>)
            return {args.out, args.counts[static_cast<std::size_t>(rank)], args.type};
        else return {args.out, args.count, args.type};
    }
    /// In place this rank's result would overwrite what of its slice it has not read yet. (Only counts that differ
    /// bring shares that are nearer to the vector's start than a slice is long.)
    bool overlaps(Slices const& slices, int rank, std::uint64_t k) const {
        std::size_t const from = slices.position(rank, k), to = result_position(slices, rank, k);
        return !args.in && from != to && from - to < slices.bytes(rank, k);
    }
};

}   // namespace tutti::coll
