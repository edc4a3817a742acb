// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) in p − 1 steps: in step i with rank xor i where p is a power of two, else to rank + i, from rank − i.
// In place two ranks always exchange with each other: in step i those whose numbers add up to i (mod p).
// Bytes: n per part by single copy, else 2n; always 2n in place.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "All-to-All" (long messages).
#include <bit>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task pairwise(Env& env, AlltoallArgs const& a) {
    Messages<Env> m = alltoall_messages(env, a);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    std::size_t const part = a.receive[rank].bytes(), all = all_to_all_bytes(part, size);
    bool const power = std::has_single_bit(static_cast<unsigned>(size));
    if (!a.is_in_place) deliver_own(env, a.receive[rank], a.send[rank], all, truncation);
    for (int step = 0; step < size; ++step) {
        int const meet = (step - rank + size) % size;
        int const to = a.is_in_place ? meet : power ? rank ^ step : (rank + step) % size;
        int const from = a.is_in_place ? meet : power ? rank ^ step : (rank - step + size) % size;
        if (to == rank) continue;
        Buffer const out = outgoing(a, to), in = a.receive[from];
        co_await m.exchange(to, {out, 0, out.bytes()}, from, in.bytes(), m.into(in, 0, all));
        truncation.compare(from, m.received(from), in.bytes());
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<AlltoallArgs> pairwise_algorithm = {
    "pairwise",
    "one peer after the other, another one at every rank",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, All-to-All (long messages)",
    requires_nothing,
    {},
    TUTTI_RUNS_ANYWHERE(pairwise)};

}   // namespace tutti::coll::algorithms::alltoall
