// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts of XHC (xhc) and of a method that the XHC paper compares with (smhc).
//
// xhc: hierarchical, pull-based, pipelined with chunks of each level's own size; up to a threshold copied in and out of
// shared memory, above it by single copy; leaders wait for their members before they return. L + s/chunk steps, and one
// for the acknowledgements: a leader does not wait for its members before it acknowledges. (p − 1)·s bytes copied above
// the threshold; below it, with l leaders, (p + l − 1)·s.
// p − 1 messages per chunk; for every root and mapping, one of them into each team from outside of it.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A and C; flag layouts: sections III.E and V.D.1; single copy and
// the registration cache of section III.C: runtime/memory/single_copy.hpp and xpmem.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/pulled.hpp"

// smhc: flags and data follow the same tree through shared memory. The root copies slices into its shared memory, each
// leader copies from there into its own, and every rank copies out to its user buffer; acknowledgements return up the
// tree. Flat, or with a leader for each socket (hierarchy=…). L + s/slice steps of each level's own slices; with l
// leaders (p + l − 1)·s bytes copied.
// Jain, Kaleem and others, SC 2018, as SMHC in XHC (Katevenis, Ploumidis, Marazakis), sections V.C and VI; slots for
// small messages, and slices, are ours.

namespace tutti::coll::algorithms::bcast {
namespace {

/// The chunk of a level: a number of whole units that holds at most the message. Parameter 1 holds the requested sizes.
std::size_t chunk_of(BcastArgs const& a, ByteSteps const& steps, int level) {
    return steps.chunk(std::min(a.parameters.at(1, level), a.data.bytes()));
}
std::size_t largest_chunk(BcastArgs const& a, ByteSteps const& steps, int levels) {
    std::size_t largest = 0;
    for (int level = 0; level < levels; ++level) largest = std::max(largest, chunk_of(a, steps, level));
    return largest;
}

}   // namespace

template <class Env>
Task smhc(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (bytes == 0 || env.size() == 1) co_return;
    ByteSteps const steps(bytes, cache_line);
    std::size_t const largest = largest_chunk(a, steps, env.hierarchy().levels()),
                      ring = std::max(env.staging_bytes() / 2 / cache_line * cache_line, 2 * largest);
    LeaderFlag<Env> flag(env, env.hierarchy(), a.root, FlagLayout::one);
    int const level = flag.parent() < 0 ? flag.led_levels() - 1 : flag.level();
    LeaderMemory const memory = bytes <= env.slot_bytes() ? LeaderMemory::slot : LeaderMemory::ring;
    if (memory == LeaderMemory::ring) {
        env.reserve_staging(ring);
        env.expose_staged();
    }
    PulledBroadcast<Env> b(
        env, flag, steps,
        {.target = a.data, .bytes = bytes, .memory = memory, .chunk = chunk_of(a, steps, level), .ring = ring});
    if (flag.parent() < 0) co_await b.serve();
    co_await b.finish();
}

constexpr Parameter smhc_parameters[] = {hierarchy_parameter,
                                         {"slice", 16384, "bytes per slice on each level", ParameterKind::per_level}};
extern constinit const Algorithm<BcastArgs> smhc_algorithm = {
    "smhc",
    "leaders copy slices into their shared memory, and their teams copy from there",
    Family::baseline,
    "Jain et al., SC 2018, as SMHC in XHC, section V.C",
    requires_nothing,
    smhc_parameters,
    TUTTI_SHM_ONLY(smhc),
    {"2*(p + m - 1)*s"}};

template <class Env>
Task xhc(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (bytes == 0 || env.size() == 1) co_return;
    // Staging memory: a ring, a chunk from which to unpack, and the layout of a buffer with gaps.
    ByteSteps const steps(bytes, cache_line);
    std::size_t const quarter = env.staging_bytes() / 4 / cache_line * cache_line,
                      largest = std::max(quarter, largest_chunk(a, steps, env.hierarchy().levels()));
    env.reserve_staging(3 * largest + quarter);
    LeaderFlag<Env> flag(env, env.hierarchy(), a.root, static_cast<FlagLayout>(a.parameters[3]));
    int const level = flag.parent() < 0 ? flag.led_levels() - 1 : flag.level();

    LeaderMemory memory = LeaderMemory::slot;
    if (bytes > a.parameters[2]) {
        memory = expose_buffer(env, a.data, 3 * largest, quarter) == AccessPath::staged ? LeaderMemory::ring
                                                                                        : LeaderMemory::user;
    } else if (bytes > env.slot_bytes()) {
        env.expose_staged();
        memory = LeaderMemory::ring;
    }
    PulledBroadcast<Env> b(env, flag, steps,
                           {.target = a.data,
                            .bytes = bytes,
                            .memory = memory,
                            .chunk = chunk_of(a, steps, level),
                            .ring = 2 * largest,
                            .bounce = 2 * largest});
    if (flag.parent() < 0) co_await b.serve();
    co_await b.finish();
}

constexpr Parameter xhc_parameters[] = {
    hierarchy_parameter,
    chunk_parameter,
    cico_parameter,
    {"flags", 0,
     "as in the other algorithms of XHC; or atomic: one word per team, and acknowledgements by atomic addition",
     ParameterKind::keyword, "one|packed|apart|atomic"}};
extern constinit const Algorithm<BcastArgs> xhc_algorithm = {
    "xhc",
    "teams pull chunks of their level's size from their leader, which waits for all of them",
    Family::xhc,
    "Katevenis, Ploumidis, Marazakis: XHC, section IV.A",
    requires_copyable_buffers,
    xhc_parameters,
    TUTTI_SHM_ONLY(xhc),
    {"2*(cico < s ? p - 1 : p + m - 1)*s"}};

}   // namespace tutti::coll::algorithms::bcast
