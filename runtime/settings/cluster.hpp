// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a job are: which node each runs on, its place there, and how it is reached from other nodes. Known
// to every rank from its first moment: the launcher writes it into each node's segment before it starts a rank, and
// under another launcher it is put together from what that one tells. Immutable afterwards.
//
// A job on one node has none of it: rank and place are the same number, and nobody listens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topo/base/result.hpp"

namespace tutti {

/// What both ends of a connection must know before a byte of MPI is read.
using JobKey = std::array<std::byte, 32>;

class Cluster {
public:
    struct Node {
        std::string name;                     ///< for people
        std::vector<std::string> addresses;   ///< numeric, with the length of the network: "10.0.0.1/24", "fd00::1/64"
    };
    struct Rank {
        int node = 0;
        int place = 0;            ///< index of its state in its node's segment
        std::uint16_t port = 0;   ///< on which it listens; 0: it does not
    };

    /// So many ranks on one node.
    static Cluster one_node(int ranks);
    /// `here`: the node of this process.
    Cluster(std::vector<Node> nodes, std::vector<Rank> ranks, int here, JobKey key);

    int size() const { return size_; }   ///< ranks of the world
    int nodes() const { return static_cast<int>(nodes_.size()); }
    bool alone() const { return ranks_.empty(); }   ///< one node
    int here() const { return here_; }              ///< this process's node
    int node_of(int rank) const { return alone() ? 0 : at(rank).node; }
    int place_of(int rank) const { return alone() ? rank : at(rank).place; }
    bool is_here(int rank) const { return alone() || at(rank).node == here_; }
    /// The world rank at a place of this node.
    int rank_at(int place) const { return alone() ? place : here_ranks_[static_cast<std::size_t>(place)]; }
    int ranks_here() const { return alone() ? size_ : static_cast<int>(here_ranks_.size()); }
    /// How messages name a peer: its place if it is on this node, else a number behind those of all places.
    int peer_of(int rank) const { return alone() ? rank : is_here(rank) ? at(rank).place : ranks_here() + rank; }
    /// The world rank of a peer named so; −1 for no peer.
    int rank_of_peer(int peer) const {
        return peer < 0 ? -1 : peer < ranks_here() ? rank_at(peer) : peer - ranks_here();
    }

    Node const& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
    Rank const& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    JobKey const& key() const { return key_; }

    /// Text of a few lines for the segment; holds the key. from_text takes anything and refuses what to_text has not
    /// written with a sentence.
    std::string to_text() const;
    static topo::Result<Cluster> from_text(std::string_view text);

private:
    Cluster() = default;

    int size_ = 0, here_ = 0;
    std::vector<Node> nodes_;
    std::vector<Rank> ranks_;       ///< by world rank; empty: one node
    std::vector<int> here_ranks_;   ///< by place
    JobKey key_{};
};

}   // namespace tutti
