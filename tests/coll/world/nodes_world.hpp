// SPDX-License-Identifier: BSD-3-Clause
// A world on one node or several: each node has its own segment, the ranks are threads of this process, and nodes are
// connected over the loopback interface.
#pragma once

#include <gmock/gmock.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "coll/call/collectives.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/comm/create.hpp"
#include "p2p/engine.hpp"
#include "p2p/p2p.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti::coll::test {

/// All ranks of a job. They are destroyed together: other nodes may send to a rank until it has left.
class NodesWorld {
public:
    /// `node_of[r]` is the node of world rank r; nodes are numbered from 0 without gaps. `machine`: text of the
    /// topo::NodeMap of each node; empty: cores alone.
    NodesWorld(std::vector<int> const& node_of, Variables const& variables, std::string const& machine = {}) {
        std::vector<Cluster::Node> nodes;
        std::vector<Cluster::Rank> ranks;
        std::vector<std::vector<int>> descriptors;
        std::vector<int> sizes;
        bool const one_node = std::ranges::max(node_of) == 0;
        for (int node : node_of) {
            sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(node) + 1));
            Listener const listener = one_node ? Listener{} : listen_on({"127.0.0.1"});
            descriptors.push_back(listener.descriptors);
            ranks.push_back({node, sizes[static_cast<std::size_t>(node)]++, listener.port});
        }
        JobKey key{};
        key.fill(std::byte{42});
        for (std::size_t n = 0; n < sizes.size(); ++n) nodes.push_back({"node" + std::to_string(n), {"127.0.0.1/8"}});
        for (std::size_t n = 0; n < sizes.size(); ++n) {
            Cluster const cluster(nodes, ranks, static_cast<int>(n), key);
            segments_.push_back(Segment::create(static_cast<unsigned>(sizes[n]), machine, {},
                                                one_node ? std::string() : cluster.to_text()));
        }
        std::vector<std::string> errors;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            Segment& segment = segments_[static_cast<std::size_t>(ranks[r].node)];
            auto& process = *processes_.emplace_back(
                std::make_unique<Process>(segment, static_cast<unsigned>(ranks[r].local_rank), variables));
            p2p::start(process, descriptors[r]);
            coll::initialize(process, errors);
        }
        EXPECT_THAT(errors, testing::IsEmpty());
    }
    int size() const { return static_cast<int>(processes_.size()); }
    Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
    Comm& comm(int rank) { return *process(rank).world; }

    /// A rank's last call.
    void leave(int rank) {
        barrier(comm(rank));
        p2p::drain_sends(process(rank), "the test");
        barrier(comm(rank));
        p2p::shut_down(process(rank), "the test");
    }

private:
    std::deque<Segment> segments_;
    std::vector<std::unique_ptr<Process>> processes_;
};

/// Runs `body(world communicator)` on ranks on these nodes, one thread each.
inline void run_on_nodes(std::vector<int> const& node_of, std::function<void(Comm&)> const& body) {
    Variables variables;
    variables.wait = "shared";
    NodesWorld world(node_of, variables);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world.size(); ++rank)
        threads.emplace_back([&, rank] {
            body(world.comm(rank));
            world.leave(rank);
        });
    for (auto& t : threads) t.join();
}

/// The levels of a communicator of ranks on these nodes.
inline topo::Hierarchy tree_of_nodes(std::vector<int> const& node_of) {
    topo::Grouping const by_node{"node", node_of};
    return topo::Hierarchy::build(static_cast<int>(node_of.size()), std::span(&by_node, 1), "cluster");
}

}   // namespace tutti::coll::test
