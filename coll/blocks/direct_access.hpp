// SPDX-License-Identifier: BSD-3-Clause
// What algorithms by direct access share: the agreement that every rank can load and store in the buffers of all
// others, and, for reductions, the division of the work by index range. The agreement takes one exchange, and a second
// one only if XPMEM is among the access paths.
//
// Why all ranks decide alike: each rank publishes the access path to its buffers with step `exposed` and sees all
// access paths before it decides. If all are direct, access is granted, and map_buffers maps the buffers of all ranks.
// If one is neither direct nor attachable, the operation is refused. Otherwise every rank tries, publishes the outcome
// (`missed` or `reached`, the last step of its cell), sees the outcomes of all ranks, and refuses unless all have
// reached everything. Before it refuses, it waits until all have read what it exposes.
#pragma once

#include <numeric>
#include <span>

#include "coll/blocks/reducer.hpp"
#include "coll/env/exposing.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

template <class Env>
class DirectAccess {
public:
    /// Peers load from `in` and store to `out`; empty if they do not. `may_grant` false: this rank's data is not
    /// contiguous, so the operation is refused.
    DirectAccess(Env& env, std::span<std::byte const> in, std::span<std::byte> out, bool may_grant = true)
        : env_(env), in_(in), out_(out), best_(may_grant ? AccessPath::load_store : AccessPath::staged),
          inputs_(static_cast<std::size_t>(env.size()), env.frames()), outputs_(inputs_.size(), env.frames()),
          operands_(inputs_.size(), env.frames()) {}

    FramePool& frames() { return env_.frames(); }
    /// Exposes the buffers and performs the agreement. If some rank cannot load and store in the buffers of all others,
    /// refuses the operation (Environment::refused_for).
    Task agree() {
        expose_both(env_, in_, out_, best_);
        env_.publish(exposed);
        AccessPath worst = AccessPath::load_store;
        int owner = -1;   // the first rank with that access path, unless it is certain
        for (int peer = 0; peer < env_.size(); ++peer) {
            if (peer != env_.rank()) co_await env_.until(peer, exposed);
            if (AccessPath const access = env_.exposure(peer).access; access > worst) worst = access, owner = peer;
        }
        bool all = worst <= AccessPath::attach && map_buffers();
        if (worst == AccessPath::attach) {
            env_.publish(all ? reached : missed);
            for (int peer = 0; peer < env_.size(); ++peer) {
                if (peer != env_.rank()) co_await env_.until(peer, missed);
                all = all && env_.published(peer) == reached;
            }
        }
        if (all) co_return;
        co_await final_barrier();
        env_.refuse(owner);
    }

    /// The exposed buffers in this rank's address space; null if a rank exposes nothing.
    std::span<std::byte const* const> inputs() const { return inputs_; }
    std::span<std::byte* const> outputs() const { return outputs_; }

    /// The operands of all ranks from byte `at` on, in rank order, for a kernel.
    void const* const* operands(std::size_t at) { return operands(at, 0, env_.size()); }
    /// The operands of ranks [first, last).
    void const* const* operands(std::size_t at, int first, int last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
            operands_[i] = inputs_[i] + at;
        return operands_.data() + first;
    }

    /// Waits until all ranks have called this: until then they read or write what this rank exposes.
    Task final_barrier() {
        env_.ack(0, 1);
        // Begins with the next rank, so that not all ranks poll the same one.
        for (int i = 1, peer = env_.rank(); i < env_.size(); ++i) {
            if (++peer == env_.size()) peer = 0;
            co_await env_.until_ack(peer, 0, 1);
        }
    }

private:
    enum Step : std::uint64_t { exposed = 1, missed = 2, reached = 3 };

    /// Maps the buffers of all ranks. Returns false if one is out of reach.
    bool map_buffers() {
        for (int peer = 0; peer < env_.size(); ++peer) {
            auto const i = static_cast<std::size_t>(peer);
            Exposure const& peer_exposure = env_.exposure(peer);
            bool const is_self = peer == env_.rank();
            std::size_t const bytes = peer_exposure.bytes;
            env_.count_message(peer);
            if (peer_exposure.address)
                if (!(inputs_[i] = is_self ? in_.data() : env_.reach(peer, peer_exposure.address, bytes))) return false;
            if (peer_exposure.result)
                if (!(outputs_[i] = is_self ? out_.data() : env_.reach(peer, peer_exposure.result, bytes)))
                    return false;
        }
        return true;
    }

    Env& env_;
    std::span<std::byte const> in_;
    std::span<std::byte> out_;
    AccessPath best_;
    PooledVector<std::byte const*> inputs_;
    PooledVector<std::byte*> outputs_;
    PooledVector<void const*> operands_;
};

inline std::size_t element_bytes(ReduceArgs const& a) { return static_cast<std::size_t>(a.type->size()); }

/// Whole cache lines of elements: ranges that start at multiples of this keep two ranks from writing one cache line.
inline std::size_t range_granularity(std::size_t element) { return std::lcm(element, cache_line); }

/// The range of `bytes` bytes that one rank works on: equal shares of whole lines, none smaller than `smallest`.
struct Share {
    Share(std::size_t bytes, std::size_t element, int rank, int ranks, std::size_t smallest) {
        std::size_t const line = range_granularity(element), lines = (bytes + line - 1) / line,
                          parts = static_cast<std::size_t>(ranks);
        std::size_t const each = std::max({(lines + parts - 1) / parts, smallest / line, std::size_t{1}}) * line;
        first = std::min(bytes, each * static_cast<std::size_t>(rank));
        last = std::min(bytes, first + each);
    }
    std::size_t first, last;
};

/// The memory that a rank exposes for its operand and for its result.
inline std::span<std::byte const> exposed_operand(ReduceArgs const& a) { return {first_byte(operand(a)), a.bytes()}; }
inline std::span<std::byte> exposed_result(ReduceArgs const& a) { return {first_byte(result(a)), a.bytes()}; }

}   // namespace tutti::coll
