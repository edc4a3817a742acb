// SPDX-License-Identifier: BSD-3-Clause
// The nodes and ranks of a job: on which node each rank runs, its local rank (`place`), and how other nodes reach it.
// Every rank has this information from its start: the launcher writes it into each node's segment before it starts a
// rank; under another launcher it is assembled from what that launcher provides. Immutable afterwards.
//
// A job on one node stores none of it: world rank and local rank are the same number, and no rank listens on a socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topo/result.hpp"

namespace tutti {

/// The job's secret. Both ends of a connection must prove that they know it before any MPI data is read.
using JobKey = std::array<std::byte, 32>;

class Cluster {
public:
    struct Node {
        std::string name;                     ///< for messages to users
        std::vector<std::string> addresses;   ///< numeric with prefix length: "10.0.0.1/24", "fd00::1/64"
    };
    struct Rank {
        int node = 0;
        int place = 0;            ///< local rank: index of its state in its node's segment
        std::uint16_t port = 0;   ///< port on which it listens; 0: none
    };

    /// Returns a cluster of `ranks` ranks on one node.
    static Cluster one_node(int ranks);
    /// `here`: the node of this process.
    Cluster(std::vector<Node> nodes, std::vector<Rank> ranks, int here, JobKey key);

    int size() const { return size_; }   ///< number of ranks in the world
    int nodes() const { return static_cast<int>(nodes_.size()); }
    bool alone() const { return ranks_.empty(); }   ///< true if the job runs on one node
    int here() const { return here_; }              ///< this process's node
    int node_of(int rank) const { return alone() ? 0 : at(rank).node; }
    int place_of(int rank) const { return alone() ? rank : at(rank).place; }
    bool is_here(int rank) const { return alone() || at(rank).node == here_; }
    /// Returns the world rank of a local rank of this node.
    int rank_at(int place) const { return alone() ? place : here_ranks_[static_cast<std::size_t>(place)]; }
    int ranks_here() const { return alone() ? size_ : static_cast<int>(here_ranks_.size()); }
    /// Returns the number by which messages identify a peer: its local rank if it is on this node, else ranks_here()
    /// plus its world rank.
    int peer_of(int rank) const { return alone() ? rank : is_here(rank) ? at(rank).place : ranks_here() + rank; }
    /// The inverse of peer_of; −1 for a negative `peer`.
    int rank_of_peer(int peer) const {
        return peer < 0 ? -1 : peer < ranks_here() ? rank_at(peer) : peer - ranks_here();
    }

    Node const& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
    Rank const& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    JobKey const& key() const { return key_; }

    /// A text of a few lines for the segment; it contains the key. Empty for a job on one node, which needs no
    /// from_text. from_text accepts arbitrary input and fails with an error message unless it is such a text.
    std::string to_text() const;
    static topo::Result<Cluster> from_text(std::string_view text);

private:
    Cluster() = default;

    int size_ = 0, here_ = 0;
    std::vector<Node> nodes_;
    std::vector<Rank> ranks_;       ///< by world rank; empty: one node
    std::vector<int> here_ranks_;   ///< world ranks of this node by local rank
    JobKey key_{};
};

}   // namespace tutti
