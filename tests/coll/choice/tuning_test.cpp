// SPDX-License-Identifier: BSD-3-Clause
// Tables of choices as text: parsing, diagnostics with line numbers, and round trips.
#include "coll/choice/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/settings/tuning_file.hpp"

namespace tutti::coll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Read {
    explicit Read(std::string_view text) : rules(parse_rules(text, "FILE", errors)) {}
    std::vector<std::string> errors;
    std::vector<Rule> rules;
};

TEST(Tuning, ReadsLinesWithTheirLimits) {
    Read const r(
        "# tutti tuning 1\n"
        "\n"
        "allreduce  ranks<=8  levels>=2  bytes<=64K  hierarchical:chunk=16K   # measured\n"
        "bcast bytes<=8K ranks<=2 slots\r\n"
        "barrier exchange\n"
        "bcast several_nodes bytes<=1M binomial\n"
        "bcast ranks<=4 between_groups inter_binomial\n"
        "bcast one_node binomial");
    EXPECT_THAT(r.errors, IsEmpty());
    ASSERT_EQ(r.rules.size(), 6u);
    EXPECT_EQ(r.rules[0].collective, Collective::allreduce);
    EXPECT_EQ(r.rules[0].ranks, 8u);
    EXPECT_EQ(r.rules[0].levels, 2u);
    EXPECT_EQ(r.rules[0].bytes, 65536u);
    EXPECT_EQ(text_of(r.rules[0].setting), "hierarchical:chunk=16K");
    EXPECT_EQ(r.rules[1].bytes, 8192u);
    EXPECT_EQ(r.rules[1].ranks, 2u) << "limits may be in any order";
    EXPECT_EQ(r.rules[2].ranks, no_limit);
    EXPECT_EQ(r.rules[2].bytes, no_limit);
    EXPECT_EQ(r.rules[2].levels, 1u);
    EXPECT_EQ(r.rules[2].comm_kind, CommKind::any_kind) << "lines of older files name no kind of communicator";
    EXPECT_EQ(r.rules[3].comm_kind, CommKind::several_nodes);
    EXPECT_EQ(r.rules[3].bytes, std::size_t{1} << 20);
    EXPECT_EQ(r.rules[4].comm_kind, CommKind::between_groups);
    EXPECT_EQ(r.rules[5].comm_kind, CommKind::one_node);
}

TEST(Tuning, ReportsAnAlgorithmThatCannotRunOnTheCommunicatorsOfItsLine) {
    Read const r(
        "bcast several_nodes hierarchical\n"
        "bcast one_node masters\n"
        "bcast between_groups binomial\n"
        "bcast one_node inter_binomial\n"
        "bcast hierarchical\n");
    EXPECT_THAT(
        r.errors,
        ElementsAre("FILE:1: bcast hierarchical never runs on communicators of this kind: several_nodes",
                    HasSubstr("FILE:2: bcast masters never runs"), HasSubstr("FILE:3: bcast binomial never runs"),
                    HasSubstr("FILE:4: bcast inter_binomial never runs")));
    EXPECT_EQ(r.rules.size(), 1u);
}

TEST(Tuning, ReportsInvalidLinesByNumberAndAcceptsTheOthers) {
    Read const r(
        "bcats slots\n"
        "bcast nix\n"
        "\n"
        "bcast\n"
        "bcast bytes<=5000 slots\n"
        "bcast ranks<=many slots\n"
        "bcast ranks<=0 slots\n"
        "bcast bytes>4K slots\n"
        "bcast levels>=x slots\n"
        "bcast hierarchical:chunk=x\n"
        "bcast slots bytes<=4K\n"
        "bcast hierarchical\n");
    EXPECT_THAT(r.errors,
                ElementsAre("FILE:1: bcats is not a collective; did you mean bcast?",
                            HasSubstr("FILE:2: bcast has no algorithm nix; it"),
                            "FILE:4: the algorithm of bcast must be at the end of the line",
                            HasSubstr("FILE:5: bytes<=5000: expected a power of two"), HasSubstr("FILE:6: ranks<=many"),
                            HasSubstr("FILE:7: ranks<=0"), HasSubstr("FILE:8: bytes>4K is not a limit"),
                            HasSubstr("FILE:9: levels>=x"), HasSubstr("FILE:10: chunk=x: expected sizes from 1"),
                            HasSubstr("FILE:11: slots is not a limit")));
    ASSERT_EQ(r.rules.size(), 1u) << "a line is accepted as a whole or not at all";
    EXPECT_EQ(text_of(r.rules[0].setting), "hierarchical");
}

TEST(Tuning, AcceptsAnyText) {
    for (std::string_view text : {"", "\n\n", "#", "\t", "bcast\tslots", "\0\xff\n"}) Read const r(text);
    EXPECT_EQ(Read("bcast\tslots").rules.size(), 1u);
}

TEST(Tuning, RoundTripsItsText) {
    std::string all;
    for (Rule const& rule : default_table()) all += text_of(rule) + "\n";
    Read const r(all);
    EXPECT_THAT(r.errors, IsEmpty());
    ASSERT_EQ(r.rules.size(), default_table().size());
    for (std::size_t i = 0; i < r.rules.size(); ++i) {
        Rule const &a = r.rules[i], &b = default_table()[i];
        EXPECT_EQ(text_of(a), text_of(b));
        EXPECT_EQ(a.setting.values, b.setting.values);
        EXPECT_EQ(a.comm_kind, b.comm_kind);
        EXPECT_EQ(a.ranks, b.ranks);
        EXPECT_EQ(a.bytes, b.bytes);
    }
}

/// The rules that are part of the programs: each line is valid, and no line hides a later one.
TEST(NamedTables, HaveRulesForEveryCollectiveAndNoLineWithoutEffect) {
    ASSERT_FALSE(named_tables().empty());
    for (NamedTable const& table : named_tables()) {
        EXPECT_TRUE(std::string_view(table.text).starts_with(tuning_head)) << table.name;
        std::vector<std::string> errors;
        std::vector<Rule> const rules = parse_rules(table.text, table.name, errors);
        EXPECT_THAT(errors, IsEmpty());
        for (int c = 0; c < collectives; ++c)
            EXPECT_TRUE(std::ranges::any_of(rules, [c](Rule const& r) { return static_cast<int>(r.collective) == c; }))
                << table.name << ": " << name_of(static_cast<Collective>(c));
        for (auto rule = rules.begin(); rule != rules.end(); ++rule)
            for (auto earlier = rules.begin(); earlier != rule; ++earlier)
                EXPECT_FALSE(earlier->collective == rule->collective && earlier->ranks >= rule->ranks &&
                             earlier->bytes >= rule->bytes &&
                             earlier->setting.algorithm->requirements == rule->setting.algorithm->requirements)
                    << table.name << ":" << earlier->line << " hides line " << rule->line;
    }
}

TEST(NamedTables, AreChosenByName) {
    TuningFile const file = find_tuning_file("tuned", {}, topo::Machine{});
    EXPECT_EQ(file.name, "tuned");
    std::vector<std::string> errors;
    Settings settings;
    settings.tuned = parse_rules(file.text, file.name, errors);
    auto const chosen = [&](Collective collective, int ranks, std::size_t bytes) {
        Trees const trees(topo::Hierarchy::build(ranks, {}));
        auto const trees_of = [&](topo::LevelChoice const*) -> Trees const& { return trees; };
        return text_of(
            *decide(collective, CallTraits::plain(trees.hierarchy, 8192, bytes), settings, trees_of).setting);
    };
    EXPECT_EQ(chosen(Collective::bcast, 64, 1 << 20), "knomial");   // as XHC's Table II counts
    EXPECT_EQ(chosen(Collective::bcast, 63, 2047), "binomial");
    EXPECT_EQ(chosen(Collective::bcast, 63, 2048), "knomial");
    EXPECT_EQ(chosen(Collective::allreduce, 16, 4095), "recursive_doubling");
    EXPECT_EQ(chosen(Collective::allreduce, 16, 4096), "rabenseifner");
}

}   // namespace
}   // namespace tutti::coll
