// SPDX-License-Identifier: BSD-3-Clause
// Many ranks that one thread drives, one after the other, through nonblocking calls: what each of them has allocated is
// known at any time, and thousands of ranks need no threads. ThreadSanitizer has nothing to find in tests that include
// this and no threads; they are left out there, as all tests of one thread are (tests/CMakeLists.txt).
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

    /// From now on all ranks' calls of a collective go by this setting where its algorithm can do them; an empty one
    /// leaves them to the table.
    void choose(Collective collective, Setting const& setting) {
        for (int r = 0; r < size(); ++r)
            as_rank(r, [&] {
                state_of(process(r)).settings.of[static_cast<std::size_t>(collective)] = setting;
                state_of(comm(r)).choices.forget();
            });
    }
    /// Connections of ranks of each node to others.
    std::vector<std::size_t> links() {
        std::vector<std::size_t> of_node;
        for (int r = 0; r < size(); ++r) {
            auto const node = static_cast<std::size_t>(process(r).cluster.here());
            of_node.resize(std::max(of_node.size(), node + 1));
            of_node[node] += p2p::engine(process(r)).connected().size();
        }
        return of_node;
    }

    /// Calls start_call(rank), which returns a request, at all ranks, and drives them until all are complete. What the
    /// calls refer to must live until then. Returns the most bytes by which a rank's memory grew meanwhile.
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
        bytes_in_use = most_in_use = m.in_use;
        f();
        m.in_use = bytes_in_use;
        m.most = std::max(m.most, most_in_use);
    }

    NodesWorld world_;
    std::vector<Memory> memory_;
};

}   // namespace tutti::coll::test
