// SPDX-License-Identifier: BSD-3-Clause
// Exscan by load and store in everybody's buffers: each rank computes all ranks' results for its range of the indexes.
// Two exchanges; p·s bytes loaded and p·s stored by all ranks together. The argument: prefix_direct.hpp.
#include "coll/blocks/prefix/direct.hpp"

namespace tutti::coll::algorithms::exscan {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) { return prefix_direct(env, a, false); }

constexpr Parameter direct_parameters[] = {
    {"chunk", 8192, "bytes of one result that are computed at a time"},
    {"share", 1024, "bytes below which a rank's share is not divided further"},
    {"block", 32768, "bytes of a block where some rank's buffers cannot be reached"},
};
extern constinit const Algorithm<ReduceArgs> direct_algorithm = {
    "direct", "every rank computes its range of all results from the ranks below it", Family::tutti, "Tutti",
    requires_one_kind, direct_parameters, TUTTI_RUNS(direct)};

}  // namespace tutti::coll::algorithms::exscan
