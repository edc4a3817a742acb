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

namespace tutti::coll {

template <class Env>
class RecursiveKIng {
public:
    RecursiveKIng(Env& env, ReduceArgs const& a, int radix)
        : a_(a), plan_(env.size(), radix, !a.op->commutative), position_(plan_.position(env.rank())),
          reducer_(env.traffic(), a), partial_(env, a, place_of_result(a, true)), messages_(env, partial_.element()) {}
    FramePool& frames() { return messages_.frames(); }

    static Task run(Env& env, RecursiveKIng& king) {
        Messages<Env>& m = king.messages_;
        std::size_t const bytes = king.a_.bytes();
        int const proxy = king.plan_.member_at(king.position_), extras = king.plan_.extras(king.position_);
        if (proxy != env.rank()) {
            co_await Messages<Env>::send(env, m, proxy, {operand(king.a_), 0, bytes});
            co_await Messages<Env>::receive(env, m, proxy, bytes, m.into(result(king.a_), 0));
        } else {
            for (int i = 0; i < extras; ++i) {
                int const extra = king.plan_.extra(king.position_, i);
                co_await Messages<Env>::receive(env, m, extra, bytes, king.partial_.adding(0, false));
                king.partial_.combined();
            }
            for (int step = 0, stride = 1; step < king.plan_.steps(); ++step, stride *= king.plan_.radix())
                co_await king.combine(env, king, stride);
            deliver(env, king.a_, king.partial_);
            for (int i = 0; i < extras; ++i)
                co_await Messages<Env>::start(env, m, king.plan_.extra(king.position_, i), {result(king.a_), 0, bytes});
        }
        co_await Messages<Env>::close(env, m);
    }

private:
    static Task combine(Env& env, RecursiveKIng& king, int stride) {
        int const k = king.plan_.radix(), mine = king.position_ / stride % k;
        std::size_t const bytes = king.a_.bytes();
        auto const digit = [&](int rank) { return king.plan_.position(rank) / stride % k; };
        if (!king.others_) king.others_.reset(new std::byte[bytes * static_cast<std::size_t>(k)]);
        auto const place = [&](int d) { return king.others_.get() + bytes * static_cast<std::size_t>(d); };
        std::vector<int> peers;
        std::vector<void const*> operands;
        for (int i = 1; i < k; ++i)
            peers.push_back(king.plan_.member_at(king.position_ + ((mine + i) % k - mine) * stride));
        for (int d = 0; d < k; ++d) operands.push_back(d == mine ? king.partial_.now() : place(d));
        co_await Messages<Env>::exchange_all(
            env, king.messages_, std::span<int const>(peers), [&](int) { return king.partial_.part(0, bytes); },
            [&](int) { return bytes; },
            [&](int from) { return king.messages_.into(packed_buffer(place(digit(from)), bytes), 0); });
        king.reducer_.combine(operands.data(), k, king.partial_.sum(), bytes / king.partial_.element());
        king.partial_.combined();
    }

    ReduceArgs const& a_;
    RecursiveKIngPlan plan_;
    int position_;
    Reducer reducer_;
    Partial<Env> partial_;
    Messages<Env> messages_;
    std::unique_ptr<std::byte[]> others_;   ///< operands of a step, by the place of their rank in its group
};

template <class Env>
Task recursive_k_ing_allreduce(Env& env, ReduceArgs const& a, int radix) {
    if (a.bytes() == 0) co_return;
    RecursiveKIng<Env> king(env, a, radix);
    co_await RecursiveKIng<Env>::run(env, king);
}

}  // namespace tutti::coll
