// SPDX-License-Identifier: BSD-3-Clause
// Data volume of algorithms whose messages cross nodes. The sender of a message loads each byte and the receiver stores
// it, on whichever nodes they are; other copies and combinations count as on one node. The messages to other nodes and
// their bytes must equal those of the algorithm's scheme.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {
namespace {

struct Sum {
    std::uint64_t loaded = 0, stored = 0, messages = 0, bytes = 0;   ///< the last two: to other nodes
    bool operator==(Sum const&) const = default;
};
std::ostream& operator<<(std::ostream& out, Sum const& s) {
    return out << s.loaded << " bytes loaded, " << s.stored << " stored, " << s.messages << " messages with " << s.bytes
               << " bytes to other nodes";
}

using Nodes = std::vector<int>;   // by rank

class NodesBytes : public testing::TestWithParam<Nodes> {
protected:
    void SetUp() override {
        Variables variables;
        variables.wait = "shared";
        variables.coll =
            "bcast=binomial,allreduce=recursive_doubling,allgather=ring,alltoall=pairwise,gather=linear,"
            "scatter=binomial";
        world.emplace(GetParam(), variables);
    }
    void TearDown() override {
        std::vector<std::thread> threads;
        for (int r = 0; r < ranks(); ++r) threads.emplace_back([&, r] { world->leave(r); });
        for (auto& t : threads) t.join();
    }

    int ranks() const { return static_cast<int>(GetParam().size()); }
    std::uint64_t p() const { return GetParam().size(); }
    bool cross(int a, int b) const {
        return GetParam()[static_cast<std::size_t>(a)] != GetParam()[static_cast<std::size_t>(b)];
    }
    Sum now() {
        Sum sum;
        for (int r = 0; r < ranks(); ++r) {
            Traffic const& t = world->process(r).rank_state().traffic;
            sum.loaded += t.loaded.read();
            sum.stored += t.stored.read();
            sum.messages += t.messages[static_cast<int>(topo::Locality::network)].read();
            sum.bytes += t.to_nodes.read();
        }
        return sum;
    }
    /// Data volume of one call of `body` by all ranks.
    Sum moved(std::function<void(Comm&)> const& body) {
        Sum const before = now();
        std::vector<std::thread> threads;
        for (int r = 0; r < ranks(); ++r)
            threads.emplace_back([&, r] {
                body(world->comm(r));
                p2p::drain_sends(world->process(r), "the test");
            });
        for (auto& t : threads) t.join();
        Sum const after = now();
        return {after.loaded - before.loaded, after.stored - before.stored, after.messages - before.messages,
                after.bytes - before.bytes};
    }
    /// `number` copies of `bytes` bytes, of which `messages` are messages between nodes.
    static Sum copies(std::uint64_t number, std::uint64_t messages, std::uint64_t bytes) {
        return {number * bytes, number * bytes, messages, messages * bytes};
    }
    template <class Counts>
    std::uint64_t count(Counts counts) const {
        std::uint64_t n = 0;
        for (int a = 0; a < ranks(); ++a)
            for (int b = 0; b < ranks(); ++b) n += a != b && cross(a, b) && counts(a, b);
        return n;
    }

    std::optional<NodesWorld> world;
    Ref<Datatype> type = TypeBuilder::predefined(Basic::int32);
};

constexpr int sizes[] = {1, 1000, 50000};   // elements: an eager message, one with a handshake, one in several pieces
std::uint64_t bytes_of(int count) { return static_cast<std::uint64_t>(count) * sizeof(int); }

TEST_P(NodesBytes, BarrierMovesNone) {
    Sum const s = moved([](Comm& comm) { barrier(comm); });
    EXPECT_EQ(s.bytes, 0u);
    EXPECT_GT(s.messages, 0u);
}

TEST_P(NodesBytes, BinomialBroadcastMovesOneCopyPerReceiver) {
    for (int root : {0, ranks() - 1})
        for (int n : sizes)
            EXPECT_EQ(moved([&](Comm& comm) {
                          std::vector<int> data(static_cast<std::size_t>(n), comm.rank() == root);
                          BcastArgs args{};
                          args.data = {data.data(), n, type.get()};
                          args.root = root;
                          execute(BoundCall{comm, Collective::bcast, args});
                          EXPECT_EQ(data.back(), 1);
                      }),
                      copies(p() - 1, count([&](int parent, int child) {
                                 int const place = (child - root + ranks()) % ranks();
                                 return place != 0 && ((place & (place - 1)) + root) % ranks() == parent;
                             }),
                             bytes_of(n)))
                << n << " elements from " << root;
}

/// In each step, every rank sends its whole vector, receives one and combines it with its own.
TEST_P(NodesBytes, RecursiveDoublingMovesAMessageAndACombinationPerStep) {
    if ((p() & (p() - 1)) != 0) GTEST_SKIP() << "the formula holds for a power of two of ranks";
    for (int n : sizes) {
        Sum expected;
        for (int distance = 1; distance < ranks(); distance *= 2) {
            expected.loaded += p() * 3 * bytes_of(n);
            expected.stored += p() * 2 * bytes_of(n);
            expected.messages += count([&](int a, int b) { return (a ^ b) == distance; });
        }
        expected.bytes = expected.messages * bytes_of(n);
        EXPECT_EQ(moved([&](Comm& comm) {
                      std::vector<int> in(static_cast<std::size_t>(n), 1), out = in;
                      auto const op = Ref<Op>::adopt(new Op);   // one per rank: an operator caches its kernels
                      op->builtin = BuiltinOp::sum;
                      ReduceArgs args{};
                      args.in = in.data();
                      args.out = out.data();
                      args.count = n;
                      args.type = type.get();
                      args.op = op.get();
                      execute(BoundCall{comm, Collective::allreduce, args});
                      EXPECT_EQ(out.back(), ranks());
                  }),
                  expected)
            << n << " elements";
    }
}

TEST_P(NodesBytes, RingAllgatherMovesAllPartsToAllRanks) {
    for (int n : sizes)
        EXPECT_EQ(
            moved([&](Comm& comm) {
                std::vector<int> part(static_cast<std::size_t>(n), comm.rank()), all(part.size() * p());
                AllgatherArgs args{};
                args.mine = {part.data(), n, type.get()};
                args.parts = Parts::regular(all.data(), n, *type);
                args.max_part_bytes = args.mine.bytes();
                execute(BoundCall{comm, Collective::allgather, args});
                EXPECT_EQ(all.back(), ranks() - 1);
            }),
            copies(p() * p(), (p() - 1) * count([&](int a, int b) { return (a + 1) % ranks() == b; }), bytes_of(n)))
            << n << " elements";
}

TEST_P(NodesBytes, PairwiseAlltoallMovesOnePartPerPair) {
    for (int n : sizes)
        EXPECT_EQ(moved([&](Comm& comm) {
                      std::vector<int> out(static_cast<std::size_t>(n) * p(), comm.rank()), in = out;
                      AlltoallArgs args{};
                      args.send = Parts::regular(out.data(), n, *type);
                      args.receive = Parts::regular(in.data(), n, *type);
                      args.part_bytes = bytes_of(n);
                      execute(BoundCall{comm, Collective::alltoall, args});
                      EXPECT_EQ(in.back(), ranks() - 1);
                  }),
                  copies(p() * p(), count([](int, int) { return true; }), bytes_of(n)))
            << n << " elements";
}

TEST_P(NodesBytes, LinearGatherMovesOnePartPerRank) {
    for (int root : {0, ranks() - 1})
        for (int n : sizes)
            EXPECT_EQ(moved([&](Comm& comm) {
                          std::vector<int> part(static_cast<std::size_t>(n), comm.rank()), all(part.size() * p());
                          RootedArgs args{};
                          args.mine = {part.data(), n, type.get()};
                          if (comm.rank() == root) args.parts = Parts::regular(all.data(), n, *type);
                          args.root = root;
                          args.max_part_bytes = args.mine.bytes();
                          execute(BoundCall{comm, Collective::gather, args});
                          EXPECT_EQ(all.back(), comm.rank() == root ? ranks() - 1 : 0);
                      }),
                      copies(p(), count([&](int, int to) { return to == root; }), bytes_of(n)))
                << n << " elements";
}

INSTANTIATE_TEST_SUITE_P(Worlds, NodesBytes,
                         testing::Values(Nodes{0, 1}, Nodes{0, 0, 1, 1}, Nodes{0, 0, 0, 1}, Nodes{0, 1, 2},
                                         Nodes{0, 1, 2, 3, 0, 1, 2, 3}));

}   // namespace
}   // namespace tutti::coll::test
