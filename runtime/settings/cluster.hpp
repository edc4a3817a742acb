// SPDX-License-Identifier: BSD-3-Clause
// The nodes and ranks of a job: on which node each rank runs, its local rank, and how other nodes reach it.
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
        std::vector<std::string> addresses;   ///< numeric with prefix length: "10.0.0.1/24", "fd00:0:0::1/64"
    };
    struct Rank {
        int node = 0;
        int local_rank = 0;       ///< index of its state in its node's segment
        std::uint16_t port = 0;   ///< port on which it listens; 0: none
    };

    /// Returns a cluster of `ranks` ranks on one node.
    static Cluster one_node(int ranks);
    /// `own_node`: the node of this process.
    Cluster(std::vector<Node> nodes, std::vector<Rank> ranks, int own_node, JobKey key);

    int size() const { return size_; }   ///< number of ranks in the world
    int nodes() const { return static_cast<int>(nodes_.size()); }
    bool is_single_node() const { return ranks_.empty(); }   ///< true if the job runs on one node
    int this_node() const { return this_node_; }             ///< this process's node
    int node_of(int rank) const { return is_single_node() ? 0 : at(rank).node; }
    int local_rank_of(int rank) const { return is_single_node() ? rank : at(rank).local_rank; }
    bool is_local(int rank) const { return is_single_node() || at(rank).node == this_node_; }
    /// Returns the world rank of a local rank of this node.
    int world_rank_at(int local_rank) const {
        return is_single_node() ? local_rank : local_ranks_[static_cast<std::size_t>(local_rank)];
    }
    int local_size() const { return is_single_node() ? size_ : static_cast<int>(local_ranks_.size()); }
    /// Returns the number by which messages identify a peer: its local rank if it is on this node, else local_size()
    /// plus its world rank.
    int peer_id(int rank) const {
        return is_single_node() ? rank : is_local(rank) ? at(rank).local_rank : local_size() + rank;
    }
    /// The inverse of peer_id; −1 for a negative `peer`.
    int world_rank_of_peer(int peer) const {
        return peer < 0 ? -1 : peer < local_size() ? world_rank_at(peer) : peer - local_size();
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

    int size_ = 0, this_node_ = 0;
    std::vector<Node> nodes_;
    std::vector<Rank> ranks_;        ///< by world rank; empty: one node
    std::vector<int> local_ranks_;   ///< world ranks of this node by local rank
    JobKey key_{};
};

}   // namespace tutti
