// SPDX-License-Identifier: BSD-3-Clause
// Broadcast through shared memory, flags and data down the same tree: the root copies slices into its shared memory,
// each leader from there into its own, every rank out to its user; acknowledgements come back up. Flat, or a leader for
// each socket (hierarchy=…). L + s/slice steps of each level's own slices; with l leaders (p + l − 1)·s bytes copied.
// Jain, Kaleem and others, SC 2018, as SMHC in XHC (Katevenis, Ploumidis, Marazakis), sections V.C and VI; slots for
// what fits into them, and slices, are ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/pulled_broadcast.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task smhc(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (bytes == 0 || env.size() == 1) co_return;
    std::size_t const half = env.staging_bytes() / 2 / cache_line * cache_line;
    ByteSteps const steps(bytes, cache_line);
    LeaderFlag<Env> flag(env, env.hierarchy(), a.root, FlagLayout::one);
    int const level = flag.parent() < 0 ? flag.led() - 1 : flag.level();
    Through const through = bytes <= env.slot_bytes() ? Through::slot : Through::ring;
    if (through == Through::ring) env.expose_staged();
    PulledBroadcast<Env> b(env, flag, steps,
                           {.target = a.data,
                            .bytes = bytes,
                            .through = through,
                            .chunk = steps.chunk(std::min(a.parameters.at(1, level), half / 2)),
                            .ring = half});
    if (flag.parent() < 0) co_await b.serve();
    co_await b.finish();
}

constexpr Parameter smhc_parameters[] = {
    hierarchy_parameter,
    {"slice", 16384, "bytes of a slice on each level, cut to a quarter of staging memory", ParameterKind::per_level}};
extern constinit const Algorithm<BcastArgs> smhc_algorithm = {
    "smhc",           "leaders copy slices into their shared memory, their teams from there",
    Family::baseline, "Jain et al., SC 2018, as SMHC in XHC, section V.C",
    requires_nothing, smhc_parameters,
    TUTTI_RUNS(smhc)};

}   // namespace tutti::coll::algorithms::bcast
