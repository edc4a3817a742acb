// SPDX-License-Identifier: BSD-3-Clause
// The road network: vertices 0 to junctions - 1 are junctions, the others are dead ends. A road leads from a junction
// to any vertex, so that the inner vertices of a path are junctions. Each scenario (for instance an hour of the day)
// has its own roads and travel times, computed from the numbers of their ends, so that every rank knows them without
// communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace apsp {

struct Network {
    int vertices, junctions, scenario;

    /// Computes the travel times of the roads from a junction; above 2^30 where there is no road. Times are small
    /// whole numbers, so their sums are exact and the distances do not depend on the order in which paths are found.
    void roads_from(int junction, double* times) const;
};

/// Returns the distances from all junctions, row by row, computed by the textbook's three loops with all vertices as
/// pivots, dead ends included. --verify compares with them.
std::vector<double> plain_floyd_warshall(Network const& network);

}   // namespace apsp

// `wide`: compiles a function also for the wide vectors of newer processors; the version is selected at program
// start.

#if defined(__x86_64__)
#define wide __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define wide
#endif
