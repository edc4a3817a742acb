// SPDX-License-Identifier: BSD-3-Clause
// Choosing an algorithm: sizes that share a cached decision, precedence of settings, and the warnings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "coll/blocks/messages.hpp"
#include "coll/choice/choose.hpp"
#include "coll/choice/decision.hpp"
#include "coll/comm/create.hpp"
#include "coll/comm/derive.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll {
namespace {

CallTraits traits_of(std::size_t bytes, std::size_t slot) {
    return {.ranks = 200,
            .levels = 1,
            .bytes = bytes,
            .slot_bytes = slot,
            .commutative = true,
            .commutative_or_consecutive = true,
            .has_kernels = true,
            .equal_parts = true};
}

/// The slot size of many ranks is no power of two: 200 ranks have 4800 bytes each.
TEST(Choose, UsesNoSlotForASizeWhoseClassExceedsIt) {
    std::size_t const slot = Area(nullptr, 200).slot_bytes();
    ASSERT_EQ(slot, 4800u);
    EXPECT_TRUE(traits_of(4096, slot).meets(requires_slot));
    EXPECT_FALSE(traits_of(4100, slot).meets(requires_slot));
    DecisionCache choices;
    Decision& small = choices.at(Collective::bcast, traits_of(4100, slot));
    EXPECT_EQ(&small, &choices.at(Collective::bcast, traits_of(8191, slot)));
    EXPECT_NE(&small, &choices.at(Collective::bcast, traits_of(8192, slot)));
    EXPECT_NE(&small, &choices.at(Collective::bcast, traits_of(4096, slot)));
}

/// Sizes on both sides of a table's limit must not share a class, or the first call would decide for all of them.
TEST(Choose, SeparatesTheClassesOfSizesOnBothSidesOfALimit) {
    auto decided = [](std::size_t bytes) {
        Trees const trees(topo::Hierarchy::build(2, {}));
        CallTraits traits = traits_of(bytes, 8192);
        traits.ranks = 2;
        return decide(Collective::allreduce, traits, {}, [&](auto*) -> Trees const& { return trees; }).algorithm;
    };
    DecisionCache choices;
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

/// Rings begin each slice at another rank, and therefore need a commutative operator even with consecutive teams.
TEST(Choose, RequiresACommutativeOperatorWhereTeamsDoNotKeepTheOrder) {
    CallTraits traits = traits_of(1000, 4096);
    EXPECT_TRUE(traits.meets(requires_commutative_operator));
    traits.commutative = false;
    EXPECT_TRUE(traits.meets(requires_commutative_or_consecutive));
    EXPECT_FALSE(traits.meets(requires_commutative_operator));
}

/// Ranks 0 1 0 1 of two teams; with levels of its own, a setting is compared with the teams of those.
TEST(Choose, RequiresConsecutiveTeamsOfTheHierarchyThatTheAlgorithmFollows) {
    auto const trees_of_teams = [](std::vector<int> teams) {
        return Trees(topo::Hierarchy::build(4, std::vector{topo::Grouping{"socket", std::move(teams)}}));
    };
    Trees const alternating = trees_of_teams({0, 1, 0, 1}), consecutive = trees_of_teams({0, 0, 1, 1});
    std::vector<std::string> errors;
    for (bool own_levels : {false, true}) {
        Settings settings;
        settings.parse(own_levels ? "scan=mpich_hierarchical:hierarchy=socket" : "scan=mpich_hierarchical", "", errors);
        for (bool fits : {false, true}) {
            Trees const &used = fits ? consecutive : alternating, &other = fits ? alternating : consecutive;
            auto const lookup = [&](topo::LevelChoice const* own) -> Trees const& {
                return (own != nullptr) == own_levels ? used : other;
            };
            CallTraits const traits = CallTraits::plain(lookup(nullptr).hierarchy, 4096, 1000);
            std::string_view const chosen = decide(Collective::scan, traits, settings, lookup).algorithm->name;
            EXPECT_EQ(chosen == "mpich_hierarchical", fits) << chosen;
        }
    }
    EXPECT_TRUE(errors.empty());
}

TEST(Choose, CachesOneDecisionForAllSizesOfAClassUntilCleared) {
    DecisionCache choices;
    Decision& d = choices.at(Collective::reduce, traits_of(1000, 4096));
    EXPECT_EQ(d.algorithm, nullptr);
    Trees const trees(topo::Hierarchy::build(200, {}));
    d = decide(Collective::reduce, traits_of(1000, 4096), {}, [&](auto*) -> Trees const& { return trees; });
    ASSERT_NE(d.algorithm, nullptr);
    EXPECT_EQ(choices.at(Collective::reduce, traits_of(1023, 4096)).algorithm, d.algorithm);
    choices.clear();
    EXPECT_EQ(choices.at(Collective::reduce, traits_of(1023, 4096)).algorithm, nullptr);
}

TEST(Choose, PrefersTheUsersSettingToTheTuningFileAndThatToTheDefaultTable) {
    Trees const trees(topo::Hierarchy::build(4, {}));
    auto choose = [&](Settings const& s) {
        CallTraits traits = traits_of(64, 8192);
        traits.ranks = 4;
        return std::string(
            decide(Collective::bcast, traits, s, [&](auto*) -> Trees const& { return trees; }).algorithm->name);
    };
    std::vector<std::string> errors;
    Settings settings;
    EXPECT_EQ(choose(settings), "slots");
    settings.tuned.push_back({Collective::bcast, CommKind::any_kind, 8, 1, 4096,
                              parse_setting(Collective::bcast, "hierarchical", "test", errors)});
    EXPECT_EQ(choose(settings), "hierarchical");
    settings.tuned.front().ranks = 2;
    EXPECT_EQ(choose(settings), "slots") << "a rule for at most two ranks does not apply to four";
    settings.parse("bcast=hierarchical_slots", "test", errors);
    settings.tuned.front().ranks = 8;
    EXPECT_EQ(choose(settings), "hierarchical_slots");
    EXPECT_TRUE(errors.empty());
    settings = {};
    settings.tuned.push_back({Collective::bcast, CommKind::several_nodes, 8, 1, 4096,
                              parse_setting(Collective::bcast, "binomial", "test", errors)});
    EXPECT_EQ(choose(settings), "slots")
        << "a rule for several nodes does not apply on one node, although binomial runs there, too";
}

/// The explanation of a choice lists each candidate once, and the first one without an obstacle is what runs.
TEST(Choose, RunsTheFirstCandidateWithoutAnObstacle) {
    std::vector<std::string> errors;
    Settings settings;
    settings.parse("bcast=slots,allreduce=movement_avoiding", "test", errors);
    settings.tuned =
        parse_rules("# tutti tuning 1\nallreduce ranks<=8 levels>=2 blocks\nreduce bytes<=64K xbrc\n", "test", errors);
    ASSERT_TRUE(errors.empty());
    for (int ranks : {2, 8, 100})
        for (std::size_t bytes : {std::size_t{8}, std::size_t{8192}, std::size_t{1} << 20, CallTraits::unknown_size})
            for (unsigned kind = 0; kind < 16; ++kind) {
                Trees const trees(topo::Hierarchy::build(ranks, {}));
                auto const trees_of = [&](auto*) -> Trees const& { return trees; };
                CallTraits const plain = CallTraits::plain(trees.hierarchy, 8192, bytes);
                CallTraits traits = kind & 1 ? plain.with_parts(false)
                                             : plain.with_operator(trees.hierarchy, kind & 2, kind & 2, kind & 4);
                traits.several_nodes = kind & 8;
                traits.shared_cores = ranks > 2;
                for (int c = 0; c < collectives; ++c) {
                    auto const collective = static_cast<Collective>(c);
                    auto const all = candidates_for(collective, traits, settings, trees_of);
                    auto const first =
                        std::ranges::find_if(all, [](Candidate const& one) { return one.obstacle.empty(); });
                    ASSERT_NE(first, all.end()) << name_of(collective);
                    EXPECT_EQ(first->setting, decide(collective, traits, settings, trees_of).setting);
                }
            }
}

TEST(Choose, StatesTheConditionThatDoesNotHold) {
    std::vector<std::string> errors;
    Settings settings;
    settings.parse("bcast=slots", "TUTTI_COLL", errors);
    settings.tuned = parse_rules(
        "# tutti tuning 1\n\nbcast several_nodes binomial\nbcast ranks<=2 bytes<=4K linear\n"
        "bcast levels>=2 chain\nbcast smhc # the one\n",
        "file", errors);
    Trees const trees(topo::Hierarchy::build(4, {}));
    auto const all = candidates_for(Collective::bcast, CallTraits::plain(trees.hierarchy, 8192, 65536), settings,
                                    [&](auto*) -> Trees const& { return trees; });
    ASSERT_GT(all.size(), 6u);
    EXPECT_EQ(settings.origins[static_cast<std::size_t>(Collective::bcast)], "TUTTI_COLL");
    EXPECT_EQ(all[0].origin, Candidate::Origin::request);
    EXPECT_EQ(all[0].obstacle, "accepts messages of at most 8K bytes");
    EXPECT_EQ(all[1].obstacle, "is for several_nodes");
    EXPECT_EQ(all[1].rule->line, 3);
    EXPECT_EQ(all[2].obstacle, "is for at most 2 ranks and 4K bytes");
    EXPECT_EQ(all[3].obstacle, "is for at least 2 levels");
    EXPECT_EQ(all[4].obstacle, "");
    EXPECT_EQ(all[4].rule->line, 6);
    EXPECT_EQ(all[5].origin, Candidate::Origin::default_table);
    EXPECT_EQ(all.back().origin, Candidate::Origin::list);
}

/// The default table's algorithm for such a call.
std::string by_default(Collective collective, CommKind where, int ranks, std::size_t bytes) {
    Trees const trees(topo::Hierarchy::build(ranks, {}));
    CallTraits traits = traits_of(bytes, 8192);
    traits.ranks = ranks;
    traits.several_nodes = where == CommKind::several_nodes;
    traits.shared_cores = where == CommKind::shared_cores;
    traits.intercommunicator = where == CommKind::between_groups;
    return decide(collective, traits, {}, [&](auto*) -> Trees const& { return trees; }).algorithm->name;
}

TEST(Choose, HasNoRowOfOneNodeForTwoRanksOnTwoNodes) {
    EXPECT_EQ(by_default(Collective::scan, CommKind::one_node, 2, 16384), "binomial");
    EXPECT_EQ(by_default(Collective::scan, CommKind::several_nodes, 2, 16384), "masters");
    EXPECT_EQ(by_default(Collective::exscan, CommKind::one_node, 2, 65536), "linear");
    EXPECT_EQ(by_default(Collective::exscan, CommKind::several_nodes, 2, 65536), "masters");
}

TEST(Choose, HasSeparateRowsWhereRanksShareCores) {
    EXPECT_EQ(by_default(Collective::barrier, CommKind::one_node, 32, 0), "hierarchical");
    EXPECT_EQ(by_default(Collective::barrier, CommKind::shared_cores, 32, 0), "exchange");
    EXPECT_EQ(by_default(Collective::reduce, CommKind::one_node, 128, 8), "blocks");
    EXPECT_EQ(by_default(Collective::reduce, CommKind::shared_cores, 128, 8), "slots");
    EXPECT_EQ(by_default(Collective::allreduce, CommKind::shared_cores, 16, 4096), "exchange");
    EXPECT_EQ(by_default(Collective::allreduce, CommKind::shared_cores, 64, 8), "exchange");
    EXPECT_EQ(by_default(Collective::allreduce, CommKind::shared_cores, 128, 8), "hierarchical_slots");
    EXPECT_EQ(by_default(Collective::allreduce, CommKind::one_node, 128, 8), "rg");
    EXPECT_EQ(by_default(Collective::allreduce, CommKind::shared_cores, 128, 4096), "rg");
    EXPECT_EQ(by_default(Collective::scan, CommKind::shared_cores, 4, 8), "slots")
        << "the rows for one node apply there, too";
}

TEST(Choose, AlltoallBetweenNodesConnectsEachPairOfRanksOnlyWhereTheseAreFew) {
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
    for (std::size_t bytes : {2048, 32768}) {   // one connection per pair of nodes
        EXPECT_STREQ(chosen(8, bytes).algorithm->name, "masters") << bytes;
        EXPECT_STREQ(chosen(16, bytes).algorithm->name, "relayed") << bytes;
    }
    EXPECT_EQ(chosen(4, 262144).setting->values[0], 4u);
    EXPECT_EQ(chosen(4, 1 << 20).setting->values[0], 16u);
}

TEST(Choose, HasRowsOnlyWhereTheirAlgorithmRuns) {
    for (Rule const& rule : default_table()) {
        EXPECT_NE(rule.comm_kind, CommKind::any_kind) << text_of(rule.setting);
        EXPECT_TRUE(rule.setting.algorithm->runs_on(rule.comm_kind))
            << name_of(rule.collective) << " " << text_of(rule.setting);
    }
}

/// A call with only the properties that every call has must find a row on one node, on several, and between groups.
TEST(Choose, FindsARowForEveryCall) {
    for (int c = 0; c < collectives; ++c)
        for (CommKind const where : {CommKind::one_node, CommKind::several_nodes, CommKind::between_groups}) {
            auto const collective = static_cast<Collective>(c);
            bool const no_such_calls = collective == Collective::barrier || collective == Collective::scan ||
                                       collective == Collective::exscan || collective >= Collective::neighbor_allgather;
            if (where == CommKind::between_groups && no_such_calls) continue;
            CallTraits traits{.ranks = 5000,
                              .levels = 1,
                              .bytes = std::size_t{1} << 40,
                              .slot_bytes = 4096,
                              .commutative = false,
                              .commutative_or_consecutive = false,
                              .has_kernels = false,
                              .equal_parts = false,
                              .intercommunicator = where == CommKind::between_groups,
                              .several_nodes = where != CommKind::one_node,
                              .allows_reassociation = false};
            EXPECT_TRUE(std::ranges::any_of(default_table(),
                                            [&](Rule const& rule) {
                                                return rule.collective == collective && rule.comm_kind == where &&
                                                       rule.ranks >= 5000 && rule.levels <= 1 &&
                                                       rule.bytes >= traits.bytes &&
                                                       traits.suits(*rule.setting.algorithm);
                                            }))
                << name_of(collective) << " " << name_of(where);
        }
}

TEST(Choose, ReportsWhyAnAlgorithmCannotRunACall) {
    auto why = [](Collective collective, char const* name, CallTraits const& traits) {
        std::vector<std::string> errors;
        return unmet_requirement(*parse_setting(collective, name, "test", errors).algorithm, traits);
    };
    CallTraits traits = traits_of(8193, 8192);
    EXPECT_EQ(why(Collective::bcast, "hierarchical", traits), "");
    EXPECT_EQ(why(Collective::bcast, "slots", traits), "accepts messages of at most 8K bytes");
    EXPECT_EQ(why(Collective::bcast, "masters", traits), "runs on several nodes only");
    EXPECT_EQ(why(Collective::bcast, "inter_binomial", traits), "is only for intercommunicators");
    traits.several_nodes = true;
    EXPECT_EQ(why(Collective::bcast, "slots", traits),
              "runs on one node only and accepts messages of at most 8K bytes");
    EXPECT_EQ(why(Collective::bcast, "binomial", traits), "");
    traits.equal_parts = traits.commutative = traits.commutative_or_consecutive = traits.allows_reassociation = false;
    EXPECT_EQ(why(Collective::alltoall, "masters", traits), "needs parts of equal size");
    EXPECT_EQ(why(Collective::allreduce, "masters", traits),
              "needs a commutative operator, or teams of consecutive ranks; operands that may be regrouped");
    traits.allows_reassociation = true;
    EXPECT_EQ(why(Collective::scan, "mpich_hierarchical", traits), "");
    traits.consecutive_teams = false;
    EXPECT_EQ(why(Collective::scan, "mpich_hierarchical", traits), "needs teams of consecutive ranks");
    EXPECT_EQ(why(Collective::exscan, "mpich_hierarchical", traits), "needs teams of consecutive ranks");
    traits.intercommunicator = true;
    EXPECT_EQ(why(Collective::bcast, "binomial", traits), "is not for intercommunicators");
}

/// The diagnostics of a world whose ranks each run `body`.
template <class Body>
std::string warnings_of(std::vector<int> const& node_of, std::string const& named, bool quiet, Body body) {
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
    execute(BoundCall{comm, Collective::bcast, args});
}

TEST(Choose, WarnsOnceOnOneRankIfTheRequestedAlgorithmCannotRun) {
    using testing::HasSubstr;
    auto sizes = [](Comm& comm) {
        for (std::size_t bytes : {8u, 20000u, 20000u, 300000u}) broadcast(comm, bytes);
    };
    EXPECT_EQ(warnings_of({0, 0, 0}, "bcast=slots", false, sizes),
              "tutti: bcast=slots was requested, but slots accepts messages of at most 8K bytes: hierarchical runs "
              "instead (on MPI_COMM_WORLD of 3 ranks)\n");
    EXPECT_EQ(warnings_of({0, 0, 0}, "bcast=slots", true, sizes), "");
    EXPECT_EQ(warnings_of({0, 0, 0}, "bcast=hierarchical:chunk=4K", false, sizes), "");
    std::string const between = warnings_of({0, 1, 0}, "bcast=hierarchical", false, sizes);
    EXPECT_THAT(between, HasSubstr("hierarchical runs on one node only: masters"));
    EXPECT_EQ(std::ranges::count(between, '\n'), 1) << between;
}

/// In the root's group, only the root knows the message size; the lowest rank of the other group reports.
TEST(Choose, WarnsOnceBetweenGroups) {
    auto across = [](Comm& world) {
        int const me = world.rank(), side = me % 2;
        Ref<Comm> const local = split(world, side, 0);
        std::optional<Bridge> bridge;
        if (local->rank() == 0) bridge = Bridge{&world, 1 - side, 0};
        Ref<Comm> const inter = create_intercomm(*local, 0, bridge);
        int const root = inter->union_group->rank_of(0);
        for (std::size_t bytes : {20000u, 40000u}) {
            std::vector<std::byte> data(bytes);
            ConstBuffer const all = packed_part(data.data(), me == 0 || side == 1 ? bytes : 0).buffer;
            BcastArgs args{};
            args.first_group_size = inter->first_group_size();
            args.data = {data.data(), all.count, all.type};
            args.root = me == 0 || side == 1 ? root : -1;
            execute(BoundCall{*inter, Collective::bcast, args});
        }
    };
    EXPECT_EQ(
        warnings_of({0, 0, 0, 0}, "bcast=slots", false, across),
        "tutti: bcast=slots was requested, but slots is not for intercommunicators and accepts messages of at most "
        "8K bytes: inter_binomial runs instead (on a communicator of 4 ranks)\n");
}

TEST(Choose, DoesNotWarnOfTheLibrarysOwnCalls) {
    EXPECT_EQ(warnings_of({0, 0}, "barrier=masters,bcast=masters", false, [](Comm&) {}), "") << "the final barriers";
    EXPECT_EQ(warnings_of({0, 0, 1, 1}, "barrier=masters,bcast=masters,reduce=masters,allreduce=masters", false,
                          [](Comm& comm) { broadcast(comm, 64); }),
              "")
        << "the steps inside nodes";
}

}   // namespace
}   // namespace tutti::coll
