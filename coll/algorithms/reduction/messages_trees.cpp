// SPDX-License-Identifier: BSD-3-Clause
// Reduce along trees of messages, in shared memory and between nodes: binary, binomial, chain, linear.
//
// binomial: whole messages along a binomial tree; with a non-commutative operator to rank 0 and from there to
// the root. ⌈log2 p⌉ (+ 1) consecutive messages; p − 1 (+ 1) messages of s bytes.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4.4 (short messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/tree_flow.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task binomial(Env& env, ReduceArgs const& a) {
    return reduce_by_shape(env, a, binomial_tree, one_segment);
}

extern constinit const Algorithm<ReduceArgs> binomial_algorithm = {
    "binomial",
    "each rank combines its subtree's operands and sends the result to its parent",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(binomial),
    {"(p - 1)*(3*s + staged(s))", "log2(p)*t(s)"}};

// binary: along a binary tree, in segments if asked for; with a non-commutative operator to rank 0 and from there
// to the root. ⌊log2 p⌋ (+ 1) + s/segment steps of at most two messages.
// Pješivac-Grbović and others, Cluster Computing 10 (2007), "binary".

template <class Env>
Task binary(Env& env, ReduceArgs const& a) {
    return reduce_by_shape(env, a, binary_tree, a.parameters[0]);
}

constexpr Parameter binary_parameters[] = {{"segment", 1 << 30, "bytes forwarded at a time"}};
extern constinit const Algorithm<ReduceArgs> binary_algorithm = {
    "binary",
    "each rank combines the results of at most two others and sends its own to its parent",
    Family::baseline,
    "Pješivac-Grbović and others, Cluster Computing 10 (2007)",
    requires_reassociation,
    binary_parameters,
    TUTTI_SHM_AND_NET(binary),
    {"(p - 1)*(3*s + staged(s, segment))"}};

// chain: in segments along a chain of ranks that ends at the root; with a non-commutative operator it ends at
// rank 0, which sends the result to the root. p − 1 (+ 1) + s/segment consecutive messages; each rank sends s bytes.
// Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel, Dongarra, "Performance analysis of MPI collective operations",
// Cluster Computing 10 (2007), "pipeline".

template <class Env>
Task chain(Env& env, ReduceArgs const& a) {
    return reduce_by_shape(env, a, chain_tree, a.parameters[0]);
}

constexpr Parameter chain_parameters[] = {{"segment", 32768, "bytes forwarded at a time"}};
extern constinit const Algorithm<ReduceArgs> chain_algorithm = {
    "chain",
    "segments move along the ranks to the root, and each rank combines its own",
    Family::baseline,
    "Pješivac-Grbović and others, Cluster Computing 10 (2007)",
    requires_reassociation,
    chain_parameters,
    TUTTI_SHM_AND_NET(chain),
    {"(p - 1)*(3*s + staged(s, segment))"}};

// linear: all ranks send to the root, which combines in rank order from its own position outwards. p − 1
// messages of s bytes one after the other at the root, read in the sender's buffer or staged once.
// Pješivac-Grbović and others, Cluster Computing 10 (2007), "linear".

template <class Env>
Task linear(Env& env, ReduceArgs const& a) {
    return reduce_to_root(env, a, position_around(env.frames(), star_tree, a.root, env.rank(), env.size(), false),
                          a.root, one_segment);
}

extern constinit const Algorithm<ReduceArgs> linear_algorithm = {
    "linear",
    "all ranks send to the root, which combines",
    Family::baseline,
    "Pješivac-Grbović and others, Cluster Computing 10 (2007)",
    requires_reassociation,
    {},
    TUTTI_SHM_AND_NET(linear),
    {"(p - 1)*(3*s + staged(s))"}};

}   // namespace tutti::coll::algorithms::reduce
