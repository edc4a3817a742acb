// SPDX-License-Identifier: BSD-3-Clause
// The cost of neighbourhood collectives: flags and messages of neighbours only, for any number of ranks, and each byte
// copied once or twice.
#include <gmock/gmock.h>

#include <mutex>
#include <set>

#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll::test {
namespace {

constexpr int ranks = 16;
constexpr int degree = 4;

struct Cost {
    std::set<std::pair<int, int>> waits;                  ///< (waiting rank, owner of the flag)
    std::uint64_t loaded = 0, stored = 0, messages = 0;   ///< by all ranks
};

/// An alltoall of `bytes` bytes along each edge of a torus of 4 · 4 ranks.
Cost run_torus(char const* name, std::size_t bytes, AccessPath way) {
    AlgorithmRow const& algorithm = row_of(Collective::neighbor_alltoall, name);
    ThreadWorld world(ranks, topo::Hierarchy::build(ranks, {}), way);
    Cost cost;
    std::mutex mutex;
    world.on_wait = [&](int rank, int peer) {
        std::lock_guard lock(mutex);
        cost.waits.insert({rank, peer});
    };
    run_as_ranks(ranks, [&](int rank) {
        std::vector<int> const dims{4, 4};
        auto const edges = Neighborhood::of(CartTopology::make(dims, {true, true}, ranks, rank), rank, ranks);
        auto const type = TypeBuilder::predefined(Basic::byte_);
        std::vector<std::byte> out(degree * bytes, std::byte(rank)), in(out.size());
        NeighborAlltoallArgs args{};
        Values const values = defaults(algorithm).values;
        args.parameters = values;
        args.edges = edges.get();
        args.send = Parts::regular(out.data(), static_cast<std::int64_t>(bytes), *type);
        args.receive = Parts::regular(in.data(), static_cast<std::int64_t>(bytes), *type);
        args.part_bytes = bytes;
        FramePool frames;
        coll::run(world, rank, 1, frames, algorithm, args);
        for (int k = 0; k < degree; ++k) {
            CartTopology const grid = CartTopology::make(dims, {true, true}, ranks, rank);
            int const source = *grid.shifted(k / 2, k % 2 ? 1 : -1);
            EXPECT_EQ(in[static_cast<std::size_t>(k) * bytes], std::byte(source)) << rank << ", edge " << k;
        }
    });
    for (Traffic const& traffic : world.traffic) {
        cost.loaded += traffic.loaded.read();
        cost.stored += traffic.stored.read();
        for (auto const& messages : traffic.messages) cost.messages += messages.read();
    }
    return cost;
}

std::set<std::pair<int, int>> neighbors() {
    std::set<std::pair<int, int>> all;
    for (int rank = 0; rank < ranks; ++rank)
        for (int k = 0; k < degree; ++k)
            all.insert(
                {rank,
                 *CartTopology::make(std::vector{4, 4}, {true, true}, ranks, rank).shifted(k / 2, k % 2 ? 1 : -1)});
    return all;
}

constexpr std::uint64_t edges = ranks * degree;

TEST(NeighborExchange, WaitsForNeighborsOnly) {
    for (char const* algorithm : {"direct", "linear"})
        for (AccessPath way : {AccessPath::load_store, AccessPath::cma, AccessPath::staged})
            for (std::size_t bytes : {8, 4000, 100000}) {
                Cost const cost = run_torus(algorithm, bytes, way);
                EXPECT_EQ(cost.waits, neighbors())
                    << algorithm << ", " << bytes << " bytes, access path " << static_cast<int>(way);
            }
}

TEST(NeighborExchange, SmallBlocksAreSentThroughSlotsInOneMessageEach) {
    Cost const cost = run_torus("direct", 8, AccessPath::staged);
    EXPECT_EQ(cost.messages, edges);
    EXPECT_EQ(cost.stored, 2 * 8 * edges);
}

TEST(NeighborExchange, LargeBlocksAreCopiedOnceIfDirectlyReadable) {
    Cost const direct = run_torus("direct", 100000, AccessPath::load_store);
    EXPECT_EQ(direct.messages, edges);
    EXPECT_EQ(direct.stored, 100000 * edges);
    Cost const staged = run_torus("direct", 100000, AccessPath::staged);
    EXPECT_EQ(staged.stored, 2 * 100000 * edges);
}

}   // namespace
}   // namespace tutti::coll::test
