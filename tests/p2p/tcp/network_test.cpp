// SPDX-License-Identifier: BSD-3-Clause
// What a rank does with links that end.
#include "p2p/tcp/network.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <new>
#include <thread>

namespace tutti::p2p::tcp {
namespace {

/// Nothing comes; what is lost is written down, and `on_broken` called.
struct Listening final : Handler {
    char const* arrived(int, Frame const&) override { return "nothing was to come"; }
    std::span<std::byte> room(int) override { return {}; }
    void payload(int, std::span<std::byte const>) override {}
    void complete(int) override {}
    void written(void*) override {}
    bool refill(int) override { return false; }
    void broken(int rank, std::string const& sentence) override {
        lost.push_back(rank);
        sentences.push_back(sentence);
        on_broken(rank);
    }
    void warn(std::string const& sentence) override { ADD_FAILURE() << sentence; }

    std::vector<int> lost;
    std::vector<std::string> sentences;
    std::function<void(int)> on_broken;
};

/// Ranks that have a node each and no address: they cannot be reached.
Cluster unreachable(int ranks) {
    std::vector<Cluster::Node> nodes;
    std::vector<Cluster::Rank> all;
    for (int r = 0; r < ranks; ++r) {
        nodes.push_back({"node" + std::to_string(r), {}});
        all.push_back({r, 0, 0});
    }
    return Cluster(nodes, all, 0, JobKey{});
}

/// When an operation fails, the next one to another rank may begin, as in a window whose target is lost.
TEST(Network, ReportsEachLossOnceThoughOthersComeMeanwhile) {
    int const ranks = 12;
    Cluster const cluster = unreachable(ranks);
    Listening handler;
    Network network(cluster, 0, {}, "", std::chrono::seconds(60), handler);
    Frame const frame{.kind = FrameKind::credit};
    int next = 3;
    handler.on_broken = [&](int) {
        for (int i = 0; i < 3 && next < ranks; ++i) network.send(next++, frame);
    };
    network.send(1, frame);
    network.send(2, frame);
    while (handler.lost.size() < static_cast<std::size_t>(ranks) - 1) {
        network.poll();
        std::this_thread::yield();
    }
    for (int i = 0; i < 100; ++i) network.poll();
    EXPECT_THAT(handler.lost, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    EXPECT_THAT(handler.sentences, testing::Each(testing::HasSubstr("no address of it is known")));
}

/// Operations that wait for a lost rank must fail, if not now then when there is memory for it.
TEST(Network, ReportsALossAgainThatTheHandlerHadNoMemoryFor) {
    Cluster const cluster = unreachable(3);
    Listening handler;
    Network network(cluster, 0, {}, "", std::chrono::seconds(60), handler);
    handler.on_broken = [&](int) {
        if (handler.lost.size() == 1) throw std::bad_alloc();
    };
    network.send(1, {.kind = FrameKind::credit});
    int thrown = 0;
    while (handler.lost.size() < 2) {
        try {
            network.poll();
        } catch (std::bad_alloc const&) { ++thrown; }
        std::this_thread::yield();
    }
    EXPECT_THAT(handler.lost, testing::ElementsAre(1, 1));
    EXPECT_EQ(thrown, 1);
}

}   // namespace
}   // namespace tutti::p2p::tcp
