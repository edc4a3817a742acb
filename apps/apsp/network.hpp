// SPDX-License-Identifier: BSD-3-Clause
// The road network: vertices 0 to junctions - 1 are junctions, the rest are dead ends. A road leads from a junction to
// any vertex, so that inside a path there are only junctions. Each scenario (an hour of the day, say) has roads and
// travel times of its own, computed from the numbers of their ends: every rank knows them without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace apsp {

struct Network {
    int vertices, junctions, scenario;

    // Travel times of the roads from a junction; above 2^30 where there is no road. Times are small whole numbers:
    // sums of them are exact, so the distances do not depend on the order in which paths are found.
    void roads_from(int junction, double *times) const;
};

// The distances from all junctions, row by row, by the textbook's three loops over all vertices as pivots, dead ends
// included: the plain computation that --verify compares with.
std::vector<double> plain_floyd_warshall(const Network &network);

} // namespace apsp
