// SPDX-License-Identifier: BSD-3-Clause
// Windows whose members ask each other by messages: on several nodes, or on one where nothing else reaches. Each rank
// has a thread that serves; its body runs inside the rank's lock, as an MPI call does.
#pragma once

#include <atomic>
#include <numeric>
#include <string>

#include "rma/am_messages.hpp"
#include "runtime/wait/progress_thread.hpp"
#include "tests/rma/world.hpp"

namespace tutti::rma::ranks_as_threads {

struct Where {
    char const* name;
    std::vector<int> node_of;
};
inline void PrintTo(Where const& where, std::ostream* out) { *out << where.name; }

/// One rank's view in a test.
struct Member {
    Comm& comm;
    Window& window;
    std::vector<std::int64_t>& memory;

    int rank() const { return comm.rank(); }
    int size() const { return comm.size(); }
    int right() const { return (rank() + 1) % size(); }
    Messages::Sent sent() const { return window.messages ? messages(window).sent() : Messages::Sent{}; }
    /// Computes, without a call of the library, until `done`.
    void compute_until(std::atomic<bool> const& done) const {
        RankLock::Outside outside(comm.process.lock);
        while (!done.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
};

/// `numbers` 64-bit numbers at each rank, that are 0, in memory that only its owner reaches, or its node as well if
/// `reached`.
inline void run_windows(Where const& where, std::size_t numbers, std::function<void(Member&)> const& body,
                        bool reached = false) {
    Variables variables;
    variables.wait = "shared";
    variables.cma = variables.xpmem = reached;
    coll::test::NodesWorld world(where.node_of, variables);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world.size(); ++rank)
        threads.emplace_back([&, rank] {
            Comm& comm = world.comm(rank);
            std::vector<std::int64_t> memory(numbers);
            Ref<Window> window = create(comm, memory.data(), static_cast<std::int64_t>(8 * numbers), 8, nullptr);
            {
                RankLock::Inside inside(comm.process.lock);
                Member member{comm, *window, memory};
                body(member);
                free(std::move(window));
                comm.process.progress_thread.reset();
            }
            world.leave(rank);
        });
    for (auto& t : threads) t.join();
}

inline void give_a_moment(Member const& me) {
    RankLock::Outside outside(me.comm.process.lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
/// Lets another rank, whose call must not return now, have every chance to return.
inline void give_a_chance(Member const& me) {
    for (int i = 0; i < 100; ++i) give_a_moment(me);
}

/// Not atomic.
inline void increment(Member& me, Datatype const& type, int rank) {
    std::int64_t value = 0;
    get(me.window, Local::of(&value, 1, type), {rank, 0, 1, type});
    flush(me.window, rank, "flush");
    ++value;
    put(me.window, Local::of(&value, 1, type), {rank, 0, 1, type});
}

inline std::string name_of(testing::TestParamInfo<Where> const& info) { return info.param.name; }
inline auto const everywhere = testing::Values(Where{"two_nodes", {0, 1}}, Where{"two_by_two", {0, 0, 1, 1}},
                                               Where{"in_turn", {0, 1, 0}}, Where{"owners_of_one_node", {0, 0, 0}});

}   // namespace tutti::rma::ranks_as_threads
