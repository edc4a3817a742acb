// SPDX-License-Identifier: BSD-3-Clause
// Tables of choices as text: parsing, diagnostics with line numbers, and round trips.
#include "coll/choice/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}   // namespace
}   // namespace tutti::coll
