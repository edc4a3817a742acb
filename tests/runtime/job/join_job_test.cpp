// SPDX-License-Identifier: BSD-3-Clause
// Ranks, as threads of this process, join a job through a job server that the test implements.
#include "runtime/job/join_job.hpp"

#include <barrier>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/process.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "tests/topo/machines.hpp"
#include "topo/detect.hpp"

namespace tutti {
namespace {

/// The values of all ranks. A value becomes visible with the exchange that follows its put.
struct Board {
    explicit Board(std::vector<int> nodes_of_ranks)
        : nodes(std::move(nodes_of_ranks)), all_ranks(static_cast<std::ptrdiff_t>(nodes.size())) {}
    std::vector<int> nodes;
    std::barrier<> all_ranks;
    std::mutex lock;
    std::map<std::pair<int, std::string>, std::pair<JobServer::Scope, std::string>> values;
    std::atomic<int> exchanges = 0, gets = 0;
};

class BoardServer : public JobServer {
public:
    BoardServer(Board& board, int rank) : board_(board), rank_(rank) {
        for (int r = 0; r < size(); ++r)
            if (node(r) == node(rank)) local_.push_back(r);
        name_ = "n" + std::to_string(node(rank));
    }
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(board_.nodes.size()); }
    std::vector<int> const& local_ranks() const override { return local_; }
    std::string node_name() const override { return name_; }
    void put(Scope scope, std::string const& key, std::string const& value) override { mine_[key] = {scope, value}; }
    void exchange() override {
        {
            std::lock_guard const hold(board_.lock);
            for (auto const& [key, value] : mine_) board_.values[{rank_, key}] = value;
            if (rank_ == 0) ++board_.exchanges;
        }
        board_.all_ranks.arrive_and_wait();
    }
    std::string get(int rank, std::string const& key) override {
        std::lock_guard const hold(board_.lock);
        ++board_.gets;
        auto const at = board_.values.find({rank, key});
        if (at == board_.values.end() || (at->second.first == Scope::node && node(rank) != node(rank_)))
            fail(ErrorClass::other, "no ", key, " of rank ", rank, " for rank ", rank_);
        return at->second.second;
    }
    void abort(int, std::string const&) override {}
    void finish() override {}

private:
    int node(int rank) const { return board_.nodes[static_cast<std::size_t>(rank)]; }

    Board& board_;
    int rank_;
    std::vector<int> local_;
    std::string name_;
    std::map<std::string, std::pair<Scope, std::string>> mine_;
};

/// Joins a job whose ranks are on the given nodes. `change`: called for each rank's settings. Returns the result of
/// each rank.
std::vector<std::optional<JoinedJob>> join_all(
    Board& board, std::string const& tuning = "none", std::vector<ArenaWindow> arenas = {},
    std::function<void(std::size_t, Variables&)> const& change = [](std::size_t, Variables&) {}) {
    arenas.resize(board.nodes.size());
    std::vector<std::optional<JoinedJob>> found(board.nodes.size());
    std::vector<std::jthread> ranks;
    std::vector<std::string> diagnostics;
    char const* const environment[] = {nullptr};
    Variables variables = read_variables(environment, diagnostics);
    variables.tuning = tuning;
    for (std::size_t r = 0; r < found.size(); ++r)
        ranks.emplace_back([&, r] {
            BoardServer server(board, static_cast<int>(r));
            Variables own = variables;
            change(r, own);
            found[r] = join_job(server, own, arenas[r]);
        });
    return ranks.clear(), std::move(found);
}

void close_listeners(std::vector<std::optional<JoinedJob>> const& all) {
    for (auto const& one : all)
        for (int descriptor : one->listeners) close(descriptor);
}

TEST(JoinJob, OneNodeSharesMemoryAndOpensNoSocket) {
    Board board({0, 0, 0});
    auto const all = join_all(board);
    EXPECT_EQ(board.exchanges, 3);
    for (unsigned r = 0; r < 3; ++r) {
        EXPECT_EQ(all[r]->local_rank, r);
        EXPECT_TRUE(all[r]->listeners.empty());
        EXPECT_THAT(all[r]->diagnostics, testing::IsEmpty());
        EXPECT_TRUE(all[r]->segment.cluster().empty());
        EXPECT_EQ(all[r]->segment.ranks(), 3u);
        EXPECT_GE(all[r]->segment.header().usable_cores, 1u);
    }
    all[2]->segment.world_area()[5] = std::byte{42};
    EXPECT_EQ(all[0]->segment.world_area()[5], std::byte{42});
}

TEST(JoinJob, EachRankDetectsTheSameMachineAsHwloc) {
    Board board({0, 0, 1});
    auto const all = join_all(board);
    topo::Machine const seen = topo::detect_machine();
    for (auto const& one : all) {
        auto const node = topo::NodeMap::from_text(one->segment.machine());
        ASSERT_TRUE(node) << node.error();
        EXPECT_EQ(topo::numbered_from_zero(node->machine.pus), topo::numbered_from_zero(seen.pus));
        EXPECT_EQ(node->machine.caches.private_size, seen.caches.private_size);
        EXPECT_EQ(node->machine.caches.last_level_size, seen.caches.last_level_size);
        EXPECT_EQ(node->machine.caches.inclusive, seen.caches.inclusive);
    }
    close_listeners(all);
}

TEST(JoinJob, ArenaWindowsAreInTheStatesOfTheirRanks) {
    std::vector<ArenaWindow> arenas(5);
    for (unsigned r = 0; r < 5; ++r)
        if (r != 2)
            arenas[r] = {{getpid(), 70 + static_cast<int>(r), 1000 + r}, 0x7e0000000000U, std::uint64_t{r + 1} << 30};
    Board board({0, 1, 0, 1, 0});
    auto const all = join_all(board, "none", arenas);
    for (unsigned r = 0; r < 5; ++r) {
        EXPECT_EQ(all[r]->segment.layout().arena_bytes, 0u);
        RankState const& rank_state =
            all[4 - r % 2]->segment.rank_state(r / 2);   // in the view of the last rank of its node
        EXPECT_EQ(rank_state.arena_file, arenas[r].file);
        EXPECT_EQ(rank_state.arena_base, arenas[r].base);
        EXPECT_EQ(rank_state.arena_bytes, arenas[r].bytes);
    }
    close_listeners(all);
}

TEST(JoinJob, ASingleCopyMethodThatOneRankDoesNotPermitIsRuledOutOnItsNode) {
    ArenaWindow const arena = {{getpid(), 70, 1000}, 0x7e0000000000U, 1 << 30};
    Board board({0, 1, 2, 0, 1, 2});   // on node 0 all have arenas; on each of the others, one forbids CMA
    auto const all = join_all(board, "none", {arena, {}, arena, arena, {}, {}}, [](std::size_t r, Variables& v) {
        v.cma = r != 2 && r != 4;
        v.xpmem = r >= 3;   // on no node permitted by all ranks
    });
    for (std::size_t r = 0; r < all.size(); ++r) {
        SegmentHeader const& header = all[r]->segment.header();
        EXPECT_EQ(header.xpmem_absent, 1u);
        EXPECT_EQ(header.loads_ruled_out, r % 3 == 0 ? 0u : 1u) << r;
        EXPECT_EQ(header.copies_ruled_out, r % 3 == 0 ? 0u : 1u) << r;
    }
    Board permitted({0, 0});
    for (auto const& one : join_all(permitted, "none", {}, [](std::size_t, Variables& v) { v.xpmem = false; })) {
        EXPECT_EQ(one->segment.header().loads_ruled_out, 1u);
        EXPECT_EQ(one->segment.header().copies_ruled_out, 0u);
    }
    close_listeners(all);
}

TEST(JoinJob, RanksDistributedOverTwoNodesAgreeOnTheMap) {
    Board board({0, 1, 0, 1, 0});
    auto const all = join_all(board);
    std::vector<Cluster> maps;
    for (auto const& one : all) {
        ASSERT_FALSE(one->segment.cluster().empty());
        maps.push_back(*Cluster::from_text(one->segment.cluster()));
        EXPECT_FALSE(one->listeners.empty());
        for (int descriptor : one->listeners) EXPECT_TRUE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    }
    for (int r = 0; r < 5; ++r) {
        auto const& map = maps[static_cast<std::size_t>(r)];
        auto const& one = all[static_cast<std::size_t>(r)];
        EXPECT_EQ(map.size(), 5);
        EXPECT_EQ(map.this_node(), r % 2);
        EXPECT_EQ(one->local_rank, static_cast<unsigned>(r / 2));
        EXPECT_EQ(one->segment.rank_state(one->local_rank).world_rank, r);
        EXPECT_EQ(map.key(), maps[0].key());
        EXPECT_EQ(map.node(1).name, "n1");
        EXPECT_FALSE(map.node(1).addresses.empty());
        EXPECT_NE(map.at(r).port, 0);
        EXPECT_EQ(map.at(r).port, maps[0].at(r).port);
    }
    all[0]->segment.world_area()[5] = std::byte{42};
    EXPECT_EQ(all[4]->segment.world_area()[5], std::byte{42});
    EXPECT_EQ(all[1]->segment.world_area()[5], std::byte{0});
    close_listeners(all);
}

TEST(JoinJob, TheNumberOfValuesGrowsWithTheRanksAndNotWithTheirSquare) {
    for (int ranks : {4, 8}) {
        Board one_node(std::vector<int>(static_cast<std::size_t>(ranks), 0));
        join_all(one_node);
        EXPECT_LE(one_node.gets, 4 * ranks);
    }
    Board two_nodes({0, 0, 0, 0, 1, 1, 1, 1});
    close_listeners(join_all(two_nodes));
    EXPECT_LE(two_nodes.gets, 54);
}

TEST(JoinJob, EachJobHasItsOwnKey) {
    Board first({0, 1}), second({0, 1});
    auto const a = join_all(first), b = join_all(second);
    EXPECT_NE(Cluster::from_text(a[0]->segment.cluster())->key(), Cluster::from_text(b[0]->segment.cluster())->key());
    close_listeners(a);
    close_listeners(b);
}

TEST(JoinJob, RankZeroReadsTheTuningFileForAllNodes) {
    std::string const name = testing::TempDir() + "tutti_join_job_tuning";
    std::ofstream(name) << tuning_head << "\nallreduce ranks<=8 bytes<=64K direct\n";
    Board board({0, 1}), other({0, 0});
    auto const all = join_all(board, name);
    EXPECT_TRUE(all[1]->segment.tuning().starts_with(name + "\n"));
    EXPECT_TRUE(all[1]->segment.tuning().ends_with("direct\n"));
    std::remove(name.c_str());
    close_listeners(all);
    auto const none = join_all(other, name);
    EXPECT_THAT(none[0]->diagnostics, testing::ElementsAre(testing::HasSubstr(name)));
    EXPECT_TRUE(none[1]->segment.tuning().empty());
}

TEST(JoinJob, AWorldOfOne) {
    Board board({0});
    auto const all = join_all(board);
    EXPECT_EQ(all[0]->segment.ranks(), 1u);
    EXPECT_TRUE(all[0]->listeners.empty());
}

}   // namespace
}   // namespace tutti
