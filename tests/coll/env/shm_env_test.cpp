// SPDX-License-Identifier: BSD-3-Clause
// Collectives through XPMEM: ranks attach to the buffers of their peers once, or, without a registration cache, in each
// operation, which detaches them at its end.
#include <gmock/gmock.h>

#include "coll/blocks/reducer.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/nodes_world.hpp"
#include "tests/runtime/memory/fake_xpmem.hpp"

namespace tutti::coll::test {
namespace {

class Registrations : public WithFakeXpmem {
protected:
    static constexpr std::int64_t count = 50'000;   // so large that the C library maps each buffer on its own
    static constexpr std::uint64_t calls = 4;

    /// Runs `body(communicator, counted)` on the ranks of a node.
    template <class Body>
    void run(int ranks, Variables const& variables, Body body) {
        {
            NodesWorld world(std::vector<int>(static_cast<std::size_t>(ranks)), variables);
            std::vector<std::thread> threads;
            for (int rank = 0; rank < ranks; ++rank)
                threads.emplace_back([&, rank] {
                    body(world.comm(rank), CountedMappings(world.process(rank).rank_state().counters));
                    world.leave(rank);
                });
            for (auto& t : threads) t.join();
        }
        EXPECT_EQ(attached(), 0) << "all are detached in the end";
    }
    static Variables variables(bool cache, char const* algorithms) {
        Variables v = WithFakeXpmem::variables(cache);
        v.coll = algorithms;
        return v;
    }
    /// What a rank that accesses `buffers` buffers of peers in each call has counted.
    static void expect_counts(CountedMappings const& counted, bool cache, std::uint64_t buffers) {
        if (!cache) {
            EXPECT_EQ(counted.maps(), calls * buffers);
            EXPECT_EQ(counted.unmaps(), calls * buffers);
            EXPECT_EQ(counted.hits(), 0u);
            return;
        }
        EXPECT_GE(counted.maps(), 1u);
        EXPECT_LE(counted.maps(), buffers) << "one attachment may contain several buffers";
        EXPECT_EQ(counted.unmaps(), 0u);
        EXPECT_GE(counted.hits(), (calls - 1) * buffers);
    }
};

TEST_F(Registrations, OfXhcsBroadcastAreOneForEachMember) {
    for (bool cache : {true, false})
        run(3, variables(cache, "bcast=xhc"), [&](Comm& comm, CountedMappings const& counted) {
            auto const type = TypeBuilder::predefined(Basic::int32);
            std::vector<int> data(count);
            int const rank = comm.union_group->rank();
            for (int call = 0; call < static_cast<int>(calls); ++call) {
                if (rank == 0) std::ranges::fill(data, call);
                execute(BoundCall{comm, Collective::bcast, BcastArgs{{}, {data.data(), count, type.get()}, 0}});
                EXPECT_EQ(std::ranges::count(data, call), count);
            }
            if (rank != 0) expect_counts(counted, cache, 1);
            else EXPECT_EQ(counted.maps() + counted.hits() + counted.unmaps(), 0u);
        });
}

/// A member attaches to the operands of the others and to the leader's result, the leader to the operands.
TEST_F(Registrations, OfXhcsAllreduceAreThoseOfItsTeam) {
    for (bool cache : {true, false})
        run(3, variables(cache, "allreduce=xhc"), [&](Comm& comm, CountedMappings const& counted) {
            auto const type = TypeBuilder::predefined(Basic::int32);
            Op sum;
            sum.builtin = BuiltinOp::sum;
            int const rank = comm.union_group->rank();
            std::vector<int> const in(count, rank + 1);
            std::vector<int> out(count);
            for (std::uint64_t call = 0; call < calls; ++call) {
                ReduceArgs args{};
                args.in = in.data();
                args.out = out.data();
                args.count = count;
                args.type = type.get();
                args.op = &sum;
                execute(BoundCall{comm, Collective::allreduce, args});
                EXPECT_EQ(std::ranges::count(out, 6), count);
            }
            EXPECT_EQ(state_of(comm).algorithm_of("allreduce"), "xhc");
            expect_counts(counted, cache, rank == 0 ? 2 : 3);
        });
}

/// An operation that suspends detaches when it has ended, also if its request remains.
TEST_F(Registrations, OfAPersistentRequestEndWithEachStart) {
    run(2, variables(false, "bcast=xhc"), [&](Comm& comm, CountedMappings const& counted) {
        auto const type = TypeBuilder::predefined(Basic::int32);
        std::vector<int> data(count);
        int const rank = comm.union_group->rank();
        Ref<Request> const request =
            init(BoundCall{comm, Collective::bcast, BcastArgs{{}, {data.data(), count, type.get()}, 0}});
        for (std::uint64_t turn = 1; turn <= calls; ++turn) {
            if (rank == 0) std::ranges::fill(data, static_cast<int>(turn));
            request->start();
            comm.process.waiter.wait_until([&] { return request->complete || (request->advance(), request->complete); },
                                           {"the test"});
            EXPECT_EQ(data.back(), static_cast<int>(turn));
            EXPECT_EQ(counted.maps(), rank == 0 ? 0 : turn);
            EXPECT_EQ(counted.unmaps(), counted.maps());
        }
    });
}

}   // namespace
}   // namespace tutti::coll::test
