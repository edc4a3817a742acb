// SPDX-License-Identifier: BSD-3-Clause
// Many ranks that one thread drives in turn through nonblocking calls: the memory of each rank is known at any time,
// and thousands of ranks need no threads. Tests that include this header without threads give ThreadSanitizer nothing
// to check, and are left out there like all single-threaded tests (tests/CMakeLists.txt).
#pragma once

#include <vector>

#include "tests/coll/world/allocations.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {

class DrivenRanks {
public:
    DrivenRanks(std::vector<int> const& node_of, Variables const& variables)
        : world_(node_of, variables), memory_(node_of.size()) {}
    int size() const { return world_.size(); }
    Comm& comm(int rank) { return world_.comm(rank); }
    Process& process(int rank) { return world_.process(rank); }

    /// All ranks' later calls of a collective use this setting if its algorithm can run them; an empty setting restores
    /// the default choice.
    void choose(Collective collective, Setting const& setting) {
        for (int r = 0; r < size(); ++r)
            as_rank(r, [&] {
                state_of(process(r)).settings.requested[static_cast<std::size_t>(collective)] = setting;
                state_of(comm(r)).decisions.clear();
            });
    }
    /// The number of connections of each node's ranks.
    std::vector<std::size_t> links() {
        std::vector<std::size_t> of_node;
        for (int r = 0; r < size(); ++r) {
            auto const node = static_cast<std::size_t>(process(r).cluster.this_node());
            of_node.resize(std::max(of_node.size(), node + 1));
            of_node[node] += p2p::engine(process(r)).connected_ranks().size();
        }
        return of_node;
    }

    /// Calls start_call(rank), which returns a request, on all ranks, and drives the requests until all are complete.
    /// Objects that the calls refer to must exist until then. Returns the largest growth of a rank's memory meanwhile,
    /// in bytes.
    template <class StartCall>
    std::ptrdiff_t run(StartCall&& start_call) {
        std::vector<Ref<Request>> requests(memory_.size());
        for (int r = 0; r < size(); ++r) {
            Memory& m = memory_[static_cast<std::size_t>(r)];
            m.before = m.most = m.in_use;
            as_rank(r, [&] { requests[static_cast<std::size_t>(r)] = start_call(r); });
        }
        while (!std::ranges::all_of(requests, [](auto const& one) { return one->complete; }))
            for (int r = 0; r < size(); ++r) as_rank(r, [&] { process(r).waiter.progress(); });
        std::ptrdiff_t most = 0;
        for (int r = 0; r < size(); ++r) {
            Request& request = *requests[static_cast<std::size_t>(r)];
            EXPECT_EQ(request.status.error, ErrorClass::success) << "rank " << r << ": " << request.error_text;
            as_rank(r, [&] { requests[static_cast<std::size_t>(r)] = {}; });
            most =
                std::max(most, memory_[static_cast<std::size_t>(r)].most - memory_[static_cast<std::size_t>(r)].before);
        }
        return most;
    }

private:
    struct Memory {
        std::ptrdiff_t in_use = 0, most = 0, before = 0;
    };
    template <class F>
    void as_rank(int rank, F&& f) {
        Memory& m = memory_[static_cast<std::size_t>(rank)];
        bytes_in_use = max_bytes_in_use = m.in_use;
        f();
        m.in_use = bytes_in_use;
        m.most = std::max(m.most, max_bytes_in_use);
    }

    NodesWorld world_;
    std::vector<Memory> memory_;
};

}   // namespace tutti::coll::test
