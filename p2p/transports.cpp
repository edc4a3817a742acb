// SPDX-License-Identifier: BSD-3-Clause
// The transports, in the order in which peers look for theirs: the only place that names them.
#include "p2p/check/transport.hpp"
#include "p2p/engine.hpp"
#include "p2p/self/transport.hpp"
#include "p2p/shm/transport.hpp"
#include "p2p/tcp/transport.hpp"

namespace tutti::p2p {

std::vector<std::unique_ptr<Transport>> make_transports(Matching& matching, std::vector<int> const& listeners,
                                                        Checks* checks) {
    std::vector<tcp::Socket> calls;
    for (int descriptor : listeners) calls.emplace_back(descriptor);
    std::vector<std::unique_ptr<Transport>> all;
    all.push_back(std::make_unique<SelfTransport>(matching));
    all.push_back(std::make_unique<ShmTransport>(matching));
    if (!matching.process().cluster.alone()) all.push_back(std::make_unique<TcpTransport>(matching, std::move(calls)));
    for (auto& one : all)
        if (checks) one = std::make_unique<CheckedTransport>(std::move(one), *checks);
    return all;
}

}   // namespace tutti::p2p
