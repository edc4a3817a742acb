// SPDX-License-Identifier: BSD-3-Clause
// Cheetah over several nodes with one level (P2P), two (UMA, P2P) and three (Socket, UMA, P2P): blocking, nonblocking
// and persistent calls have the right results, and each level has the messages of its primitives.
#include <atomic>
#include <string>

#include "coll/call/internal.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/nodes_world.hpp"
#include "tests/topo/machines.hpp"

namespace tutti::coll::test {
namespace {

struct CheetahLevels {
    char const* name;
    int nodes, each;   ///< ranks of a node
    char const* hierarchy;
    int levels;

    friend void PrintTo(CheetahLevels const& shape, std::ostream* to) { *to << shape.name; }
};

enum class StartForm { blocking, nonblocking, persistent };

/// The messages of all ranks, between nodes, between sockets and inside sockets.
struct LevelCounts {
    std::uint64_t nodes = 0, sockets = 0, inside = 0;
    bool operator==(LevelCounts const&) const = default;
    friend std::ostream& operator<<(std::ostream& to, LevelCounts const& c) {
        return to << c.nodes << " between nodes, " << c.sockets << " between sockets, " << c.inside << " inside";
    }
};

class CheetahOnNodes : public testing::TestWithParam<CheetahLevels> {
protected:
    void SetUp() override {
        CheetahLevels const& shape = GetParam();
        Variables v;
        v.wait = "shared";
        for (char const* collective : {"barrier", "bcast", "reduce", "allreduce"})
            v.coll += std::string(v.coll.empty() ? "" : ",") + collective + "=cheetah:hierarchy=" + shape.hierarchy;
        std::vector<int> node_of;
        for (int r = 0; r < shape.nodes * shape.each; ++r) node_of.push_back(r / shape.each);
        topo::NodeMap map{topo::design_machine(), {.pu = {}, .fixed = true}};   // half of the ranks on each socket
        for (int r = 0; r < shape.each; ++r) map.placement.pu.push_back(r < shape.each / 2 ? r : 32 + r);
        world.emplace(node_of, v, map.to_text());
    }
    void TearDown() override {
        as_all([&](int rank, Comm&) { world->leave(rank); });
    }

    template <class Body>
    void as_all(Body body) {
        std::vector<std::thread> ranks;
        for (int r = 0; r < world->size(); ++r) ranks.emplace_back([&, r] { body(r, world->comm(r)); });
        for (std::thread& rank : ranks) rank.join();
    }
    LevelCounts messages() {
        LevelCounts all;
        for (int r = 0; r < world->size(); ++r) {
            auto& of = world->process(r).rank_state().traffic.messages;
            using enum topo::Locality;
            all.nodes += of[static_cast<int>(network)].read();
            all.sockets += of[static_cast<int>(machine)].read();
            for (topo::Locality l : {cache, numa, socket}) all.inside += of[static_cast<int>(l)].read();
        }
        return all;
    }
    /// Runs `body` as all ranks, and returns the messages of its collective.
    template <class Body>
    LevelCounts count(Body body) {
        LevelCounts const before = messages();
        as_all([&](int rank, Comm& comm) {
            body(rank, comm);
            p2p::drain_sends(comm.process, "the test");
        });
        LevelCounts const after = messages();
        return {after.nodes - before.nodes, after.sockets - before.sockets, after.inside - before.inside};
    }
    template <class Args>
    static void call(Comm& comm, Collective which, Args const& args, StartForm form) {
        BoundCall<Args> bound{comm, which, args};
        if (form == StartForm::blocking) return execute(bound);
        Ref<Request> const request = form == StartForm::nonblocking ? start(bound) : init(bound);
        for (int repeat = 0; repeat < (form == StartForm::persistent ? 2 : 1); ++repeat) {
            if (form == StartForm::persistent) request->start();
            comm.process.waiter.wait_until([&] { return request->complete; }, comm.reason("the test"));
            EXPECT_EQ(request->status.error, ErrorClass::success);
        }
    }
    template <class T>
    void reduction(Collective which, Comm& comm, std::int64_t count, int root, StartForm form) {
        // The rank's own, because requests hold references to it.
        auto const type = TypeBuilder::predefined(std::is_same_v<T, int> ? Basic::int32 : Basic::float64);
        std::vector<T> in(static_cast<std::size_t>(count)), out(in.size());
        auto const sum = Ref<Op>::adopt(new Op);
        sum->builtin = BuiltinOp::sum;
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(comm.rank() + 1 + static_cast<int>(i % 7));
        ReduceArgs args{};
        args.in = in.data();
        args.out = which == Collective::allreduce || comm.rank() == root ? out.data() : nullptr;
        args.count = count;
        args.type = type.get();
        args.op = sum.get();
        args.root = root;
        call(comm, which, args, form);
        int const p = comm.union_group->size(), base = p * (p + 1) / 2;
        bool right = true;
        for (std::size_t i = 0; i < out.size() && args.out; ++i)
            right &= out[i] == static_cast<T>(base + p * static_cast<int>(i % 7));
        EXPECT_TRUE(right) << name_of(which) << " of " << count << ", root " << root << ", rank " << comm.rank();
        EXPECT_EQ(state_of(comm).algorithm_of(name_of(which)), "cheetah");
    }
    void broadcast(Comm& comm, std::int64_t count, int root, StartForm form) {
        auto const type = TypeBuilder::predefined(Basic::int32);
        std::vector<int> data(static_cast<std::size_t>(count), comm.rank() == root ? 1000 + root : -1);
        BcastArgs args{};
        args.data = {data.data(), count, type.get()};
        args.root = root;
        call(comm, Collective::bcast, args, form);
        EXPECT_EQ(std::ranges::count(data, 1000 + root), count) << "root " << root << ", rank " << comm.rank();
        EXPECT_EQ(state_of(comm).algorithm_of("bcast"), "cheetah");
    }

    std::optional<NodesWorld> world;
};

TEST_P(CheetahOnNodes, GivesTheRightResultsInEveryForm) {
    int const p = world->size();
    as_all([&](int, Comm& comm) {
        for (StartForm form : {StartForm::blocking, StartForm::nonblocking, StartForm::persistent})
            for (std::int64_t count : {1, 700, 5000, 100'000}) {
                reduction<int>(Collective::allreduce, comm, count, 0, form);
                reduction<double>(Collective::allreduce, comm, count, 0, form);
                for (int root : {0, 1, p / 2 + 1, p - 1}) {
                    reduction<int>(Collective::reduce, comm, count, root, form);
                    broadcast(comm, count, root, form);
                }
                call(comm, Collective::barrier, BarrierArgs{}, form);
            }
        EXPECT_EQ(state_of(comm.process).progress.in_flight(), 0);
    });
}

/// No rank leaves a barrier before the last one has entered it.
TEST_P(CheetahOnNodes, BarriersSeparateWhatPrecedesFromWhatFollows) {
    std::atomic<int> entered{0};
    as_all([&](int rank, Comm& comm) {
        for (int round = 1; round <= 50; ++round) {
            if (rank % 5 == round % 5) std::this_thread::yield();
            ++entered;
            barrier(comm);
            EXPECT_GE(entered.load(), round * world->size());
        }
        EXPECT_EQ(state_of(comm).algorithm_of("barrier"), "cheetah");
    });
}

TEST_P(CheetahOnNodes, EachLevelHasTheMessagesOfItsPrimitives) {
    CheetahLevels const& shape = GetParam();
    auto const nodes = static_cast<std::uint64_t>(shape.nodes), each = static_cast<std::uint64_t>(shape.each);
    std::uint64_t const exchanged = shape.nodes == 4 ? 4 * 3 : 2;   // recursive k-ing among the masters, k = 4
    auto const sum = [](LevelCounts const& c) { return c.nodes + c.sockets + c.inside; };
    LevelCounts const all =
        count([&](int, Comm& comm) { reduction<int>(Collective::allreduce, comm, 1, 0, StartForm::blocking); });
    LevelCounts const up =
        count([&](int, Comm& comm) { reduction<int>(Collective::reduce, comm, 1, 1, StartForm::blocking); });
    LevelCounts const down = count([&](int, Comm& comm) { broadcast(comm, 1, 1, StartForm::blocking); });
    EXPECT_EQ(sum(up), nodes * each - 1);
    EXPECT_EQ(sum(down), nodes * each - 1);
    if (shape.levels == 1) {
        EXPECT_EQ(sum(all), 16u * 6);   // two steps of three partners
        std::uint64_t between = 0;      // figure 5 for 16 ranks and k = 4
        for (int x = 0; x < 16; ++x)
            for (int distance : {1, 2, 3, 4, 8, 12}) between += x / shape.each != (x + distance) % 16 / shape.each;
        EXPECT_EQ(all.nodes, between);
        return;
    }
    EXPECT_EQ(all.nodes, exchanged);
    EXPECT_EQ(sum(all), exchanged + 2 * nodes * (each - 1));
    EXPECT_EQ(up.nodes, nodes - 1);
    EXPECT_EQ(down.nodes, nodes - 1);
    if (shape.levels < 3) return;
    EXPECT_EQ(all.sockets, 2 * nodes);
    EXPECT_EQ(up.sockets, nodes);
    EXPECT_EQ(down.sockets, nodes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CheetahOnNodes,
                         testing::Values(CheetahLevels{"four_of_four_p2p", 4, 4, "flat", 1},
                                         CheetahLevels{"four_of_four_uma_p2p", 4, 4, "node", 2},
                                         CheetahLevels{"four_of_four_socket_uma_p2p", 4, 4, "socket+node", 3},
                                         CheetahLevels{"two_of_eight_p2p", 2, 8, "flat", 1},
                                         CheetahLevels{"two_of_eight_uma_p2p", 2, 8, "node", 2},
                                         CheetahLevels{"two_of_eight_socket_uma_p2p", 2, 8, "socket+node", 3}),
                         [](auto const& info) { return info.param.name; });

}   // namespace
}   // namespace tutti::coll::test
