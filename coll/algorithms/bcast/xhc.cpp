// SPDX-License-Identifier: BSD-3-Clause
// Broadcast of XHC: hierarchical, pull-based and pipelined with chunks of each level's own size; up to a threshold
// copied in and out of shared memory, above in a single copy; leaders wait for their members before they return.
// L + s/chunk steps, L of them back. (p − 1)·s bytes copied above the threshold; below, with l leaders, (p + l − 1)·s.
// p − 1 messages per chunk, for every root and mapping one into each team from outside of it.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A and C; flag layouts: section V.D.1.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/pulled_broadcast.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task xhc(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (bytes == 0 || env.size() == 1) co_return;
    // Staging memory: the ring in the first half, a chunk to unpack from, a layout with gaps written down.
    std::size_t const quarter = env.staging_bytes() / 4 / cache_line * cache_line;
    ByteSteps const steps(bytes, cache_line);
    LeaderFlag<Env> flag(env, env.hierarchy(), a.root, static_cast<FlagLayout>(a.parameters[3]));
    int const level = flag.parent() < 0 ? flag.led() - 1 : flag.level();
    std::size_t const chunk = steps.chunk(std::min(a.parameters.at(1, level), quarter));

    Through through = Through::slot;
    if (bytes > a.parameters[2]) {
        through = env.expose(a.data, 3 * quarter, quarter) == AccessPath::staged ? Through::ring : Through::user;
    } else if (bytes > env.slot_bytes()) {
        env.expose_staged();
        through = Through::ring;
    }
    PulledBroadcast<Env> b(env, flag, steps,
                           {.target = a.data,
                            .bytes = bytes,
                            .through = through,
                            .chunk = chunk,
                            .ring = 2 * quarter,
                            .bounce = 2 * quarter});
    if (flag.parent() < 0) co_await b.serve();
    co_await b.finish();
}

constexpr Parameter xhc_parameters[] = {hierarchy_parameter, chunk_parameter, cico_parameter, flags_parameter};
extern constinit const Algorithm<BcastArgs> xhc_algorithm = {
    "xhc",
    "every team pulls chunks of its level's size from its leader, who waits until all have them",
    Family::xhc,
    "Katevenis, Ploumidis, Marazakis: XHC, section IV.A",
    requires_nothing,
    xhc_parameters,
    TUTTI_RUNS(xhc)};

}   // namespace tutti::coll::algorithms::bcast
