// SPDX-License-Identifier: BSD-3-Clause
// What recursive halving and doubling share: a power of two of ranks that take part, and the reduction that halves the
// vector from step to step until each of them has its part of the result.
// Rabenseifner (ICCS 2004); Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#pragma once

#include <array>
#include <bit>

#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// With p ranks the largest power of two of them take part. Of the first 2 (p − that many) ranks one of each pair of
/// neighbours does and stands for both, so that those who take part stand for consecutive ranks, in order.
class Folding {
public:
    /// `chosen` takes part in any case.
    explicit Folding(int ranks, int chosen = -1)
        : participants_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), pairs_(ranks - participants_),
          chosen_(chosen) {}

    int participants() const { return participants_; }
    int steps() const { return std::bit_width(static_cast<unsigned>(participants_)) - 1; }
    /// The other one of a pair; −1: the rank is in none.
    int partner(int rank) const { return rank < 2 * pairs_ ? rank ^ 1 : -1; }
    bool takes_part(int rank) const { return rank_at(position(rank)) == rank; }
    int position(int rank) const { return rank < 2 * pairs_ ? rank / 2 : rank - pairs_; }
    /// The rank at a position, and the first one that it stands for; one past the last position is allowed.
    int rank_at(int position) const {
        return position >= pairs_ ? position + pairs_ : 2 * position + (chosen_ != 2 * position);
    }
    int first_at(int position) const { return position >= pairs_ ? position + pairs_ : 2 * position; }

private:
    int participants_, pairs_, chosen_;
};

/// The vector of one rank while it is reduced: where it lies packed, and the combining of what comes in.
template <class Env>
class Partial {
public:
    /// The sum is built at `sum`; without it in memory of its own.
    Partial(Env& env, ReduceArgs const& a, std::byte* sum = nullptr)
        : reducer_(env.traffic(), a), element_(std::max<std::size_t>(1, reducer_.element_bytes())), sum_(sum),
          packed_operand_(a.type->dense(a.count)) {
        if (!sum_) own_ = PooledBytes(env.frames(), a.bytes()), sum_ = own_.get();
        now_ = packed_operand_ ? first_byte(operand(a)) : sum_;
        if (!packed_operand_) env.load(sum_, operand(a), 0, a.bytes());
    }

    std::size_t element() const { return element_; }
    /// What this rank has so far (its operand at first), and where it is to be built.
    std::byte const* now() const { return now_; }
    std::byte* sum() const { return sum_; }
    /// From now on this rank has what lies at sum(): only what has been combined counts.
    void combined() { now_ = sum_; }
    /// What is combined next goes to another place.
    void build_at(std::byte* sum) { sum_ = sum; }
    MessagePart part(std::size_t first, std::size_t end) const { return packed_part(now_ + first, end - first); }

    /// Takes what comes in for the bytes from `start` on; `before`: it is of lower ranks.
    auto adding(std::size_t start, bool before) {
        return [this, start, before](std::byte const* from, std::size_t at, std::size_t n) {
            void const* operands[] = {now_ + start + at, from};
            if (before) std::swap(operands[0], operands[1]);
            reducer_.combine(operands, 2, sum_ + start + at, n / element_);
        };
    }

private:
    Reducer reducer_;
    std::size_t element_;
    std::byte* sum_;
    std::byte const* now_ = nullptr;
    bool packed_operand_;
    PooledBytes own_;
};

/// Where this rank may build the sum: in its result if that lies in one piece.
inline std::byte* place_of_result(ReduceArgs const& a, bool has_result) {
    return has_result && a.type->dense(a.count) ? first_byte(result(a)) : nullptr;
}

/// Ranks that do not take part hand their operands to their neighbours, who combine them with theirs.
template <class Env>
Task fold(Env& env, Messages<Env>& m, ReduceArgs const& a, Folding const& folding, Partial<Env>& partial) {
    int const partner = folding.partner(env.rank());
    if (partner < 0) co_return;
    if (!folding.takes_part(env.rank())) {
        co_await m.send(partner, {operand(a), 0, a.bytes()});
        co_return;
    }
    co_await m.receive(partner, a.bytes(), partial.adding(0, partner < env.rank()));
    partial.combined();
}

/// The way back: who has taken part gives its result to the rank that it has stood for as well.
template <class Env>
Task unfold(Env& env, Messages<Env>& m, ReduceArgs const& a, Folding const& folding) {
    int const partner = folding.partner(env.rank());
    if (partner < 0) co_return;
    if (folding.takes_part(env.rank())) co_await m.send(partner, {result(a), 0, a.bytes()});
    else co_await m.receive(partner, a.bytes(), m.into(result(a), 0));
}

/// Bytes of a packed vector.
struct Range {
    std::size_t first = 0, end = 0;
    std::size_t bytes() const { return end - first; }
};

/// What a rank had before each step of a halving, and after the last one; the way is gone back with the other halves.
struct HalvingWay {
    std::array<Range, 32> had;
    int steps = 0;

    Range before(int step) const { return had[static_cast<std::size_t>(step)]; }
    Range kept(int step) const { return before(step + 1); }
    /// What the peer of the step has kept.
    Range given(int step) const {
        Range const all = before(step), mine = kept(step);
        return mine.first == all.first ? Range{mine.end, all.end} : Range{all.first, mine.first};
    }
};

/// Vector halving and distance doubling: in step i the ranks 2^i apart combine one half each of what they have. What a
/// rank holds is always the sum of consecutive ranks.
template <class Env>
Task halve(Env& env, Messages<Env>& m, Folding const& folding, Partial<Env>& partial, std::size_t bytes,
           HalvingWay& way) {
    int const position = folding.position(env.rank());
    way.steps = folding.steps();
    way.had[0] = {0, bytes};
    for (int step = 0; step < way.steps; ++step) {
        Range const all = way.before(step);
        std::size_t const middle = all.first + all.bytes() / partial.element() / 2 * partial.element();
        bool const lower = (position & 1 << step) == 0;
        way.had[static_cast<std::size_t>(step) + 1] = lower ? Range{all.first, middle} : Range{middle, all.end};
        int const peer = folding.rank_at(position ^ 1 << step);
        Range const kept = way.kept(step), given = lower ? Range{middle, all.end} : Range{all.first, middle};
        co_await m.exchange(peer, partial.part(given.first, given.end), peer, kept.bytes(),
                            partial.adding(kept.first, !lower));
        partial.combined();
    }
}

/// Puts a rank's sum into its result unless it has been built there.
template <class Env>
void deliver(Env& env, ReduceArgs const& a, Partial<Env> const& partial) {
    if (!a.type->dense(a.count) || partial.now() != first_byte(result(a)))
        env.store(result(a), 0, partial.now(), a.bytes());
}

/// A copy into packed memory of an algorithm's own.
template <class Env>
auto copying(Env& env, std::byte* to) {
    return [&env, to](std::byte const* from, std::size_t at, std::size_t n) { env.copy(to + at, from, n, 0); };
}

}   // namespace tutti::coll
