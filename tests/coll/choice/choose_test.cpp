// SPDX-License-Identifier: BSD-3-Clause
// The decision: which sizes share one, and what it must never promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "coll/blocks/messages.hpp"
#include "coll/choice/choose.hpp"
#include "coll/choice/decision.hpp"
#include "coll/comm/derive.hpp"
#include "coll/comm/inter.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll {
namespace {

CallTraits traits_of(std::size_t bytes, std::size_t slot) {
    return {.ranks = 200,
            .levels = 1,
            .bytes = bytes,
            .slot_bytes = slot,
            .commutes = true,
            .ordered = true,
            .one_kind = true,
            .equal_parts = true};
}

/// Many ranks have slots that are no power of two: 200 ranks have 4800 bytes each.
TEST(Choose, GivesNoSlotToASizeWhoseClassDoesNotFitIntoOne) {
    std::size_t const slot = Area(nullptr, 200).slot_bytes();
    ASSERT_EQ(slot, 4800u);
    EXPECT_TRUE(traits_of(4096, slot).meets(requires_slot));
    EXPECT_FALSE(traits_of(4100, slot).meets(requires_slot));
    Choices choices;
    Decision& small = choices.at(Collective::bcast, traits_of(4100, slot));
    EXPECT_EQ(&small, &choices.at(Collective::bcast, traits_of(8191, slot)));
    EXPECT_NE(&small, &choices.at(Collective::bcast, traits_of(8192, slot)));
    EXPECT_NE(&small, &choices.at(Collective::bcast, traits_of(4096, slot)));
}

/// What a table's limit parts must not be one class, or the first size asked for would decide for the others.
TEST(Choose, HasNoClassWithSizesOnBothSidesOfALimit) {
    auto decided = [](std::size_t bytes) {
        Trees const trees(topo::Hierarchy::build(2, {}));
        CallTraits traits = traits_of(bytes, 8192);
        traits.ranks = 2;
        return decide(Collective::allreduce, traits, {}, [&](auto*) -> Trees const& { return trees; }).algorithm;
    };
    Choices choices;
    for (std::size_t limit = 2; limit <= std::size_t{1} << 40; limit *= 2)
        for (std::size_t other : {limit - 1, limit + 1}) {
            auto const &at = choices.at(Collective::allreduce, traits_of(limit, 8192)),
                       &beside = choices.at(Collective::allreduce, traits_of(other, 8192));
            bool const one_class = &at == &beside;
            EXPECT_FALSE(one_class && limit > 2 && limit < std::size_t{1} << 32) << limit << " " << other;
            EXPECT_TRUE(!one_class || decided(limit) == decided(other)) << limit << " " << other;
        }
    EXPECT_STREQ(decided(8191)->name, "exchange");
    EXPECT_STREQ(decided(8192)->name, "direct");
    EXPECT_STREQ(decided(8193)->name, "direct");
}

/// Rings begin each slice with another rank: consecutive teams are of no help to them.
TEST(Choose, AsksForAnOperatorThatCommutesWhereNoTeamKeepsTheOrder) {
    CallTraits traits = traits_of(1000, 4096);
    EXPECT_TRUE(traits.meets(requires_commuting_operator));
    traits.commutes = false;
    EXPECT_TRUE(traits.meets(requires_commutative));
    EXPECT_FALSE(traits.meets(requires_commuting_operator));
}

TEST(Choose, KeepsTheSameDecisionForAllSizesOfAClassAndForgetsWhenTold) {
    Choices choices;
    Decision& d = choices.at(Collective::reduce, traits_of(1000, 4096));
    EXPECT_EQ(d.algorithm, nullptr);
    Trees const trees(topo::Hierarchy::build(200, {}));
    d = decide(Collective::reduce, traits_of(1000, 4096), {}, [&](auto*) -> Trees const& { return trees; });
    ASSERT_NE(d.algorithm, nullptr);
    EXPECT_EQ(choices.at(Collective::reduce, traits_of(1023, 4096)).algorithm, d.algorithm);
    choices.forget();
    EXPECT_EQ(choices.at(Collective::reduce, traits_of(1023, 4096)).algorithm, nullptr);
}

TEST(Choose, PutsTheUsersWordBeforeTheTuningTableAndThatBeforeTheDefaultOne) {
    Trees const trees(topo::Hierarchy::build(4, {}));
    auto choose = [&](Settings const& s) {
        CallTraits traits = traits_of(64, 8192);
        traits.ranks = 4;
        return std::string(
            decide(Collective::bcast, traits, s, [&](auto*) -> Trees const& { return trees; }).algorithm->name);
    };
    std::vector<std::string> complaints;
    Settings settings;
    EXPECT_EQ(choose(settings), "slots");
    settings.tuned.push_back({Collective::bcast, Where::anywhere, 8, 1, 4096,
                              parse_setting(Collective::bcast, "hierarchical", "test", complaints)});
    EXPECT_EQ(choose(settings), "hierarchical");
    settings.tuned.front().ranks = 2;
    EXPECT_EQ(choose(settings), "slots") << "a rule for at most two ranks does not hold for four";
    settings.take("bcast=hierarchical_slots", "test", complaints);
    settings.tuned.front().ranks = 8;
    EXPECT_EQ(choose(settings), "hierarchical_slots");
    EXPECT_TRUE(complaints.empty());
    settings = {};
    settings.tuned.push_back({Collective::bcast, Where::several_nodes, 8, 1, 4096,
                              parse_setting(Collective::bcast, "binomial", "test", complaints)});
    EXPECT_EQ(choose(settings), "slots") << "a rule of several nodes does not hold on one, where binomial runs, too";
}

/// What the default table has for a call among so many ranks.
std::string by_default(Collective collective, Where where, int ranks, std::size_t bytes) {
    Trees const trees(topo::Hierarchy::build(ranks, {}));
    CallTraits traits = traits_of(bytes, 8192);
    traits.ranks = ranks;
    traits.several_nodes = where == Where::several_nodes;
    traits.shared_cores = where == Where::shared_cores;
    traits.two_groups = where == Where::between_groups;
    return decide(collective, traits, {}, [&](auto*) -> Trees const& { return trees; }).algorithm->name;
}

TEST(Choose, HasNoRowOfOneNodeForTwoRanksOnTwoNodes) {
    EXPECT_EQ(by_default(Collective::scan, Where::one_node, 2, 16384), "binomial");
    EXPECT_EQ(by_default(Collective::scan, Where::several_nodes, 2, 16384), "masters");
    EXPECT_EQ(by_default(Collective::exscan, Where::one_node, 2, 65536), "direct");
    EXPECT_EQ(by_default(Collective::exscan, Where::several_nodes, 2, 65536), "masters");
}

TEST(Choose, HasRowsOfItsOwnWhereRanksShareCores) {
    EXPECT_EQ(by_default(Collective::barrier, Where::one_node, 32, 0), "hierarchical");
    EXPECT_EQ(by_default(Collective::barrier, Where::shared_cores, 32, 0), "exchange");
    EXPECT_EQ(by_default(Collective::reduce, Where::one_node, 128, 8), "blocks");
    EXPECT_EQ(by_default(Collective::reduce, Where::shared_cores, 128, 8), "slots");
    EXPECT_EQ(by_default(Collective::allreduce, Where::shared_cores, 16, 4096), "exchange");
    EXPECT_EQ(by_default(Collective::allreduce, Where::shared_cores, 64, 8), "exchange");
    EXPECT_EQ(by_default(Collective::allreduce, Where::shared_cores, 128, 8), "hierarchical_slots");
    EXPECT_EQ(by_default(Collective::allreduce, Where::one_node, 128, 8), "rg");
    EXPECT_EQ(by_default(Collective::allreduce, Where::shared_cores, 128, 4096), "rg");
    EXPECT_EQ(by_default(Collective::scan, Where::shared_cores, 4, 8), "slots")
        << "the rows of one node hold there, too";
}

TEST(Choose, AlltoallBetweenNodesTakesOneConnectionForEachPairOfRanksOnlyWhereTheseAreFew) {
    Trees const trees(topo::Hierarchy::build(16, {}));
    auto chosen = [&](int ranks, std::size_t bytes) {
        CallTraits traits = traits_of(bytes, 4096);
        traits.ranks = ranks;
        traits.several_nodes = true;
        return decide(Collective::alltoall, traits, {}, [&](auto*) -> Trees const& { return trees; });
    };
    for (std::size_t bytes : {std::size_t{65536}, std::size_t{262144}, ~std::size_t{0}}) {
        EXPECT_STREQ(chosen(4, bytes).algorithm->name, "paced") << bytes;
        for (int ranks : {5, 16, 256, 16384}) EXPECT_STREQ(chosen(ranks, bytes).algorithm->name, "relayed") << bytes;
    }
    for (std::size_t bytes : {2048, 32768}) {   // one connection for each pair of nodes
        EXPECT_STREQ(chosen(8, bytes).algorithm->name, "masters") << bytes;
        EXPECT_STREQ(chosen(16, bytes).algorithm->name, "relayed") << bytes;
    }
    EXPECT_EQ(chosen(4, 262144).setting->values[0], 4u);
    EXPECT_EQ(chosen(4, 1 << 20).setting->values[0], 16u);
}

TEST(Choose, HasRowsOnlyWhereTheirAlgorithmRuns) {
    for (Rule const& rule : default_table()) {
        EXPECT_NE(rule.where, Where::anywhere) << text_of(rule.setting);
        EXPECT_TRUE(rule.setting.algorithm->runs(rule.where))
            << name_of(rule.collective) << " " << text_of(rule.setting);
    }
}

/// A call that offers nothing but what every call has must find a row, on one node, on several and between groups.
TEST(Choose, HasARowForEveryCall) {
    for (int c = 0; c < collectives; ++c)
        for (Where const where : {Where::one_node, Where::several_nodes, Where::between_groups}) {
            auto const collective = static_cast<Collective>(c);
            bool const no_such_calls = collective == Collective::barrier || collective == Collective::scan ||
                                       collective == Collective::exscan || collective >= Collective::neighbor_allgather;
            if (where == Where::between_groups && no_such_calls) continue;
            CallTraits traits{.ranks = 5000,
                              .levels = 1,
                              .bytes = std::size_t{1} << 40,
                              .slot_bytes = 4096,
                              .commutes = false,
                              .ordered = false,
                              .one_kind = false,
                              .equal_parts = false,
                              .two_groups = where == Where::between_groups,
                              .several_nodes = where != Where::one_node,
                              .grouping = false};
            EXPECT_TRUE(std::ranges::any_of(default_table(),
                                            [&](Rule const& rule) {
                                                return rule.collective == collective && rule.where == where &&
                                                       rule.ranks >= 5000 && rule.levels <= 1 &&
                                                       rule.bytes >= traits.bytes &&
                                                       traits.suits(*rule.setting.algorithm);
                                            }))
                << name_of(collective) << " " << name_of(where);
        }
}

TEST(Choose, SaysWhyAnAlgorithmCannotDoACall) {
    auto why = [](Collective collective, char const* name, CallTraits const& traits) {
        std::vector<std::string> complaints;
        return hindrance(*parse_setting(collective, name, "test", complaints).algorithm, traits);
    };
    CallTraits traits = traits_of(8193, 8192);
    EXPECT_EQ(why(Collective::bcast, "hierarchical", traits), "");
    EXPECT_EQ(why(Collective::bcast, "slots", traits), "takes messages of at most 8K bytes");
    EXPECT_EQ(why(Collective::bcast, "masters", traits), "runs on several nodes only");
    EXPECT_EQ(why(Collective::bcast, "inter_binomial", traits), "is only for intercommunicators");
    traits.several_nodes = true;
    EXPECT_EQ(why(Collective::bcast, "slots", traits), "runs on one node only and takes messages of at most 8K bytes");
    EXPECT_EQ(why(Collective::bcast, "binomial", traits), "");
    traits.equal_parts = traits.commutes = traits.ordered = traits.grouping = false;
    EXPECT_EQ(why(Collective::alltoall, "masters", traits), "needs parts of one size");
    EXPECT_EQ(why(Collective::allreduce, "masters", traits),
              "needs an operator that commutes, or teams of consecutive ranks; operands that may be grouped");
    traits.two_groups = true;
    EXPECT_EQ(why(Collective::bcast, "binomial", traits), "is not for intercommunicators");
}

/// What the ranks of a world print while each of them runs `body`.
template <class Body>
std::string told(std::vector<int> const& node_of, std::string const& named, bool quiet, Body body) {
    Variables variables;
    variables.wait = "shared";
    variables.coll = named;
    variables.quiet = quiet;
    testing::internal::CaptureStderr();
    {
        test::NodesWorld world(node_of, variables);
        std::vector<std::thread> threads;
        for (int r = 0; r < world.size(); ++r)
            threads.emplace_back([&, r] {
                body(world.comm(r));
                world.leave(r);
            });
        for (auto& t : threads) t.join();
    }
    return testing::internal::GetCapturedStderr();
}

void broadcast(Comm& comm, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    BcastArgs args{};
    ConstBuffer const all = packed_part(data.data(), bytes).buffer;
    args.data = {data.data(), all.count, all.type};
    run(BoundCall{comm, Collective::bcast, args});
}

TEST(Choose, IsToldOnceByOneRankWhenItIsNotTheNamedOne) {
    using testing::HasSubstr;
    auto sizes = [](Comm& comm) {
        for (std::size_t bytes : {8u, 20000u, 20000u, 300000u}) broadcast(comm, bytes);
    };
    EXPECT_EQ(told({0, 0, 0}, "bcast=slots", false, sizes),
              "tutti: bcast=slots was asked for, but slots takes messages of at most 8K bytes: hierarchical runs "
              "instead (on MPI_COMM_WORLD of 3 ranks)\n");
    EXPECT_EQ(told({0, 0, 0}, "bcast=slots", true, sizes), "");
    EXPECT_EQ(told({0, 0, 0}, "bcast=hierarchical:chunk=4K", false, sizes), "");
    std::string const between = told({0, 1, 0}, "bcast=hierarchical", false, sizes);
    EXPECT_THAT(between, HasSubstr("hierarchical runs on one node only: masters"));
    EXPECT_EQ(std::ranges::count(between, '\n'), 1) << between;
}

/// Of the root's group the root alone knows the message; the other group's lowest rank tells.
TEST(Choose, IsToldOnceBetweenGroups) {
    auto across = [](Comm& world) {
        int const me = world.rank(), side = me % 2;
        Ref<Comm> const local = split(world, side, 0);
        std::optional<Bridge> bridge;
        if (local->rank() == 0) bridge = Bridge{&world, 1 - side, 0};
        Ref<Comm> const inter = connect(*local, 0, bridge);
        int const root = inter->union_group->rank_of(0);
        for (std::size_t bytes : {20000u, 40000u}) {
            std::vector<std::byte> data(bytes);
            ConstBuffer const all = packed_part(data.data(), me == 0 || side == 1 ? bytes : 0).buffer;
            BcastArgs args{};
            args.first_group_size = inter->first_group_size();
            args.data = {data.data(), all.count, all.type};
            args.root = me == 0 || side == 1 ? root : -1;
            run(BoundCall{*inter, Collective::bcast, args});
        }
    };
    EXPECT_EQ(told({0, 0, 0, 0}, "bcast=slots", false, across),
              "tutti: bcast=slots was asked for, but slots is not for intercommunicators and takes messages of at most "
              "8K bytes: inter_binomial runs instead (on a communicator of 4 ranks)\n");
}

TEST(Choose, IsNotToldOfTheLibrarysOwnCalls) {
    EXPECT_EQ(told({0, 0}, "barrier=masters,bcast=masters", false, [](Comm&) {}), "") << "barriers at the end";
    EXPECT_EQ(told({0, 0, 1, 1}, "barrier=masters,bcast=masters,reduce=masters,allreduce=masters", false,
                   [](Comm& comm) { broadcast(comm, 64); }),
              "")
        << "steps inside the nodes";
}

}   // namespace
}   // namespace tutti::coll
