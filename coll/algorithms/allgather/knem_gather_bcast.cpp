// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) as gather and broadcast: all write their parts into the memory of rank 0, at the same time; when all are
// there, everybody copies the others' from there, at the same time. Small parts go by recursive doubling.
// Four steps. Bytes per rank: n written and (p − 1)·n read, all of them from or to the memory of rank 0.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/part_streams.hpp"
#include "coll/blocks/exchange/sender_writing.hpp"
#include "coll/blocks/messages/block_row.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

constexpr int root = 0;
enum Answer : std::uint64_t { has_them = 1, wants_stream = 2 };   // of a leaf in ack[0]

/// Copies the others' parts from the root's buffers; false when the system refuses one.
template <class Env>
bool read_from_root(Env& env, AllgatherArgs const& a, Writing<Env>& w, std::size_t working_set) {
    for (int part = 0; part < env.size(); ++part) {
        Entry const& e = w.place(root, part);
        if (part == env.rank() || e.bytes == 0) continue;
        if (!e.shown()) return false;
        if (!fetch_part(env, root, e, a.parts[part], w.staging().bounce(), working_set, w.truncation())) return false;
    }
    return true;
}

}   // namespace

template <class Env>
Task knem_gather_bcast(Env& env, AllgatherArgs const& a) {
    if (a.largest < a.parameters[0]) {
        co_await doubling_allgather(env, a);
        co_return;
    }
    int const size = env.size(), rank = env.rank();
    std::size_t const working_set = a.largest * static_cast<std::size_t>(size * (size + 1));
    Buffer const mine = a.is_in_place ? a.parts[rank] : a.mine;
    Sides const sides{.pattern = Pattern::to_root,
                      .root = root,
                      .out = Parts::same(mine.address, mine.count, *mine.type),
                      .in = a.parts};
    Writing<Env> w(env, sides, a.parameters[0], a.parameters[1]);
    co_await w.run(a.is_in_place ? nullptr : &a.mine);

    std::vector<int> readers;
    std::vector<PartStream> streams;
    PartStream const all{root, 0, size};
    if (rank == root) {
        env.ready(0, 1);
        for (int leaf = 1; leaf < size; ++leaf) {
            co_await env.until_ack(leaf, 0, has_them);
            if (env.acked(leaf, 0) == wants_stream) readers.push_back(leaf);
        }
    } else {
        co_await env.until_ready(root, 0, 1);
        bool const done = read_from_root(env, a, w, working_set);
        if (!done) streams.push_back(all);
        env.ack(0, done ? has_them : wants_stream);
    }
    KnownParts<Env> parts{a, w.staging(), w.truncation()};
    PartStreams<Env, KnownParts<Env>> s(env, parts, w.staging());
    co_await s.run(all, readers, streams);
    w.check();
}

extern constinit const Algorithm<AllgatherArgs> knem_gather_bcast_algorithm = {
    "knem_gather_bcast",
    "all write into the memory of rank 0, then all read from there",
    Family::knem_coll,
    "KNEM-Coll, section V.C",
    requires_nothing,
    knem_movement_parameters,
    TUTTI_RUNS(knem_gather_bcast)};

}   // namespace tutti::coll::algorithms::allgather
