// SPDX-License-Identifier: BSD-3-Clause
// Incoming connections whose initiator (caller) has not yet proved that it knows the job's key, and which of them is
// dropped when another one arrives.
//
// Any process that reaches a rank's port can connect and stay silent. Such callers must not delay a rank of the job, so
// a new caller is always accepted and the oldest one dropped. Callers from addresses of the job's nodes and callers
// from other addresses have separate quotas, and one address has at most half or a quarter of its quota. So
// processes on other hosts never displace a rank, and processes on a node displace only callers from that node. A rank
// leaves this list with its first segment, which proves the key; if it is displaced before, it connects again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::p2p::tcp {

class UnprovenCallers {
public:
    struct Bounds {
        std::size_t total, per_address;
    };
    static constexpr Bounds job_node_bounds{96, 48}, other_bounds{32, 8};
    static constexpr std::size_t max_callers = job_node_bounds.total + other_bounds.total;

    /// Adds a caller. Returns the number of the caller to drop for it, which is removed from the list; 0: none.
    std::uint64_t add(std::uint64_t number, std::string address, bool is_job_node) {
        std::vector<Caller>& callers = groups_[is_job_node];
        Bounds const& bounds = is_job_node ? job_node_bounds : other_bounds;
        callers.reserve(bounds.total);   // before anything changes
        auto const same = [&](Caller const& c) { return c.address == address; };
        auto const of_address = static_cast<std::size_t>(std::count_if(callers.begin(), callers.end(), same));
        auto victim = callers.end();
        if (of_address >= bounds.per_address) victim = std::find_if(callers.begin(), callers.end(), same);
        else if (callers.size() >= bounds.total) victim = callers.begin();
        std::uint64_t const dropped = victim == callers.end() ? 0 : victim->number;
        if (dropped != 0) callers.erase(victim);
        callers.push_back({number, std::move(address)});
        return dropped;
    }
    void remove(std::uint64_t number) {
        for (std::vector<Caller>& callers : groups_)
            std::erase_if(callers, [&](Caller const& c) { return c.number == number; });
    }
    bool contains(std::uint64_t number) const {
        return std::any_of(groups_.begin(), groups_.end(), [&](std::vector<Caller> const& callers) {
            return std::any_of(callers.begin(), callers.end(), [&](Caller const& c) { return c.number == number; });
        });
    }
    /// Returns the first caller to drop if descriptors are exhausted, from other addresses if there is any. 0: none.
    std::uint64_t oldest() const {
        for (std::vector<Caller> const& callers : groups_)
            if (!callers.empty()) return callers.front().number;
        return 0;
    }
    std::size_t size() const { return groups_[0].size() + groups_[1].size(); }
    void clear() { groups_ = {}; }

private:
    struct Caller {
        std::uint64_t number;
        std::string address;
    };

    std::array<std::vector<Caller>, 2> groups_;   ///< from other addresses, from addresses of nodes; the oldest first
};

}   // namespace tutti::p2p::tcp
