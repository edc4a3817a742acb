// SPDX-License-Identifier: BSD-3-Clause
// Runs tests with windows that use active messages: on several nodes, or on one node where no other access method is
// available. Each rank has a progress thread; the test body holds the rank's lock, as an MPI call does.
#pragma once

#include <atomic>
#include <numeric>
#include <string>

#include "rma/am_messages.hpp"
#include "runtime/wait/progress_thread.hpp"
#include "tests/rma/world.hpp"

namespace tutti::rma::ranks_as_threads {

struct NodeLayout {
    char const* name;
    std::vector<int> node_of;
};
inline void PrintTo(NodeLayout const& layout, std::ostream* out) { *out << layout.name; }

/// One rank's view in a test.
struct Member {
    Comm& comm;
    Window& window;
    std::vector<std::int64_t>& memory;

    int rank() const { return comm.rank(); }
    int size() const { return comm.size(); }
    int right() const { return (rank() + 1) % size(); }
    ActiveMessages::Sent sent() const {
        return window.active_messages ? active_messages(window).sent() : ActiveMessages::Sent{};
    }
    /// Computes, without an MPI call, until `done` is set.
    void compute_until(std::atomic<bool> const& done) const {
        RankLock::ScopedUnlock unlocked(comm.process.lock);
        while (!done.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
};

/// Runs `body` on windows of `numbers` 64-bit zeros at each rank. Only the owner can access the memory, or all ranks of
/// its node if `directly_accessible`.
inline void run_windows(NodeLayout const& layout, std::size_t numbers, std::function<void(Member&)> const& body,
                        bool directly_accessible = false) {
    Variables variables;
    variables.wait = "shared";
    variables.cma = variables.xpmem = directly_accessible;
    coll::test::NodesWorld world(layout.node_of, variables);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world.size(); ++rank)
        threads.emplace_back([&, rank] {
            Comm& comm = world.comm(rank);
            std::vector<std::int64_t> memory(numbers);
            Ref<Window> window = create(comm, memory.data(), static_cast<std::int64_t>(8 * numbers), 8, nullptr);
            {
                RankLock::ScopedLock guard(comm.process.lock);
                Member member{comm, *window, memory};
                body(member);
                free(std::move(window));
                comm.process.progress_thread.reset();
            }
            world.leave(rank);
        });
    for (auto& t : threads) t.join();
}

inline void sleep_briefly(Member const& me) {
    RankLock::ScopedUnlock unlocked(me.comm.process.lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
/// Gives another rank, whose call must not return yet, enough time to return.
inline void let_others_run(Member const& me) {
    for (int i = 0; i < 100; ++i) sleep_briefly(me);
}

/// Adds 1 to the value at `rank` by get and put; not atomic.
inline void increment(Member& me, Datatype const& type, int rank) {
    std::int64_t value = 0;
    get(me.window, Local::of(&value, 1, type), {rank, 0, 1, type});
    flush(me.window, rank, "flush");
    ++value;
    put(me.window, Local::of(&value, 1, type), {rank, 0, 1, type});
}

inline std::string name_of(testing::TestParamInfo<NodeLayout> const& info) { return info.param.name; }
inline auto const all_layouts =
    testing::Values(NodeLayout{"two_nodes", {0, 1}}, NodeLayout{"two_by_two", {0, 0, 1, 1}},
                    NodeLayout{"in_turn", {0, 1, 0}}, NodeLayout{"owners_of_one_node", {0, 0, 0}});

}   // namespace tutti::rma::ranks_as_threads
