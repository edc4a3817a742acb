// SPDX-License-Identifier: BSD-3-Clause
// What recursive halving and doubling share: the selection of a power of two of participating ranks, and the reduction
// that halves the vector in each step until each participant has its part of the result. Also allreduce by recursive
// k-ing with messages. Rabenseifner (ICCS 2004); Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#pragma once

#include <array>
#include <bit>

#include "coll/blocks/block_row.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/schedule.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// The participants among p ranks: their number q is the largest power of two that is at most p. The first 2 (p − q)
/// ranks form pairs of neighbours; one rank of each pair participates and represents both, so that the participants
/// represent consecutive ranks, in order.
class Folding {
public:
    /// `preferred` always participates.
    explicit Folding(int ranks, int preferred = -1)
        : participants_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), pairs_(ranks - participants_),
          preferred_(preferred) {}

    int participants() const { return participants_; }
    int steps() const { return std::bit_width(static_cast<unsigned>(participants_)) - 1; }
    /// The other rank of a pair; −1: the rank is in no pair.
    int partner(int rank) const { return rank < 2 * pairs_ ? rank ^ 1 : -1; }
    bool participates(int rank) const { return rank_at(position(rank)) == rank; }
    int position(int rank) const { return rank < 2 * pairs_ ? rank / 2 : rank - pairs_; }
    /// The rank at a position, and the first rank that it represents; one past the last position is allowed.
    int rank_at(int position) const {
        return position >= pairs_ ? position + pairs_ : 2 * position + (preferred_ != 2 * position);
    }
    int first_at(int position) const { return position >= pairs_ ? position + pairs_ : 2 * position; }

private:
    int participants_, pairs_, preferred_;
};

/// How incoming data is combined: as it arrives, read where it is, or only after all of it has been received into
/// private memory, as programs on top of MPI_Recv must do. The latter moves two bytes more per byte combined.
enum class Combining : std::size_t { lean, copied };
inline constexpr Parameter combining_parameter = {
    "form", 0, "whether data is combined where the sender has it or received into private memory first",
    ParameterKind::keyword, "lean|copied"};

/// The packed vector of one rank during the reduction, and how incoming data is combined with it.
template <class Env>
class PartialResult {
public:
    /// The sum is built at `sum`, or in private memory if that is null.
    PartialResult(Env& env, ReduceArgs const& a, std::byte* sum = nullptr, Combining combining = Combining::lean)
        : reducer_(env.traffic(), a), element_(std::max<std::size_t>(1, reducer_.element_bytes())), sum_(sum),
          packed_operand_(a.type->dense(a.count)) {
        if (!sum_) own_ = PooledBytes(env.frames(), a.bytes()), sum_ = own_.get();
        current_ = packed_operand_ ? first_byte(operand(a)) : sum_;
        if (!packed_operand_) env.load(sum_, operand(a), 0, a.bytes());
        if (combining == Combining::copied) received_ = PooledBytes(env.frames(), a.bytes());
    }

    std::size_t element() const { return element_; }
    /// This rank's current value (at first its operand), and where the sum is built.
    std::byte const* current() const { return current_; }
    std::byte* sum() const { return sum_; }
    /// Makes the data at sum() this rank's current value, in which only the range that has been combined is valid.
    void use_sum() { current_ = sum_; }
    /// Builds the following sums at another address.
    void build_sum_at(std::byte* sum) { sum_ = sum; }
    MessagePart part(std::size_t first, std::size_t end) const { return packed_part(current_ + first, end - first); }

    /// Where incoming data is received before it is combined; null: it is combined as it arrives.
    std::byte* received() const { return received_.get(); }
    /// Combines incoming data for the bytes from `start` on; `from_lower`: the data comes from lower ranks.
    auto combiner(std::size_t start, bool from_lower) { return combiner(start, from_lower, sum_ + start); }
    /// The same, but the sum of these bytes is built at `to`.
    auto combiner(std::size_t start, bool from_lower, std::byte* to) {
        return [this, start, from_lower, to](std::byte const* from, std::size_t at, std::size_t n) {
            void const* operands[] = {current_ + start + at, from};
            if (from_lower) std::swap(operands[0], operands[1]);
            reducer_.combine(operands, 2, to + at, n / element_);
        };
    }

private:
    Reducer reducer_;
    std::size_t element_;
    std::byte* sum_;
    std::byte const* current_ = nullptr;
    bool packed_operand_;
    PooledBytes own_, received_;
};

/// Returns this rank's result buffer if the sum may be built there: if it is contiguous. Otherwise null.
inline std::byte* result_if_contiguous(ReduceArgs const& a, bool has_result) {
    return has_result && a.type->dense(a.count) ? first_byte(result(a)) : nullptr;
}

/// A range of bytes of a packed vector.
struct Range {
    std::size_t first = 0, end = 0;
    std::size_t bytes() const { return end - first; }
};

/// Exchanges data with a peer: sends the range `sent` of this rank's value, and combines the peer's data for the range
/// `kept` with it; at `to` unless that is null, otherwise as this rank's new value.
template <class Env>
Task exchange_and_combine(Env& env, Messages<Env>& m, PartialResult<Env>& partial, int peer, Range sent, Range kept,
                          bool from_lower, std::byte* to = nullptr) {
    auto combine = partial.combiner(kept.first, from_lower, to ? to : partial.sum() + kept.first);
    MessagePart const out = partial.part(sent.first, sent.end);
    std::size_t const bytes = kept.bytes();
    if (std::byte* const received = partial.received()) {
        co_await m.exchange(peer, out, peer, bytes, m.into(packed_buffer(received, bytes), 0));
        combine(received, 0, bytes);
    } else {
        co_await m.exchange(peer, out, peer, bytes, combine);
    }
    if (!to) partial.use_sum();
}

/// Ranks that do not participate send their operands to their neighbours, which combine them with their own.
template <class Env>
Task fold(Env& env, Messages<Env>& m, ReduceArgs const& a, Folding const& folding, PartialResult<Env>& partial) {
    int const partner = folding.partner(env.rank());
    if (partner < 0) co_return;
    if (!folding.participates(env.rank())) {
        co_await m.send(partner, {operand(a), 0, a.bytes()});
        co_return;
    }
    auto combine = partial.combiner(0, partner < env.rank());
    if (std::byte* const received = partial.received()) {
        co_await m.receive(partner, a.bytes(), m.into(packed_buffer(received, a.bytes()), 0));
        combine(received, 0, a.bytes());
    } else {
        co_await m.receive(partner, a.bytes(), combine);
    }
    partial.use_sum();
}

/// The reverse: a participant sends the result to the rank that it represents.
template <class Env>
Task unfold(Env& env, Messages<Env>& m, ReduceArgs const& a, Folding const& folding) {
    int const partner = folding.partner(env.rank());
    if (partner < 0) co_return;
    if (folding.participates(env.rank())) co_await m.send(partner, {result(a), 0, a.bytes()});
    else co_await m.receive(partner, a.bytes(), m.into(result(a), 0));
}

/// The ranges of a rank before each step of a halving, and after the last one. Doubling goes through them in
/// reverse, with the other halves.
struct HalvingRanges {
    std::array<Range, 32> ranges;
    int steps = 0;

    Range before(int step) const { return ranges[static_cast<std::size_t>(step)]; }
    Range kept(int step) const { return before(step + 1); }
    /// The range that the peer of this step has kept.
    Range sent(int step) const {
        Range const all = before(step), mine = kept(step);
        return mine.first == all.first ? Range{mine.end, all.end} : Range{all.first, mine.first};
    }
};

/// Vector halving and distance doubling: in step i, ranks 2^i apart each combine one half of their range. A rank always
/// holds the sum of consecutive ranks.
template <class Env>
Task halve(Env& env, Messages<Env>& m, Folding const& folding, PartialResult<Env>& partial, std::size_t bytes,
           HalvingRanges& halving) {
    int const position = folding.position(env.rank());
    halving.steps = folding.steps();
    halving.ranges[0] = {0, bytes};
    for (int step = 0; step < halving.steps; ++step) {
        Range const all = halving.before(step);
        std::size_t const middle = all.first + all.bytes() / partial.element() / 2 * partial.element();
        bool const lower = (position & 1 << step) == 0;
        halving.ranges[static_cast<std::size_t>(step) + 1] = lower ? Range{all.first, middle} : Range{middle, all.end};
        int const peer = folding.rank_at(position ^ 1 << step);
        Range const kept = halving.kept(step), sent = lower ? Range{middle, all.end} : Range{all.first, middle};
        co_await exchange_and_combine(env, m, partial, peer, sent, kept, !lower);
    }
}

/// Copies a rank's sum into its result unless it was built there.
template <class Env>
void deliver(Env& env, ReduceArgs const& a, PartialResult<Env> const& partial) {
    if (!a.type->dense(a.count) || partial.current() != first_byte(result(a)))
        env.store(result(a), 0, partial.current(), a.bytes());
}

/// Returns a callback that copies into private packed memory.
template <class Env>
auto copy_into(Env& env, std::byte* to) {
    return [&env, to](std::byte const* from, std::size_t at, std::size_t n) { env.copy(to + at, from, n, 0); };
}

// Allreduce by recursive k-ing with messages: in step i, groups of k ranks that are k^i apart exchange everything they
// have and combine it in one pass; a rank beyond the highest power of k sends its operand to a proxy and receives the
// result from it. log_k(p) steps, two more with such extra ranks; each step sends and receives k − 1 messages of s
// bytes. For operators that do not commute, an extra rank is the neighbour of its proxy, so that operands stay in rank
// order. Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV.

template <class Env>
class RecursiveKIng {
public:
    RecursiveKIng(Env& env, ReduceArgs const& a, int radix)
        : env_(env), a_(a), plan_(env.size(), radix, !a.op->commutative), position_(plan_.position(env.rank())),
          reducer_(env.traffic(), a), partial_(env, a, result_if_contiguous(a, true)),
          messages_(env, partial_.element()) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        Messages<Env>& m = messages_;
        std::size_t const bytes = a_.bytes();
        int const proxy = plan_.member_at(position_), extras = plan_.extras(position_);
        if (proxy != env_.rank()) {
            co_await m.send(proxy, {operand(a_), 0, bytes});
            co_await m.receive(proxy, bytes, m.into(result(a_), 0));
        } else {
            for (int i = 0; i < extras; ++i) {
                int const extra = plan_.extra(position_, i);
                co_await m.receive(extra, bytes, partial_.combiner(0, false));
                partial_.use_sum();
            }
            for (int step = 0, stride = 1; step < plan_.steps(); ++step, stride *= plan_.radix())
                co_await combine(stride);
            deliver(env_, a_, partial_);
            for (int i = 0; i < extras; ++i) co_await m.start(plan_.extra(position_, i), {result(a_), 0, bytes});
        }
        co_await m.close();
    }

private:
    Task combine(int stride) {
        int const k = plan_.radix(), mine = position_ / stride % k;
        std::size_t const bytes = a_.bytes();
        auto const digit = [&](int rank) { return plan_.position(rank) / stride % k; };
        if (!others_) others_ = PooledBytes(frames(), bytes * static_cast<std::size_t>(k));
        auto const operand_buffer = [&](int d) { return others_.get() + bytes * static_cast<std::size_t>(d); };
        PooledVector<int> peers(frames());
        PooledVector<void const*> operands(frames());
        for (int i = 1; i < k; ++i) peers.push_back(plan_.member_at(position_ + ((mine + i) % k - mine) * stride));
        for (int d = 0; d < k; ++d) operands.push_back(d == mine ? partial_.current() : operand_buffer(d));
        co_await messages_.exchange_all(
            peers, peers, [&](int) { return partial_.part(0, bytes); }, [&](int) { return bytes; },
            [&](int from) { return messages_.into(packed_buffer(operand_buffer(digit(from)), bytes), 0); });
        reducer_.combine(operands.data(), k, partial_.sum(), bytes / partial_.element());
        partial_.use_sum();
    }

    Env& env_;
    ReduceArgs const& a_;
    RecursiveKIngPlan plan_;
    int position_;
    Reducer reducer_;
    PartialResult<Env> partial_;
    Messages<Env> messages_;
    PooledBytes others_;   ///< operands of a step, by the position of their rank in its group
};

template <class Env>
Task recursive_k_ing_allreduce(Env& env, ReduceArgs const& a, int radix) {
    if (a.bytes() == 0) co_return;
    RecursiveKIng<Env> king(env, a, radix);
    co_await king.run();
}

}   // namespace tutti::coll
