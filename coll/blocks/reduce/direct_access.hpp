// SPDX-License-Identifier: BSD-3-Clause
// What reductions by direct access share: the agreement that every rank can load and store in the buffers of all
// others, and the division of the work by index range. One exchange; a second one only where XPMEM is among the ways.
//
// Why no two ranks disagree: each publishes the way to its buffers with step `shown` and sees all ways before it
// decides. All direct: granted, and then reach gives every rank a pointer to everything. One that is neither direct nor
// to be attached to: not granted. Otherwise every rank tries, publishes what came of it (`missed`, `reached`, the last
// step of its cell), sees everybody's, and grants only what all have reached. What follows, direct or not, uses the
// counters of levels alone, and changes of what is shown only the staging memory's place, which nobody reads here.
#pragma once

#include <numeric>
#include <span>

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/env/env.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// Who takes part: ranks [first, last) and perhaps one more.
struct Participants {
    int first, last, other = -1;

    int count() const { return last - first + (other >= 0); }
    int operator[](int i) const { return i < last - first ? first + i : other; }
};

template <class Env>
class DirectAccess {
public:
    /// Peers load from `in` and store to `out`; nothing where they do not.
    DirectAccess(Env& env, std::span<std::byte const> in, std::span<std::byte> out)
        : DirectAccess(env, in, out, {0, env.size()}) {}
    DirectAccess(Env& env, std::span<std::byte const> in, std::span<std::byte> out, Participants who)
        : env_(env), in_(in), out_(out), who_(who), ins_(static_cast<std::size_t>(env.size()), env.frames()),
          outs_(ins_.size(), env.frames()), operands_(ins_.size(), env.frames()) {}

    FramePool& frames() { return env_.frames(); }
    /// Shows the buffers and comes to the agreement.
    Task agree() {
        env_.expose_both(in_, out_);
        env_.publish(shown);
        bool certain = true, possible = true;
        for (int i = 0; i < who_.count(); ++i) {
            int const peer = who_[i];
            if (peer != env_.rank()) co_await env_.until(peer, shown);
            AccessPath const way = env_.exposure(peer).way;
            certain = certain && way == AccessPath::load_store;
            possible = possible && way <= AccessPath::attach;
        }
        if (!possible) co_return;
        bool all = reach();
        if (!certain) {
            env_.publish(all ? reached : missed);
            for (int i = 0; i < who_.count(); ++i) {
                int const peer = who_[i];
                if (peer != env_.rank()) co_await env_.until(peer, missed);
                all = all && env_.published(peer) == reached;
            }
        }
        granted_ = all;
    }

    bool granted() const { return granted_; }
    /// What the ranks show, as this rank reaches it; null where one shows nothing.
    std::span<std::byte const* const> ins() const { return ins_; }
    std::span<std::byte* const> outs() const { return outs_; }

    /// Everybody's operands from byte `at` on, in rank order, for a kernel.
    void const* const* operands(std::size_t at) { return operands(at, 0, env_.size()); }
    /// Those of ranks [first, last).
    void const* const* operands(std::size_t at, int first, int last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
            operands_[i] = ins_[i] + at;
        return operands_.data() + first;
    }

    /// Nobody returns before all ranks have come here: until then they read or write what this one has shown.
    Task leave_together() {
        env_.ack(0, 1);
        for (int i = 0, k = env_.rank(), n = who_.count(); i < n; ++i) {   // the next one first: not all the same
            if (++k >= n) k = 0;
            if (who_[k] != env_.rank()) co_await env_.until_ack(who_[k], 0, 1);
        }
    }

private:
    enum Step : std::uint64_t { shown = 1, missed = 2, reached = 3 };

    /// Finds everybody's buffers; false when one is out of reach. All ranks show equally many bytes, or none.
    bool reach() {
        std::size_t const bytes = std::max(in_.size(), out_.size());
        for (int k = 0; k < who_.count(); ++k) {
            int const peer = who_[k];
            auto const i = static_cast<std::size_t>(peer);
            Exposure const& theirs = env_.exposure(peer);
            bool const mine = peer == env_.rank();
            env_.count_message(peer);
            if (theirs.address)
                if (!(ins_[i] = mine ? in_.data() : env_.reach(peer, theirs.address, bytes))) return false;
            if (theirs.result)
                if (!(outs_[i] = mine ? out_.data() : env_.reach(peer, theirs.result, bytes))) return false;
        }
        return true;
    }

    Env& env_;
    std::span<std::byte const> in_;
    std::span<std::byte> out_;
    Participants who_;
    PooledVector<std::byte const*> ins_;
    PooledVector<std::byte*> outs_;
    PooledVector<void const*> operands_;
    bool granted_ = false;
};

inline std::size_t element_bytes(ReduceArgs const& a) { return static_cast<std::size_t>(a.type->size()); }

/// Whole lines of elements: ranges that start there keep two ranks from writing one line.
inline std::size_t line_of(std::size_t element) { return std::lcm(element, cache_line); }

/// The range of `bytes` bytes that one of the ranks works on: equal shares of whole lines, none below `smallest`.
struct Share {
    Share(std::size_t bytes, std::size_t element, int rank, int ranks, std::size_t smallest) {
        std::size_t const line = line_of(element), lines = (bytes + line - 1) / line,
                          parts = static_cast<std::size_t>(ranks);
        std::size_t const each = std::max({(lines + parts - 1) / parts, smallest / line, std::size_t{1}}) * line;
        first = std::min(bytes, each * static_cast<std::size_t>(rank));
        last = std::min(bytes, first + each);
    }
    std::size_t first, last;
};

/// What a rank shows of its operand and of its result.
inline std::span<std::byte const> shown_operand(ReduceArgs const& a) { return {first_byte(operand(a)), a.bytes()}; }
inline std::span<std::byte> shown_result(ReduceArgs const& a) { return {first_byte(result(a)), a.bytes()}; }

}   // namespace tutti::coll
