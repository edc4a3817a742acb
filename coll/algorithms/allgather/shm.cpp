// SPDX-License-Identifier: BSD-3-Clause
// Tutti's allgather(v) in shared memory: receiver_reading and sender_writing.
//
// receiver_reading: every rank publishes where its part is and obtains all others, from rank + 1 on. Small parts are
// copied through the slots, without waiting for their readers. Large parts are read from their owners' memory or, in
// operations that suspend, copied by the rank that is ready first. p − 1 steps. Bytes per rank: n in and (p − 1) n out
// for small parts, (p − 1) n for large ones.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/gathering.hpp"
#include "coll/blocks/packed.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

template <class Env>
Task exchange_parts(Env& env, AllgatherArgs const& a) {
    AllgatherParts<Env> g(env, a);
    g.post();
    if (!a.is_in_place) g.copy_own();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        g.receive(peer);
    }
    if (g.unfinished()) co_await g.finish();
    g.check();
}

}   // namespace

template <class Env>
Task receiver_reading(Env& env, AllgatherArgs const& a) {
    if (fits_packed(env, a)) return packed_allgather(env, a);
    return uses_either_side(env, a) ? allgather_by_either_side(env, a) : exchange_parts(env, a);
}

extern constinit const Algorithm<AllgatherArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts are copied through slots, large ones are read from their owners by all ranks",
    Family::tutti,
    "Tutti",
    requires_nothing,
    movement_parameters,
    TUTTI_SHM_ONLY(receiver_reading),
    {"2*(slot < copyable*s ? p : p + 1)*p*s"}};

// sender_writing: every rank publishes the destinations of all parts and writes its own part into the buffers of all
// others, a grain at a time, so that each part is loaded from memory once instead of p times. Applies to large parts in
// arenas; others are read by their receivers as in receiver_reading. Two steps. Bytes per rank: p·n stored, n loaded
// (and p·n from cache).

namespace {

template <class Env>
Task write_to_all(Env& env, AllgatherArgs const& a) {
    AllgatherParts<Env> g(env, a, true);
    g.post();
    for (int peer = 0; peer < env.size(); ++peer)
        if (peer != env.rank()) co_await env.until(peer);
    g.write(a.parameters[3]);
    for (int i = 1; i < env.size(); ++i) g.receive((env.rank() + i) % env.size());
    if (g.unfinished()) co_await g.finish();
    g.check();
}

}   // namespace

/// With two ranks in an operation that suspends, the rank that waits while the other computes copies for both, and
/// nothing is loaded twice.
template <class Env>
Task sender_writing(Env& env, AllgatherArgs const& a) {
    return env.size() == 2 && uses_either_side(env, a) ? allgather_by_either_side(env, a) : write_to_all(env, a);
}

constexpr Parameter sender_writing_parameters[] = {
    direct_parameter,
    piece_parameter,
    cma_parameter,
    {"grain", 16384, "bytes written to all ranks before the next bytes are loaded"}};
extern constinit const Algorithm<AllgatherArgs> sender_writing_algorithm = {
    "sender_writing",
    "every rank writes its part into the buffers of all other ranks",
    Family::tutti,
    "Tutti",
    requires_nothing,
    sender_writing_parameters,
    TUTTI_SHM_ONLY(sender_writing),
    {"2*(copyable*s < direct ? p + 1 : p)*p*s"}};

}   // namespace tutti::coll::algorithms::allgather
