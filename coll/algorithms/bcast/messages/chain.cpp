// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along a chain of all ranks from the root on, in segments: a rank gets segment k while it hands on k − 1.
// p − 2 + s/segment steps. Bytes: s per receiver by single copy, else 2s.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task chain(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), place = (env.rank() - a.root + size) % size;
    int const last = (env.rank() + size - 1) % size, next = (env.rank() + 1) % size;
    bool const receives = place > 0, sends = place + 1 < size;
    std::size_t const bytes = a.data.bytes(), working_set = bytes * static_cast<std::size_t>(size);
    std::size_t const segment = std::max<std::size_t>(1, a.parameters[0]);
    MessagePart out{a.data, 0, 0}, in{a.data, 0, std::min(segment, bytes)};
    while (out.bytes + in.bytes > 0) {
        auto use = m.into(a.data, in.at, working_set);
        bool const sending = sends && out.bytes > 0, receiving = receives && in.bytes > 0;
        if (sending && receiving) co_await m.exchange(next, out, last, in.bytes, use);
        else if (sending) co_await m.send(next, out);
        else if (receiving) co_await m.receive(last, in.bytes, use);
        if (receiving) truncation.compare(last, m.received(last), in.bytes);
        out = in;
        in.at += in.bytes;
        in.bytes = std::min(segment, bytes - in.at);
    }
    co_await m.close();
    truncation.check(env);
}

constexpr Parameter chain_parameters[] = {{"segment", 65536, "bytes that are handed on at a time"}};
extern constinit const Algorithm<BcastArgs> chain_algorithm = {
    "chain",
    "every rank hands segments on to the next one",
    Family::baseline,
    "folklore; Pjesivac-Grbovic and others, Cluster Computing 2007",
    requires_nothing,
    chain_parameters,
    TUTTI_RUNS_ANYWHERE(chain)};

}   // namespace tutti::coll::algorithms::bcast
