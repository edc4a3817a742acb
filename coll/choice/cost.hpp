// SPDX-License-Identifier: BSD-3-Clause
// Evaluates the formulas of costs (Cost in coll/algorithms/algorithm.hpp), for lists, the benchmark and tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coll/choice/choose.hpp"

namespace tutti::coll {

/// The edges of a virtual topology, without those of MPI_PROC_NULL.
struct EdgeCounts {
    int edges;     ///< from a rank to another rank
    int loops;     ///< from a rank to itself
    int senders;   ///< ranks with an edge to another rank
    int out;       ///< outgoing edges of the rank with the most, including loops
};

/// What messages take in the model of Zhu, Goodell, Gropp, Thakur (Cost::time), in microseconds.
struct MessageTimes {
    struct Line {
        double latency, per_byte;
    };
    Line inside, between;   ///< of messages inside a node, and between nodes
    /// The time of the second of two messages from the same master, as a part of the time of a single one: the
    /// ping-ping latency divided by the one-way ping-pong latency (section 3.1; the value is that of section 4.1).
    double alpha = 1.0 / 3;
};

/// A call whose cost is computed. Its setting and hierarchy must remain valid as long as this object.
struct CostOfCall {
    Setting const& setting;
    topo::Hierarchy const& hierarchy;   ///< of the communicator, or of the setting's own levels
    std::size_t slot_bytes;
    std::size_t bytes;   ///< s
    int root = 0;
    std::size_t element_bytes = 8;
    std::optional<EdgeCounts> edges = {};         ///< neighbourhood collectives only
    AccessPath access = AccessPath::load_store;   ///< of peers to the buffers of all ranks

    /// Returns the value of the algorithm's formula, which must be stated.
    double value() const;
    /// Returns the value of the algorithm's formula of time, which must be stated, in microseconds. `nodes`, `largest`:
    /// the number of nodes, and of ranks of the largest one (class Partition).
    double time(MessageTimes const& messages, int nodes, int largest) const;
};

/// The values of the names in a formula.
using CostNames = std::map<std::string, double, std::less<>>;

/// Returns the value of a formula. Names:
///   p            ranks, at least two
///   s            bytes of the message (coll/algorithms/algorithm.hpp)
///   e            bytes of an element; parts of a vector are cut between elements only where a formula says so
///   m, a, l      teams of the innermost level of the hierarchy, those of them that have one rank, and ranks of the
///                smallest; 1, 0 and p on one level
///   root, leads  the root; 1 if it is the lowest rank of its innermost team, otherwise 0
///   leaders      ranks that lead a team of at least two ranks, where the root leads all of its teams
///   slot         bytes of a slot
///   copyable     1 if peers can load all buffers, or the system copies them, otherwise 0
///   edges, loops, senders, out   EdgeCounts
/// and those of the algorithm's parameters. A keyword is its index, such as 0 for the first. A formula contains:
///   whole numbers such as 2 and 4K, names, parentheses, + - * /
///   a < b ? c : d                a choice; it extends as far as possible
///   name = a; b                  the value of b, in which `name` has the value of a
///   ceil(a), floor(a), mod(a, b), min(a, b), max(a, b)
///   power(a, k), log(a, k)       the largest power of k (at least 2) that is at most a; its exponent
///   staged(n)                    bytes loaded and stored to stage a message of n bytes (coll/blocks/messages.hpp): 2*n
///                                below 4K, 0 for larger ones, which are read in the sender's buffer, if copyable
///   staged(n, k)                 the same for a message in segments of k bytes
///   sum(i, n, a)                 the sum of a for i = 0, 1, 2, …, n - 1
///   doubling(d, n, a)            the sum of a for d = 1, 2, 4, … below n
///   bcast_binomial(n), …         the bytes of that algorithm of that collective among n ranks with root 0
///   bcast_binomial(n, r), …      the same with root r; its parameters have the values of names, or their defaults
/// and functions of the communicator's hierarchy, in which parameters with one value per level have that of the level:
///   teams(a)                     the sum of a for all teams: n is the number of the team's ranks, i its number on its
///                                level, top is 1 for the outermost team, otherwise 0; at is the index of the root
///                                in the outermost team, or of the member that represents it, otherwise 0
///   inner(n, k)                  ranks with children in an n-ary tree of n ranks of degree k (coll/blocks/tree.hpp)
///   parents(k)                   ranks with children if each team is such a tree under the member nearest to the root
///   group_parents(k)             the same for trees of groups of k ranks with a parent, under the lowest rank
/// Formulas of time also contain
///   N, c         nodes, and ranks of the largest one
///   t(n)         time of a message of n bytes: latency + n*beta
///   alpha        MessageTimes::alpha
///   log2(n)      steps of a binomial tree of n ranks; the paper's log, rounded up
///   phases(a)    the sum of a for the phases inside nodes and between them: n is the number of ranks in the phase, c
///                or N, top is 1 between nodes, otherwise 0, and latency and beta are those of messages there. Outside
///                of it, they are those of messages between nodes, if there are several nodes.
/// and other algorithms stand for their times.
/// Throws std::invalid_argument if the formula is not well-formed or has another name. `call`: needed by functions of
/// the hierarchy.
double evaluate(std::string_view formula, CostNames const& names, CostOfCall const* call = nullptr);
/// The same for a formula of time.
double evaluate_time(std::string_view formula, CostNames const& names, MessageTimes const& messages);

}   // namespace tutti::coll
