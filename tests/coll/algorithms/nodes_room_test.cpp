// SPDX-License-Identifier: BSD-3-Clause
// A large alltoall over several nodes: the memory that each node needs besides the program's buffers, and the
// connections between each pair of nodes.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "coll/choice/choose.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/allocations.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {
namespace {

enum class PartsForm { equal, in_place, counts, types };

/// One rank's call; parts of the v and w forms have up to `count` elements. Checks the result.
void alltoall(Comm& comm, int count, PartsForm form, bool measured = false) {
    auto const type = TypeBuilder::predefined(Basic::int32);
    int const ranks = comm.size(), me = comm.rank();
    auto const p = static_cast<std::size_t>(ranks), n = static_cast<std::size_t>(count);
    auto const size = [&](int from, int to) {
        return form < PartsForm::counts ? count : count * ((from + to) % 3) / 2;
    };
    std::vector<int> out(p * n), in(p * n, -1), sent(p), received(p), at(p);
    std::vector<Datatype const*> types(p, type.get());
    for (int r = 0; r < ranks; ++r) {
        auto const i = static_cast<std::size_t>(r);
        sent[i] = size(me, r), received[i] = size(r, me), at[i] = r * count;
        for (std::size_t k = 0; k < n; ++k) (form == PartsForm::in_place ? in : out)[i * n + k] = me * ranks + r;
    }
    AlltoallArgs args{};
    args.equal_parts = form < PartsForm::counts;
    args.is_in_place = form == PartsForm::in_place;
    args.part_bytes = args.equal_parts ? n * sizeof(int) : 0;
    args.send = Parts::regular(out.data(), count, *type);
    args.receive = Parts::regular(in.data(), count, *type);
    std::vector<int> bytes_at(p);
    for (std::size_t i = 0; i < p; ++i) bytes_at[i] = at[i] * static_cast<int>(sizeof(int));
    if (form == PartsForm::counts) {
        args.send = Parts::irregular(out.data(), sent.data(), at.data(), *type);
        args.receive = Parts::irregular(in.data(), received.data(), at.data(), *type);
    } else if (form == PartsForm::types) {
        args.send = Parts::typed(out.data(), sent.data(), bytes_at.data(), types.data());
        args.receive = Parts::typed(in.data(), received.data(), bytes_at.data(), types.data());
    }
    if (measured) max_bytes_in_use = bytes_in_use;
    execute(BoundCall{comm, Collective::alltoall, args});
    for (int r = 0; r < ranks; ++r)
        for (int k = 0; k < size(r, me); ++k)
            ASSERT_EQ(in[static_cast<std::size_t>(r * count + k)], r * ranks + me) << "element " << k << " from " << r;
}

using Nodes = std::vector<int>;   // by rank

/// The largest sum over the ranks of a node of each rank's peak memory growth, without the program's buffers.
std::ptrdiff_t memory_of_a_node(Nodes const& node_of, std::string const& algorithm, int count, PartsForm form) {
    Variables variables;
    variables.wait = "shared";
    variables.coll = "alltoall=" + algorithm;
    NodesWorld world(node_of, variables);
    std::vector<std::ptrdiff_t> of_rank(node_of.size());
    std::vector<std::thread> threads;
    for (int r = 0; r < world.size(); ++r)
        threads.emplace_back([&, r] {
            alltoall(world.comm(r), 1, form);
            std::ptrdiff_t const before = bytes_in_use;
            alltoall(world.comm(r), count, form, true);
            std::ptrdiff_t const buffers = 2 * static_cast<std::ptrdiff_t>(node_of.size()) * count * 4;
            of_rank[static_cast<std::size_t>(r)] = max_bytes_in_use - before - buffers;
            world.leave(r);
        });
    for (auto& t : threads) t.join();
    std::map<int, std::ptrdiff_t> of_node;
    for (std::size_t r = 0; r < node_of.size(); ++r) of_node[node_of[r]] += of_rank[r];
    std::ptrdiff_t most = 0;
    for (auto const& [node, bytes] : of_node) most = std::max(most, bytes);
    return most;
}

constexpr int count = 50000;   // 16 ranks: 9.6 MB from each node to others
Nodes const four_of_four = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};

/// Covers each algorithm that declares its memory.
TEST(NodesRoom, AlltoallStaysWithinItsMemoryLimit) {
    constexpr std::ptrdiff_t megabyte = 1 << 20;
    // Independent of sizes: lists of messages and their frames, a few hundred bytes each.
    constexpr std::ptrdiff_t lists = 4 * 64 * 1024;
    // Memory that ranks keep for later messages; the amount depends on the order of events.
    constexpr std::ptrdiff_t kept = 4 * static_cast<std::ptrdiff_t>(FramePool::max_cached);
    int tried = 0;
    for (AlgorithmRow const& row : all_algorithms()) {
        bool const bounded =
            std::ranges::any_of(row.parameters, [](Parameter const& p) { return p.name == std::string("memory"); });
        if (row.collective != Collective::alltoall || !bounded) continue;
        ++tried;
        std::string const setting = std::string(row.name) + ":memory=1M";
        for (PartsForm form : {PartsForm::equal, PartsForm::in_place, PartsForm::counts}) {
            if (form == PartsForm::counts && (row.requirements & requires_equal_parts)) continue;
            EXPECT_LE(memory_of_a_node(four_of_four, setting, count, form), megabyte + kept + lists)
                << setting << ", form " << static_cast<int>(form);
        }
    }
    EXPECT_GE(tried, 2);
}

/// With the default choice, in all sizes and forms, including the connections that a program's barriers make.
TEST(NodesRoom, AlltoallConnectsEachPairOfNodesByAFewLinks) {
    for (Nodes const& node_of :
         {Nodes{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, four_of_four, Nodes{0, 1, 0, 1, 0, 2, 0}}) {
        Variables variables;
        variables.wait = "shared";
        NodesWorld world(node_of, variables);
        std::vector<std::vector<int>> peers(node_of.size());
        std::vector<std::thread> threads;
        for (int r = 0; r < world.size(); ++r)
            threads.emplace_back([&, r] {
                for (int n : {1, 100, 2000, 20000, 70000})
                    for (PartsForm form : {PartsForm::equal, PartsForm::in_place, PartsForm::counts, PartsForm::types})
                        alltoall(world.comm(r), n, form);
                barrier(world.comm(r));
                peers[static_cast<std::size_t>(r)] = p2p::engine(world.process(r)).connected_ranks();
                world.leave(r);
            });
        for (auto& t : threads) t.join();
        std::map<std::pair<int, int>, int> links;
        for (std::size_t r = 0; r < node_of.size(); ++r)
            for (int peer : peers[r]) ++links[{node_of[r], node_of[static_cast<std::size_t>(peer)]}];
        EXPECT_FALSE(links.empty());
        for (auto const& [pair, number] : links)
            EXPECT_LE(number, 4) << "nodes " << pair.first << " and " << pair.second;
    }
}

}   // namespace
}   // namespace tutti::coll::test
