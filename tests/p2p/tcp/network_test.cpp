// SPDX-License-Identifier: BSD-3-Clause
// How a rank's network reports lost links.
#include "p2p/tcp/network.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <new>
#include <thread>

namespace tutti::p2p::tcp {
namespace {

/// Expects no frames; records lost ranks, and calls `on_broken`.
struct Listening final : Handler {
    char const* frame_arrived(int, Frame const&) override { return "nothing was to come"; }
    std::span<std::byte> payload_buffer(int) override { return {}; }
    void payload_arrived(int, std::span<std::byte const>) override {}
    void payload_complete(int) override {}
    void written(void*) override {}
    bool refill(int) override { return false; }
    void link_broken(int rank, std::string const& reason) override {
        lost.push_back(rank);
        reasons.push_back(reason);
        on_broken(rank);
    }
    void warn(std::string const& message) override { ADD_FAILURE() << message; }

    std::vector<int> lost;
    std::vector<std::string> reasons;
    std::function<void(int)> on_broken;
};

/// Ranks on one node each, without addresses: they cannot be reached.
Cluster unreachable(int ranks) {
    std::vector<Cluster::Node> nodes;
    std::vector<Cluster::Rank> all;
    for (int r = 0; r < ranks; ++r) {
        nodes.push_back({"node" + std::to_string(r), {}});
        all.push_back({r, 0, 0});
    }
    return Cluster(nodes, all, 0, JobKey{});
}

/// When an operation fails, its caller may start one to another rank, as in a window with several lost targets.
TEST(Network, ReportsEachLossOnceAlsoIfOthersFollow) {
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
    EXPECT_THAT(handler.reasons, testing::Each(testing::HasSubstr("it has no known address")));
}

/// Operations that depend on a lost rank must fail, if necessary when memory is available again.
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
