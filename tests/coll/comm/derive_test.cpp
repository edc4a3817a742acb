// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators by ranks that are threads of this process: their members and order, which ranks receive
// them, and that no context is used twice.
#include "coll/comm/derive.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "coll/call/internal.hpp"
#include "coll/comm/create.hpp"
#include "p2p/p2p.hpp"
#include "tests/coll/world/nodes_world.hpp"

using namespace tutti;

namespace {

/// The values of all members of `comm`, in rank order.
template <class T>
std::vector<T> from_all(Comm& comm, T mine) {
    std::vector<T> all(static_cast<std::size_t>(comm.size()));
    coll::allgather_bytes(comm, &mine, sizeof mine, all.data());
    return all;
}

/// The members are these world ranks in this order, agree on the context, and find each other in it.
void expect_members(Ref<Comm> const& comm, std::vector<int> const& world_ranks) {
    ASSERT_TRUE(comm);
    EXPECT_EQ(from_all(*comm, comm->process.rank()), world_ranks);
    EXPECT_EQ(from_all(*comm, comm->context), std::vector<std::uint64_t>(world_ranks.size(), comm->context));
    std::vector<int> group(comm->group->world_ranks().begin(), comm->group->world_ranks().end());
    EXPECT_EQ(group, world_ranks);
}

Ref<Group> group_of(Comm& world, std::vector<int> ranks) {
    return Ref<Group>::adopt(new Group(std::move(ranks), world.process.rank()));
}

/// Calls a function that makes a communicator. Returns whether it failed with MPI_ERR_NO_MEM.
bool no_memory(std::function<void()> const& make) {
    try {
        make();
        return false;
    } catch (Error const& error) {
        EXPECT_EQ(error.error_class, ErrorClass::no_mem) << error.what();
        return true;
    }
}

/// Exhausts a rank's heap for the lifetime of the object.
class NoMemory {
public:
    explicit NoMemory(SegmentHeap& heap) : heap_(heap) {
        for (std::uint64_t bytes = std::uint64_t{1} << 40; bytes >= 4096;) try {
                taken_.push_back(heap.allocate(bytes));
            } catch (Error const&) { bytes /= 2; }
    }
    ~NoMemory() {
        for (std::uint64_t offset : taken_) heap_.release(offset);
    }

private:
    SegmentHeap& heap_;
    std::vector<std::uint64_t> taken_;
};

/// The largest block that the heap can allocate, in whole pages.
std::uint64_t largest_block(SegmentHeap& heap) {
    std::uint64_t fits = 0;
    for (std::uint64_t step = std::uint64_t{1} << 40; step >= 4096; step /= 2) try {
            heap.release(heap.allocate(fits + step));
            fits += step;
        } catch (Error const&) {}
    return fits;
}

/// All functions that make communicators from `world`; for some, not all callers become members. `inter` joins the
/// ranks of even and odd numbers, and is null in a world of one rank.
std::vector<std::pair<char const*, std::function<void()>>> ways(Comm& world, Comm& half, Comm* inter) {
    int const me = world.rank(), size = world.size();
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::pair<char const*, std::function<void()>>> ways{
        {"duplicate", [&] { coll::duplicate(world); }},
        {"duplicate_nonblocking",
         [&] {
             auto [child, request] = coll::duplicate_nonblocking(world, {});
             world.process.waiter.wait_until(
                 [&] { return request->complete || (request->advance(), request->complete); }, {"the test"});
             if (request->status.error != ErrorClass::success) throw Error(request->status.error, request->error_text);
         }},
        {"create", [&world, all] { coll::create(world, group_of(world, all)); }},
        {"split", [&world, me] { coll::split(world, me % 2, 0); }},
        {"split without the last",
         [&, me, size] { coll::split(world, me == size - 1 && size > 1 ? std::nullopt : std::optional(0), 0); }},
        {"create_group", [&world, all] { coll::create_group(world, group_of(world, all), 3); }}};
    if (!inter) return ways;
    ways.emplace_back("duplicate of two groups", [=] { coll::duplicate(*inter); });
    ways.emplace_back("split of two groups", [=] { coll::split(*inter, 0, 0); });
    ways.emplace_back("merge", [=] { coll::merge_intercomm(*inter, false); });
    ways.emplace_back("connect", [&world, &half, me] {
        std::optional<coll::Bridge> bridge;
        if (half.rank() == 0) bridge = coll::Bridge{&world, 1 - me % 2, 7};
        coll::create_intercomm(half, 0, bridge);
    });
    return ways;
}

}   // namespace

class CommDerive : public testing::TestWithParam<std::vector<int>> {};
using Nodes = std::vector<int>;   // by rank
INSTANTIATE_TEST_SUITE_P(Ranks, CommDerive, testing::Values(Nodes(1), Nodes(2), Nodes(3), Nodes(5), Nodes(8)));
INSTANTIATE_TEST_SUITE_P(SeveralNodes, CommDerive,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 0, 0, 1}, Nodes{0, 1, 2},
                                         Nodes{0, 1, 2, 0, 1, 2, 0}));

TEST_P(CommDerive, DuplicatesHaveTheirOwnContext) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        world.topology = std::make_unique<VirtualTopology>(CartTopology{{world.size()}, {true}, {world.rank()}});
        std::vector<int> all(world.group->world_ranks().begin(), world.group->world_ranks().end());
        Ref<Comm> one = coll::duplicate(world), two = coll::duplicate(*one);
        expect_members(one, all);
        expect_members(two, all);
        EXPECT_EQ(std::set({world.context, one->context, two->context}).size(), 3u);
        ASSERT_TRUE(two->topology);
        EXPECT_EQ(std::get<CartTopology>(*two->topology).dims, std::vector{world.size()});
        EXPECT_FALSE(coll::split(world, 0, 0)->topology);
    });
}

TEST_P(CommDerive, NonblockingDuplicatesCompleteInAnyOrder) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        std::vector<int> all(world.group->world_ranks().begin(), world.group->world_ranks().end());
        std::vector<std::pair<Ref<Comm>, Ref<Request>>> under_way;
        for (int i = 0; i < 5; ++i) under_way.push_back(coll::duplicate_nonblocking(world, {}));
        coll::barrier(world);
        for (std::size_t i = 0; i < under_way.size(); ++i) {
            auto& [child, request] = under_way[(i * 3 + static_cast<std::size_t>(world.rank())) % 5];
            world.process.waiter.wait_until(
                [&] { return request->complete || (request->advance(), request->complete); }, {"the test"});
            EXPECT_EQ(request->status.error, ErrorClass::success) << request->error_text;
        }
        for (auto& one : under_way) expect_members(one.first, all);
    });
}

TEST_P(CommDerive, SplitsFollowColorsAndKeys) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        std::mt19937 random(11);   // the same sequence on every rank
        std::set<std::uint64_t> contexts;
        for (int round = 0; round < 60; ++round) {
            std::vector<int> colors, keys, want;
            for (int r = 0; r < world.size(); ++r) {
                colors.push_back(static_cast<int>(random() % 4) - 1);   // −1: not a member
                keys.push_back(static_cast<int>(random() % 3) - 1);
            }
            int const me = world.rank(), mine = colors[static_cast<std::size_t>(me)];
            for (int key = -1; key <= 1; ++key)
                for (int r = 0; r < world.size(); ++r)
                    if (colors[static_cast<std::size_t>(r)] == mine && keys[static_cast<std::size_t>(r)] == key)
                        want.push_back(r);
            auto color = mine < 0 ? std::nullopt : std::optional(mine);
            Ref<Comm> part = coll::split(world, color, keys[static_cast<std::size_t>(me)]);
            ASSERT_EQ(static_cast<bool>(part), mine >= 0);
            if (!part) continue;
            expect_members(part, want);
            EXPECT_TRUE(contexts.insert(part->context).second) << "a context was used twice";
        }
    });
}

TEST_P(CommDerive, CreateGroupIsCalledByItsMembersOnly) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        int const me = world.rank(), last = world.size() - 1;
        std::vector<int> all(static_cast<std::size_t>(world.size())), same;
        for (int r = last; r >= 0; --r) {
            all[static_cast<std::size_t>(last - r)] = r;
            if (r % 2 == me % 2) same.push_back(r);
        }
        for (int round = 0; round < 20; ++round) {
            expect_members(coll::create_group(world, group_of(world, all), 3), all);
            expect_members(coll::create_group(world, group_of(world, same), me % 2), same);
            expect_members(coll::create_group(world, group_of(world, {me}), 0), {me});
        }
    });
}

TEST_P(CommDerive, GroupsAreJoinedAndMergedInEitherOrder) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        int const me = world.rank(), side = me % 2;
        if (world.size() < 2) return;
        std::vector<int> sides[2];
        for (int r = 0; r < world.size(); ++r) sides[r % 2].push_back(r);
        Ref<Comm> local = coll::split(world, side, 0);
        std::set<std::uint64_t> contexts;
        for (int round = 0; round < 20; ++round) {
            int const leader = round % local->size();
            std::optional<coll::Bridge> bridge;
            auto const& others = sides[1 - side];
            if (local->rank() == leader) bridge = coll::Bridge{&world, others[round % others.size()], round};
            Ref<Comm> inter = coll::create_intercomm(*local, leader, bridge);
            EXPECT_TRUE(contexts.insert(inter->context).second) << "a context was used twice";
            EXPECT_TRUE(std::ranges::equal(inter->group->world_ranks(), sides[side]));
            EXPECT_TRUE(std::ranges::equal(inter->remote->world_ranks(), others));
            EXPECT_EQ(inter->first_group_size(),
                      static_cast<int>(sides[inter->local_group_first() ? side : 1 - side].size()));
            std::vector<int> all(sides[round % 2]);
            all.insert(all.end(), sides[1 - round % 2].begin(), sides[1 - round % 2].end());
            expect_members(coll::merge_intercomm(*inter, side != round % 2), all);
            Ref<Comm> part = coll::split(*coll::duplicate(*inter), me < 3 ? std::optional(0) : std::nullopt, 0);
            ASSERT_EQ(static_cast<bool>(part), me < 3);
            if (!part) continue;
            EXPECT_EQ(part->size() + part->remote->size(), std::min(3, world.size()));
        }
    });
}

TEST_P(CommDerive, AWrongLeaderBlocksNoRank) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        EXPECT_THROW(coll::create_intercomm(world, world.size() - 1, std::nullopt), Error);
        if (world.size() < 2) return;
        Ref<Comm> local = coll::split(world, world.rank() % 2, 0);
        std::optional<coll::Bridge> bridge;
        if (local->rank() == 0) bridge = coll::Bridge{&world, 1 - world.rank() % 2, 0};
        Ref<Comm> inter = coll::create_intercomm(*local, 0, bridge);
        if (world.size() == 2) return;   // below, the first rank of each side differs from the others
        EXPECT_THROW(coll::merge_intercomm(*inter, inter->rank() == 0), Error);
    });
}

TEST_P(CommDerive, EdgesDeclaredByAnyRankReachBothEnds) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        int const me = world.rank(), size = world.size();
        for (int givers : {size, 1}) {
            std::vector<coll::Edge> edges;   // from every rank to rank 0, given by one or by the next rank
            for (int r = 0; r < size; ++r)
                if ((givers == 1 && me == 0) || (givers > 1 && me == (r + 1) % size)) edges.push_back({r, 0, 100 + r});
            DistGraphTopology graph = coll::exchange_edges(world, edges, true);
            EXPECT_EQ(graph.destinations, std::vector{0});
            EXPECT_EQ(graph.destination_weights, std::vector{100 + me});
            std::vector<int> sources = graph.sources, all(static_cast<std::size_t>(size));
            std::iota(all.begin(), all.end(), 0);
            std::sort(sources.begin(), sources.end());
            EXPECT_EQ(sources, me == 0 ? all : std::vector<int>{});
        }
    });
}

// Exhausts the memory of one rank after another. Each function that needs this memory fails on all its callers, members
// or not, and the other ranks release what they had allocated for it.
TEST_P(CommDerive, AFailedCreationFailsForAll) {
    coll::test::run_on_nodes(GetParam(), [](Comm& world) {
        int const me = world.rank(), size = world.size();
        Ref<Comm> half = coll::split(world, me % 2, 0), inter;
        std::optional<coll::Bridge> bridge;
        if (half->rank() == 0) bridge = coll::Bridge{&world, 1 - me % 2, 0};
        if (size > 1) inter = coll::create_intercomm(*half, 0, bridge);
        auto const makers = ways(world, *half, inter.get());
        int failures = 0;
        for (int full = 0; full < size; ++full) {   // the rank whose heap is exhausted
            std::optional<NoMemory> none;
            coll::barrier(world);   // all areas of the last round have been released
            std::uint64_t const before = me == full ? 0 : largest_block(world.process.heap);
            if (me == full) none.emplace(world.process.heap);
            for (auto const& [name, make] : makers) {
                bool const failed = no_memory(make);
                failures += failed;
                EXPECT_EQ(from_all(world, int{failed}), std::vector<int>(static_cast<std::size_t>(size), failed))
                    << name << " without memory of rank " << full;
            }
            coll::barrier(world);
            if (me != full) {
                EXPECT_EQ(largest_block(world.process.heap), before) << "not released after rank " << full << " failed";
            }
            none.reset();
            for (auto const& [name, make] : makers) EXPECT_FALSE(no_memory(make)) << name;
        }
        EXPECT_GE(failures, static_cast<int>(makers.size())) << "every function needs the memory of rank 0";
    });
}
