// SPDX-License-Identifier: BSD-3-Clause
// Putting the map together.
#include "launcher/nodes/world.hpp"

#include <cstring>

#include "runtime/base/error.hpp"

namespace tutti::launcher {

World world_of(Allocation const& allocation, int here, StartOrder const& order) {
    std::size_t const count = allocation.nodes.size();
    bool const whole = order.names.size() == count && order.addresses.size() == count && order.ports.size() == count;
    if (!whole || order.key.size() != sizeof(JobKey))
        fail(ErrorClass::other, "the map of the job does not fit its nodes");
    std::vector<Cluster::Node> nodes;
    std::vector<Cluster::Rank> ranks(allocation.node_of.size());
    for (std::size_t n = 0; n < count; ++n) {
        nodes.push_back({order.names[n], order.addresses[n]});
        std::vector<int> const here_ranks = allocation.ranks_on(static_cast<int>(n));
        if (order.ports[n].size() != here_ranks.size())
            fail(ErrorClass::other, "node ", allocation.nodes[n], " does not listen for all of its ranks");
        for (std::size_t place = 0; place < here_ranks.size(); ++place)
            ranks[static_cast<std::size_t>(here_ranks[place])] = {static_cast<int>(n), static_cast<int>(place),
                                                                  order.ports[n][place]};
    }
    JobKey key{};
    std::memcpy(key.data(), order.key.data(), key.size());
    return {Cluster(std::move(nodes), std::move(ranks), here, key), order.tuning};
}

}   // namespace tutti::launcher
