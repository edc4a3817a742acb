// SPDX-License-Identifier: BSD-3-Clause
// The NUMA nodes of a simulated machine, which record the requests that they get, and can refuse them.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/memory/numa.hpp"
#include "topo/machine.hpp"

namespace tutti {

/// Records memory policies of one file: ranges and the node that is requested for them; interleaved: −2.
class FakeNuma final : public NumaSystem {
public:
    static constexpr int interleaved = -2;

    explicit FakeNuma(topo::Machine machine) : machine_(std::move(machine)) {
        nodes_.resize(static_cast<std::size_t>(machine_.count(topo::Level::numa)));
        std::iota(nodes_.begin(), nodes_.end(), 0);
    }
    /// Simulates a kernel without NUMA, or a cgroup with one node.
    explicit FakeNuma(std::string unavailable_reason) : obstacle_(std::move(unavailable_reason)) {}

    std::string unavailable_reason() const override { return obstacle_; }
    std::vector<int> const& nodes() const override { return nodes_; }
    int node_of_unit(int unit) const override {
        auto const found = std::ranges::find(machine_.pus, unit, &topo::Pu::os);
        return knows_units && found != machine_.pus.end() ? found->numa : -1;
    }
    int current_node() const override { return here; }

    int prefer(FileRange const& range, std::span<int const> nodes) override {
        ++calls;
        if (refusal == 0) set_policy(range.offset, range.bytes, nodes.size() == 1 ? nodes[0] : interleaved);
        return refusal;
    }
    int move(std::byte* first, std::size_t bytes, int node) override {
        ++moves;
        if (refusal == 0) moved.push_back({first, bytes, node});
        return refusal;
    }
    int locate(std::span<void*>, std::span<int> nodes) const override {
        std::ranges::fill(nodes, all_pages_on);
        return 0;
    }

    /// The number of these bytes of the file that are requested on the node.
    std::uint64_t preferred_bytes(std::uint64_t offset, std::uint64_t bytes, int node) const {
        std::uint64_t sum = 0, end = offset + bytes;
        for (auto const& [first, range] : ranges_)
            if (range.node == node && first < end && range.end > offset)
                sum += std::min(end, range.end) - std::max(offset, first);
        return sum;
    }
    /// Are all of these bytes requested on the node?
    bool all_preferred(std::uint64_t offset, std::uint64_t bytes, int node) const {
        return preferred_bytes(offset, bytes, node) == bytes;
    }

    bool knows_units = true;   ///< false: the units of a rank have no known node, as if it were not bound
    int here = 0;              ///< the node on which every thread runs
    int refusal = 0;           ///< errno of every call
    int all_pages_on = 0;
    int calls = 0, moves = 0;
    struct Moved {
        std::byte* first;
        std::size_t bytes;
        int node;
    };
    std::vector<Moved> moved;

private:
    struct Range {
        std::uint64_t end;
        int node;
    };

    /// Replaces earlier policies of the range.
    void set_policy(std::uint64_t first, std::uint64_t bytes, int node) {
        cut(first);
        cut(first + bytes);
        ranges_.erase(ranges_.lower_bound(first), ranges_.lower_bound(first + bytes));
        ranges_.emplace(first, Range{first + bytes, node});
    }
    void cut(std::uint64_t at) {
        auto it = ranges_.lower_bound(at);
        if (it == ranges_.begin() || (--it)->second.end <= at) return;
        ranges_.emplace(at, it->second);
        it->second.end = at;
    }

    topo::Machine machine_;
    std::vector<int> nodes_;
    std::string obstacle_;
    std::map<std::uint64_t, Range> ranges_;
};

}   // namespace tutti
