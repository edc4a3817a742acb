// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by recursive k-ing with messages: in step i groups of k ranks, k^i apart, exchange all they have and
// combine it in one pass; a rank beyond the highest power of k hands its operand to a proxy and gets the result
// from it. log_k(p) steps, two more with such extra ranks, of k − 1 messages of s bytes out and in. In rank order:
// then an extra rank is the neighbour of its proxy.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section IV.
#pragma once

#include "coll/blocks/messages/block_row.hpp"
#include "coll/blocks/messages/halving.hpp"
#include "coll/blocks/schedule/schedule.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

template <class Env>
class RecursiveKIng {
public:
    RecursiveKIng(Env& env, ReduceArgs const& a, int radix)
        : env_(env), a_(a), plan_(env.size(), radix, !a.op->commutative), position_(plan_.position(env.rank())),
          reducer_(env.traffic(), a), partial_(env, a, place_of_result(a, true)), messages_(env, partial_.element()) {}
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
                co_await m.receive(extra, bytes, partial_.adding(0, false));
                partial_.combined();
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
        auto const place = [&](int d) { return others_.get() + bytes * static_cast<std::size_t>(d); };
        PooledVector<int> peers(frames());
        PooledVector<void const*> operands(frames());
        for (int i = 1; i < k; ++i) peers.push_back(plan_.member_at(position_ + ((mine + i) % k - mine) * stride));
        for (int d = 0; d < k; ++d) operands.push_back(d == mine ? partial_.now() : place(d));
        co_await messages_.exchange_all(
            std::span<int const>(peers), [&](int) { return partial_.part(0, bytes); }, [&](int) { return bytes; },
            [&](int from) { return messages_.into(packed_buffer(place(digit(from)), bytes), 0); });
        reducer_.combine(operands.data(), k, partial_.sum(), bytes / partial_.element());
        partial_.combined();
    }

    Env& env_;
    ReduceArgs const& a_;
    RecursiveKIngPlan plan_;
    int position_;
    Reducer reducer_;
    Partial<Env> partial_;
    Messages<Env> messages_;
    PooledBytes others_;   ///< operands of a step, by the place of their rank in its group
};

template <class Env>
Task recursive_k_ing_allreduce(Env& env, ReduceArgs const& a, int radix) {
    if (a.bytes() == 0) co_return;
    RecursiveKIng<Env> king(env, a, radix);
    co_await king.run();
}

}   // namespace tutti::coll
