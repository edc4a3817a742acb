// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block), movement-avoiding by sockets: each slice goes round the members of every socket, then each
// rank combines what the m sockets have of its slice. The last combination writes into the rank's result.
// p/m + 1 steps per round of p·slice bytes; (3p + 2m − 3)·s bytes loaded and stored by all ranks together.
// YHCCL (Peng et al., SC 2023), section 3.3; what a socket is here: sockets.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/movement_avoiding.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task socket_aware(Env& env, ReduceScatterArgs const& a) {
    return reduce_by_chains_of_sockets(env, a, Receives::own);
}

extern constinit const Algorithm<ReduceScatterArgs> socket_aware_algorithm = {
    "socket_aware",
    "each slice goes round every socket, then its rank combines the sockets' results",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 3.3, socket-aware",
    requires_commuting_operator,
    socket_aware_parameters,
    TUTTI_RUNS(socket_aware)};

}   // namespace tutti::coll::algorithms::reduce_scatter
