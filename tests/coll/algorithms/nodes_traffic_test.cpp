// SPDX-License-Identifier: BSD-3-Clause
// Counts the messages of collectives between nodes: default algorithms cross nodes no more often than a hierarchy must,
// and in YHCCL's allreduce all ranks send alike.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {
namespace {

std::uint64_t to_other_nodes(Process& process) {
    return process.rank_state().traffic.messages[static_cast<int>(topo::Locality::network)].read();
}

/// Messages between nodes of one call of `body` by all ranks.
std::uint64_t localities(NodesWorld& world, std::function<void(Comm&)> const& body) {
    std::uint64_t sum = 0;
    for (int r = 0; r < world.size(); ++r) sum -= to_other_nodes(world.process(r));
    std::vector<std::thread> threads;
    for (int r = 0; r < world.size(); ++r)
        threads.emplace_back([&, r] {
            body(world.comm(r));
            p2p::drain_sends(world.process(r), "the test");   // sends messages that wait for a connection
        });
    for (auto& t : threads) t.join();
    for (int r = 0; r < world.size(); ++r) sum += to_other_nodes(world.process(r));
    return sum;
}

class NodesTraffic : public testing::TestWithParam<std::vector<int>> {
protected:
    virtual Variables variables() const {
        Variables variables;
        variables.wait = "shared";
        return variables;
    }
    void SetUp() override {
        world.emplace(GetParam(), variables());
        nodes = static_cast<std::uint64_t>(std::ranges::max(GetParam())) + 1;
        for (std::uint64_t n = 1; n < nodes; n *= 2) ++rounds;
    }
    void TearDown() override {
        std::vector<std::thread> threads;
        for (int r = 0; r < world->size(); ++r) threads.emplace_back([&, r] { world->leave(r); });
        for (auto& t : threads) t.join();
    }

    std::optional<NodesWorld> world;
    std::uint64_t nodes = 0, rounds = 0;
    Ref<Datatype> type = TypeBuilder::predefined(Basic::int32);
};

/// Messages between nodes of a broadcast of `count` ints.
std::uint64_t localities_of_bcast(NodesWorld& world, Datatype const& type, int count, int root) {
    return localities(world, [&](Comm& comm) {
        std::vector<int> data(static_cast<std::size_t>(count));
        BcastArgs args{};
        args.data = {data.data(), count, &type};
        args.root = root;
        execute(BoundCall{comm, Collective::bcast, args});
    });
}

TEST_P(NodesTraffic, ABarrierTakesLogarithmicallyManyRoundsOfMasters) {
    EXPECT_EQ(localities(*world, [](Comm& comm) { barrier(comm); }), nodes * rounds);
}

TEST_P(NodesTraffic, ABroadcastCrossesNodesOnceForEachWhateverTheRoot) {
    for (int root = 0; root < world->size(); ++root)
        for (int count : {0, 2, 1000, 3000}) EXPECT_EQ(localities_of_bcast(*world, *type, count, root), nodes - 1);
}

TEST_P(NodesTraffic, GatherAndScatterTakeOneMessageForEachOtherNode) {
    for (Collective which : {Collective::gather, Collective::scatter})
        for (int root = 0; root < world->size(); ++root)
            EXPECT_EQ(localities(*world,
                                 [&](Comm& comm) {
                                     std::vector<int> part(100), all(100u * static_cast<unsigned>(comm.size()));
                                     RootedArgs args{};
                                     args.mine = {part.data(), 100, type.get()};
                                     if (comm.rank() == root) args.parts = Parts::regular(all.data(), 100, *type);
                                     args.root = root;
                                     args.max_part_bytes = args.mine.bytes();
                                     execute(BoundCall{comm, which, args});
                                 }),
                      nodes - 1);
}

TEST_P(NodesTraffic, AllgatherAndAlltoallTakeOneMessageForEachPairOfNodes) {
    for (int count : {1, 200}) {
        auto const size = static_cast<std::size_t>(world->size()) * static_cast<std::size_t>(count);
        EXPECT_EQ(localities(*world,
                             [&](Comm& comm) {
                                 std::vector<int> part(static_cast<std::size_t>(count)), all(size);
                                 AllgatherArgs args{};
                                 args.mine = {part.data(), count, type.get()};
                                 args.parts = Parts::regular(all.data(), count, *type);
                                 args.max_part_bytes = args.mine.bytes();
                                 execute(BoundCall{comm, Collective::allgather, args});
                             }),
                  nodes * (nodes - 1));
        EXPECT_EQ(localities(*world,
                             [&](Comm& comm) {
                                 std::vector<int> out(size), in(size);
                                 AlltoallArgs args{};
                                 args.send = Parts::regular(out.data(), count, *type);
                                 args.receive = Parts::regular(in.data(), count, *type);
                                 args.part_bytes = static_cast<std::size_t>(count) * sizeof(int);
                                 execute(BoundCall{comm, Collective::alltoall, args});
                             }),
                  nodes * (nodes - 1));
    }
}

/// Messages inside nodes, per node, of an allgather of `count` ints from each of a node's two ranks.
std::uint64_t inside_of_a_node(int nodes, int count, bool in_turn) {
    std::vector<int> node_of;
    for (int r = 0; r < 2 * nodes; ++r) node_of.push_back(in_turn ? r % nodes : r / 2);
    Variables variables;
    variables.wait = "shared";
    NodesWorld world(node_of, variables);
    auto const type = TypeBuilder::predefined(Basic::int32);
    std::vector<std::uint64_t> before(node_of.size()), after(node_of.size());
    auto const inside = [&](int r) {
        std::uint64_t sum = 0;
        auto& messages = world.process(r).rank_state().traffic.messages;
        for (std::size_t l = 0; l < std::size(messages); ++l)
            if (l != static_cast<std::size_t>(topo::Locality::network)) sum += messages[l].read();
        return sum;
    };
    std::vector<std::thread> threads;
    for (int r = 0; r < world.size(); ++r)
        threads.emplace_back([&, r] {
            auto const place = static_cast<std::size_t>(r);
            std::vector<int> part(static_cast<std::size_t>(count), r), all(part.size() * node_of.size(), -1);
            AllgatherArgs args{};
            args.mine = {part.data(), count, type.get()};
            args.parts = Parts::regular(all.data(), count, *type);
            args.max_part_bytes = args.mine.bytes();
            before[place] = inside(r);
            execute(BoundCall{world.comm(r), Collective::allgather, args});
            after[place] = inside(r);
            for (std::size_t i = 0; i < all.size(); ++i)
                EXPECT_EQ(all[i], static_cast<int>(i / part.size())) << "rank " << r;
            world.leave(r);
        });
    for (auto& t : threads) t.join();
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < node_of.size(); ++r) sum += after[r] - before[r];
    return sum / static_cast<std::uint64_t>(nodes);
}

TEST(NodesTrafficInside, AnAllgatherOfMediumBlocksIsOneBroadcastForAnyNumberOfNodes) {
    for (bool in_turn : {false, true})
        for (int count : {200, 1000})   // the same total number of bytes
            EXPECT_EQ(inside_of_a_node(2, 3 * count, in_turn), inside_of_a_node(6, count, in_turn)) << count;
}

/// What each rank of two nodes with two ranks does in one allreduce.
struct OfAllRanks {
    std::vector<std::uint64_t> messages, bytes;   ///< to other nodes
    std::uint64_t past_cache = 0;                 ///< bytes that copies store past the cache, at all ranks together
};
constexpr std::size_t doubles_of_all_ranks = 64 << 10;   // 512 KiB, twice the usual size of a fragment

OfAllRanks run_all_ranks(char const* setting, char const* hint = "") {
    Variables variables;
    variables.wait = "shared";
    variables.coll = setting;
    NodesWorld world({0, 0, 1, 1}, variables);
    auto const ranks = static_cast<std::size_t>(world.size());
    OfAllRanks of{std::vector<std::uint64_t>(ranks), std::vector<std::uint64_t>(ranks)};
    std::atomic<std::uint64_t> past_cache = 0;
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            Comm& comm = world.comm(static_cast<int>(r));
            std::vector<std::string> errors;
            comm.info = Ref<Info>::adopt(new Info);
            if (*hint) comm.info->set("tutti_coll", hint);
            apply_hints(comm, errors);
            EXPECT_TRUE(errors.empty());
            auto const type = TypeBuilder::predefined(Basic::float64);
            Op sum;
            sum.builtin = BuiltinOp::sum;
            std::vector<double> in(doubles_of_all_ranks, static_cast<double>(r)), out(in);
            ReduceArgs args{};
            args.in = in.data();
            args.out = out.data();
            args.count = static_cast<std::int64_t>(in.size());
            args.type = type.get();
            args.op = &sum;
            Traffic const& traffic = world.process(static_cast<int>(r)).rank_state().traffic;
            std::uint64_t const messages = to_other_nodes(world.process(static_cast<int>(r))),
                                bytes = traffic.to_nodes.read(), streamed = traffic.past_cache.read();
            execute(BoundCall{comm, Collective::allreduce, args});
            p2p::drain_sends(world.process(static_cast<int>(r)), "the test");
            of.messages[r] = to_other_nodes(world.process(static_cast<int>(r))) - messages;
            of.bytes[r] = traffic.to_nodes.read() - bytes;
            past_cache += traffic.past_cache.read() - streamed;
            EXPECT_EQ(std::ranges::count(out, 6.0), static_cast<std::ptrdiff_t>(out.size()));
            world.leave(static_cast<int>(r));
        });
    for (auto& t : threads) t.join();
    of.past_cache = past_cache;
    return of;
}

/// YHCCL, section 5.5: each rank sends a slice of s/n around the ring of N nodes, 2 (N − 1)/N·s/n bytes in 2 (N − 1)
/// messages, as one operation unless fragments are requested.
TEST(AllRanks, SendAlikeBetweenNodes) {
    constexpr std::uint64_t bytes = doubles_of_all_ranks * sizeof(double);
    for (char const* inside : {"movement_avoiding", "socket_aware", "table"}) {
        OfAllRanks const of = run_all_ranks((std::string("allreduce=all_ranks:inside=") + inside).c_str());
        EXPECT_THAT(of.messages, testing::Each(2)) << inside;
        EXPECT_THAT(of.bytes, testing::Each(bytes / 2)) << inside;
    }
    EXPECT_THAT(run_all_ranks("allreduce=all_ranks:fragment=128K").messages, testing::Each(4 * 2));
}

/// On each node, s bytes are copied in for the reduce_scatter, and for the allgather s bytes in and n·s out. A hint
/// reaches these parts if they are to be chosen.
TEST(AllRanks, ReduceAndGatherOnTheirNodesAsTheParametersSay) {
    constexpr std::uint64_t all = 2 * (1 + 1 + 2) * doubles_of_all_ranks * sizeof(double);
    EXPECT_EQ(run_all_ranks("allreduce=all_ranks:copy=nontemporal").past_cache, all);
    EXPECT_EQ(run_all_ranks("allreduce=all_ranks:copy=nontemporal,inside=socket_aware").past_cache, all);
    EXPECT_EQ(run_all_ranks("allreduce=all_ranks:copy=temporal").past_cache, 0u);
    EXPECT_EQ(run_all_ranks("allreduce=all_ranks:copy=nontemporal,inside=table").past_cache, 0u);
    EXPECT_EQ(run_all_ranks("",
                            "allreduce=all_ranks:inside=table,reduce_scatter=movement_avoiding:copy=nontemporal,"
                            "allgather=adaptive_copy:copy=nontemporal")
                  .past_cache,
              all);
}

/// MPICH's algorithms with a master per node on the same nodes.
class MpichOnNodes : public NodesTraffic {
    Variables variables() const override {
        Variables variables = NodesTraffic::variables();
        variables.coll = "barrier=mpich_hierarchical,bcast=mpich_hierarchical:form=whole";
        return variables;
    }
};

TEST_P(MpichOnNodes, ABarrierTakesLogarithmicallyManyRoundsOfMasters) {
    EXPECT_EQ(localities(*world, [](Comm& comm) { barrier(comm); }), nodes * rounds);
}

TEST_P(MpichOnNodes, ABroadcastCrossesNodesOnceForEachWhateverTheRoot) {
    for (int root = 0; root < world->size(); ++root)
        for (int count : {2, 1000, 5000}) EXPECT_EQ(localities_of_bcast(*world, *type, count, root), nodes - 1);
}

/// The messages of each rank to other nodes in one call of each collective that has an algorithm with masters, whose
/// results it checks. `settings`: TUTTI_COLL.
std::vector<std::vector<std::uint64_t>> messages_of_collectives(std::vector<int> const& node_of,
                                                                std::string const& settings) {
    using enum Collective;
    constexpr Collective collectives[] = {barrier, bcast, reduce, allreduce, scan, exscan};
    Variables variables;
    variables.wait = "shared";
    variables.coll = settings;
    NodesWorld world(node_of, variables);
    auto const size = static_cast<std::size_t>(world.size());
    std::vector<std::vector<std::uint64_t>> sent(std::size(collectives), std::vector<std::uint64_t>(size));
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < size; ++r)
        threads.emplace_back([&, r] {
            Comm& comm = world.comm(static_cast<int>(r));
            auto const type = TypeBuilder::predefined(Basic::int32);
            Op sum;
            sum.builtin = BuiltinOp::sum;
            int const mine = static_cast<int>(r), ranks = world.size(), root = ranks - 1;
            for (std::size_t i = 0; i < std::size(collectives); ++i) {
                std::uint64_t const before = to_other_nodes(comm.process);
                std::vector<int> in(100, mine), out(100, -1);
                int expected = -1;
                if (collectives[i] == barrier) {
                    execute(BoundCall{comm, barrier, BarrierArgs{}});
                } else if (collectives[i] == bcast) {
                    BcastArgs args{};
                    args.data = {mine == root ? in.data() : out.data(), 100, type.get()};
                    args.root = root;
                    execute(BoundCall{comm, bcast, args});
                    expected = mine == root ? -1 : root;
                } else {
                    ReduceArgs args{};
                    args.in = in.data();
                    args.out = collectives[i] != reduce || mine == root ? out.data() : nullptr;
                    args.count = 100;
                    args.type = type.get();
                    args.op = &sum;
                    args.root = root;
                    execute(BoundCall{comm, collectives[i], args});
                    if (collectives[i] == scan) expected = mine * (mine + 1) / 2;
                    else if (collectives[i] == exscan) expected = mine > 0 ? mine * (mine - 1) / 2 : -1;
                    else if (args.out) expected = ranks * (ranks - 1) / 2;
                }
                EXPECT_EQ(std::ranges::count(out, expected), 100) << name_of(collectives[i]) << ", rank " << r;
                sent[i][r] = to_other_nodes(comm.process) - before;
            }
            world.leave(mine);
        });
    for (auto& t : threads) t.join();
    return sent;
}

/// On one level of all ranks, MPICH's algorithms with masters are the ordinary ones.
TEST_P(MpichOnNodes, OnOneLevelTheyAreTheOrdinaryCollectives) {
    std::string flat;
    for (char const* collective : {"barrier", "bcast", "reduce", "allreduce", "scan", "exscan"})
        flat += std::string(flat.empty() ? "" : ",") + collective + "=mpich_hierarchical:hierarchy=flat" +
                (collective == std::string("bcast") ? ",form=whole" : "");
    EXPECT_EQ(messages_of_collectives(GetParam(), flat),
              messages_of_collectives(GetParam(),
                                      "barrier=dissemination,bcast=binomial,reduce=binomial,"
                                      "allreduce=recursive_doubling,scan=recursive_doubling,"
                                      "exscan=recursive_doubling"));
}

/// With one rank on each node all ranks are masters, so the pipelined broadcast has its binary tree: the root sends to
/// two others, in a binomial tree to three.
TEST(MpichOnNodesOfOneRank, AllRanksAreMasters) {
    std::vector<int> const one_each{0, 1, 2, 3, 4};
    for (char const* hierarchy : {"auto", "node"})
        EXPECT_EQ(
            messages_of_collectives(one_each, std::string("bcast=mpich_hierarchical:hierarchy=") + hierarchy)[1].back(),
            2u)
            << hierarchy;
    EXPECT_EQ(messages_of_collectives(one_each, "bcast=mpich_hierarchical:hierarchy=flat")[1].back(), 1u)
        << "on one level, the last rank sends to the first one, which is the only master";
}

using Nodes = std::vector<int>;   // by rank
auto const worlds =
    testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 0, 0, 1}, Nodes{0, 1, 2}, Nodes{0, 1, 2, 3, 0, 1, 2, 3});
INSTANTIATE_TEST_SUITE_P(Worlds, NodesTraffic, worlds);
INSTANTIATE_TEST_SUITE_P(Worlds, MpichOnNodes, worlds);

}   // namespace
}   // namespace tutti::coll::test
