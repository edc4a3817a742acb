// SPDX-License-Identifier: BSD-3-Clause
// Large nonblocking operations in fragments: a broadcast by bytes, reductions by elements, so that every rank cuts at
// the same places whatever its datatype. Other collectives stay whole, and so do those of intercommunicators, where
// ranks beside the root do not know the size. Between nodes blocking calls go so, too, where the algorithm asks for it,
// which is the one of the whole message then.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section VI: count and size of the fragments in operation.
#pragma once

#include "coll/call/run_in.hpp"
#include "coll/choice/decision.hpp"

namespace tutti::coll {

inline constexpr std::size_t most_fragments = 1 << 20;   ///< of one operation; smaller ones are made larger

/// The places where an operation is cut; `bytes` is the wished-for size of a fragment, 0: never cut.
template <class Args>
struct Fragments {
    static constexpr std::size_t most_at_once = 1;
    Fragments(Args const&, std::size_t) {}

    unsigned count() const { return 1; }
    Args cut(Args const& whole, unsigned) const { return whole; }
};

/// reduce, allreduce, scan, exscan.
template <>
struct Fragments<ReduceArgs> {
    static constexpr std::size_t most_at_once = 4;

    Fragments(ReduceArgs const& whole, std::size_t bytes) : elements(whole.count) {
        if (bytes == 0 || whole.bytes() <= bytes || whole.first_group_size > 0) return;
        bytes = std::max(bytes, whole.bytes() / most_fragments);
        elements = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) / whole.type->size());
        number = static_cast<unsigned>((whole.count + elements - 1) / elements);
    }
    unsigned count() const { return number; }
    ReduceArgs cut(ReduceArgs const& whole, unsigned k) const {
        std::int64_t const first = elements * k;
        return whole.slice(first, std::min(elements, whole.count - first));
    }
    template <class Env>
    Task task(Env& env, Algorithm<ReduceArgs> const& algorithm, ReduceArgs const&, ReduceArgs const& fragment,
              unsigned) const {
        return run_in(env, algorithm, fragment);
    }

    std::int64_t elements;   ///< of all fragments but the last
    unsigned number = 1;
};

template <>
struct Fragments<BcastArgs> {
    static constexpr std::size_t most_at_once = 4;

    Fragments(BcastArgs const& whole, std::size_t wish) : bytes(whole.data.bytes()) {
        if (wish == 0 || bytes <= wish || whole.first_group_size > 0) return;
        wish = std::max(wish, bytes / most_fragments);
        number = static_cast<unsigned>((bytes + wish - 1) / wish);
        bytes = wish;
    }
    unsigned count() const { return number; }
    /// Where the buffer has gaps the fragment has its size and no address: see task().
    BcastArgs cut(BcastArgs const& whole, unsigned k) const;
    template <class Env>
    Task task(Env& env, Algorithm<BcastArgs> const& algorithm, BcastArgs const& whole, BcastArgs const& fragment,
              unsigned k) const;

    std::size_t bytes;   ///< of all fragments but the last
    unsigned number = 1;
};

/// The fragments that an algorithm between nodes asks for; 0: none.
inline std::size_t fragment_of(Decision const& decision) {
    std::span<Parameter const> const all = decision.algorithm->parameters;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].kind == ParameterKind::fragment) return decision.setting->values[i];
    return 0;
}

/// A blocking call as a request, to its end; for Args of which there are fragments. Throws what ended it.
template <class Args>
void run_in_fragments(Comm& comm, Collective collective, Args const& args);

}   // namespace tutti::coll
