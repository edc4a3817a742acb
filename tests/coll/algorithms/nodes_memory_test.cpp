// SPDX-License-Identifier: BSD-3-Clause
// Small collectives between nodes, with the default choice, allocate nothing from the system once their pools are warm,
// as blocking, nonblocking and persistent calls.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <thread>

#include "tests/coll/world/allocations.hpp"
#include "tests/coll/world/int_calls.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {
namespace {

enum class CallForm { blocking, nonblocking, persistent };

void finish(Comm& comm, Request& request) {
    comm.process.waiter.wait_until([&] { return request.complete || (request.advance(), request.complete); },
                                   {"the test"});
    EXPECT_EQ(request.status.error, ErrorClass::success) << request.error_text;
}

/// Counts the allocations of all ranks in calls that they make together, one after the other.
class Round {
public:
    explicit Round(int ranks) : together_(ranks) {}

    /// Returns whether a series of such calls runs without an allocation on any rank, within at most `most` calls.
    template <class F>
    bool quiet_for(int wanted, int most, F&& call) {
        int quiet = 0;
        for (int k = 0; k < most && quiet < wanted; ++k) {
            together_.arrive_and_wait();
            std::size_t const before = allocations;
            call();
            sums_[static_cast<std::size_t>(k % 2)] += allocations - before;
            together_.arrive_and_wait();
            quiet = sums_[static_cast<std::size_t>(k % 2)] == 0 ? quiet + 1 : 0;
            sums_[static_cast<std::size_t>((k + 1) % 2)] = 0;
        }
        return quiet >= wanted;
    }

private:
    std::barrier<> together_;
    std::array<std::atomic<std::size_t>, 2> sums_{};
};

bool takes_no_memory(Round& round, Comm& comm, IntCalls& calls, Collective which, CallForm form) {
    constexpr int wanted = 30, most = 1000;
    bool quiet = false;
    calls.with(which, [&](Collective collective, auto const& args) {
        if (form == CallForm::blocking) {
            quiet = round.quiet_for(wanted, most, [&] { execute(BoundCall{comm, collective, args}); });
        } else if (form == CallForm::nonblocking) {
            quiet = round.quiet_for(wanted, most, [&] { finish(comm, *start(BoundCall{comm, collective, args})); });
        } else {
            Ref<Request> const request = init(BoundCall{comm, collective, args});
            quiet = round.quiet_for(wanted, most, [&] {
                request->start();
                finish(comm, *request);
            });
        }
    });
    return quiet;
}

using Nodes = std::vector<int>;   // by rank

class NodesMemory : public testing::TestWithParam<Nodes> {};

TEST_P(NodesMemory, SmallCallsAllocateNothingOncePoolsAreWarm) {
    Variables variables;
    variables.wait = "shared";
    NodesWorld world(GetParam(), variables);
    Round round(world.size());
    std::vector<std::thread> threads;
    for (int r = 0; r < world.size(); ++r)
        threads.emplace_back([&, r] {
            for (int count : {2, 100, 800}) {
                IntBuffers buffers(world.size(), count);
                IntCalls calls(world.comm(r), count, buffers);
                for (int c = 0; c < collectives; ++c)
                    for (CallForm form : {CallForm::blocking, CallForm::nonblocking, CallForm::persistent})
                        EXPECT_TRUE(takes_no_memory(round, world.comm(r), calls, static_cast<Collective>(c), form))
                            << name_of(static_cast<Collective>(c)) << " of " << count << " ints, form "
                            << static_cast<int>(form) << ", rank " << r;
            }
            EXPECT_GT(allocations, 0u) << "nothing was counted";
            world.leave(r);
        });
    for (auto& t : threads) t.join();
}

INSTANTIATE_TEST_SUITE_P(Worlds, NodesMemory,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 0, 0, 1}, Nodes{0, 1, 2},
                                         Nodes{0, 1, 2, 0, 1, 2, 0}, Nodes{0, 0, 1, 1, 2, 2, 3, 3}));

}   // namespace
}   // namespace tutti::coll::test
