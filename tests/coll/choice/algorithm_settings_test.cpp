// SPDX-License-Identifier: BSD-3-Clause
// The texts that users write: algorithms, parameters of every kind, info keys, and an algorithm's own hierarchy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coll/call/collectives.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/comm/create.hpp"

namespace tutti::coll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Parameter every_kind[] = {
    {"chunk", 65536, "bytes"},
    {"ways", 3, "their number", ParameterKind::number},
    {"piece", 4096, "bytes", ParameterKind::per_level},
    {"flags", 1, "their layout", ParameterKind::keyword, "one|packed|apart"},
    hierarchy_parameter,
    {"degree", 2, "their number on each level", ParameterKind::numbers},
};

/// A row of the list with other parameters: parsing does not depend on the algorithm.
AlgorithmRow row_of_every_kind() {
    AlgorithmRow row = all_algorithms().front();
    row.parameters = every_kind;
    return row;
}

struct Parsed {
    Setting setting;
    std::vector<std::string> errors;
};

Parsed parse(Collective collective, std::string_view text) {
    Parsed p;
    p.setting = parse_setting(collective, text, "test", p.errors);
    return p;
}

/// Parses parameters as they follow the algorithm's name, for the row `row`.
Parsed parse_parameters(AlgorithmRow const& row, std::string_view text) {
    Parsed p;
    p.setting = defaults(row);
    parse_parameters(text, p.setting, "test", p.errors);
    return p;
}

TEST(Settings, ReadParametersOfEveryKindAndFormatThemAgain) {
    AlgorithmRow const row = row_of_every_kind();
    std::string const text = "chunk=16K,ways=4,piece=1K+8K+1M,flags=apart,hierarchy=numa+socket,degree=8+3";
    Parsed const p = parse_parameters(row, text);
    EXPECT_THAT(p.errors, IsEmpty());
    Values const& v = p.setting.values;
    EXPECT_EQ(v[0], 16384u);
    EXPECT_EQ(v[1], 4u);
    EXPECT_THAT((std::vector{v.at(2, 0), v.at(2, 1), v.at(2, 2), v.at(2, max_levels + 3)}),
                ElementsAre(1024u, 8192u, 1048576u, 1048576u))
        << "the last size applies to all outer levels";
    EXPECT_EQ(v[3], 2u);
    EXPECT_TRUE(p.setting.has_levels);
    EXPECT_THAT((std::vector{v.at(5, 0), v.at(5, 1), v.at(5, 2)}), ElementsAre(8u, 3u, 3u));
    EXPECT_EQ(text_of(p.setting), std::string(row.name) + ":" + text);
    EXPECT_EQ(text_of(defaults(row)), row.name);
}

TEST(Settings, APresetIsAnAlgorithmWithParametersAndTakesMore) {
    Parsed const flat = parse(Collective::bcast, "xhc-flat"), tree = parse(Collective::reduce, "xhc-tree:flags=apart");
    EXPECT_THAT(flat.errors, IsEmpty());
    EXPECT_THAT(tree.errors, IsEmpty());
    EXPECT_EQ(text_of(flat.setting), "xhc:hierarchy=flat");
    EXPECT_EQ(text_of(tree.setting), "xhc:hierarchy=numa+socket,flags=apart");
    EXPECT_THAT(parse(Collective::gather, "xhc-flat").errors,
                ElementsAre(HasSubstr("test: gather has no algorithm xhc-flat")));
}

TEST(Settings, ReportInvalidParametersAndKeepTheirDefaults) {
    AlgorithmRow const row = row_of_every_kind();
    auto expect = [&](std::string_view text, std::string const& expected) {
        Parsed const p = parse_parameters(row, text);
        EXPECT_THAT(p.errors, ElementsAre(HasSubstr(expected))) << text;
        EXPECT_EQ(text_of(p.setting), row.name) << text;
    };
    expect("chunk=16X", "expected a size such as 16K from 1 to 1T");
    expect("chunk=0", "from 1 to 1T");
    expect("chunk", "from 1 to 1T");
    expect("chunk=99999999999999999999", "from 1 to 1T");
    expect("chunk=99999999999999999M", "from 1 to 1T");
    expect("chunk=1025G", "from 1 to 1T");
    expect("ways=many", "expected a number from 1 to 4096");
    expect("ways=0", "expected a number from 1 to 4096");
    expect("ways=4097", "expected a number from 1 to 4096");
    expect("ways=4294967297", "expected a number from 1 to 4096");
    expect("degree=2+many", "expected numbers from 1 to 4096, one per level");
    expect("degree=2+0", "expected numbers from 1 to 4096, one per level");
    expect("piece=1K+2T", "expected sizes from 1 to 1T, one per level");
    expect("piece=1K+x", "one per level");
    expect("piece=1+2+3+4+5+6+7+8+9", "at most 8 levels");
    expect("flags=three", "expected one of one|packed|apart");
    expect("flags=one|packed", "expected one of one|packed|apart");
    expect("hierarchy=cheese", "cheese");
    expect("chnk=1K", "has no parameter chnk; it has chunk, ways, piece, flags, hierarchy");
}

TEST(Settings, ListTheAlgorithmsWhenOneIsUnknown) {
    EXPECT_THAT(parse(Collective::bcast, "nix").errors,
                ElementsAre(HasSubstr("test: bcast has no algorithm nix; it has slots, ")));
    EXPECT_EQ(parse(Collective::bcast, "nix").setting.algorithm, nullptr);
    EXPECT_THAT(parse(Collective::bcast, "slosts").errors,
                ElementsAre("test: bcast has no algorithm slosts; did you mean slots?"));
}

TEST(Settings, AcceptValidPartsAndReportTheRest) {
    Settings settings;
    std::vector<std::string> errors;
    settings.parse("bcast=hierarchical:chunk=16K,share=32K,allreduce=exchange,,cheese=slots,reduce=nix,chunk=4K",
                   "test", errors);
    auto text = [&](Collective c) { return text_of(settings.requested[static_cast<std::size_t>(c)]); };
    EXPECT_EQ(text(Collective::bcast), "hierarchical:chunk=16K,share=32K");
    EXPECT_EQ(text(Collective::allreduce), "exchange");
    EXPECT_EQ(settings.requested[static_cast<std::size_t>(Collective::reduce)].algorithm, nullptr);
    EXPECT_THAT(errors, ElementsAre(HasSubstr("cheese is neither a parameter of exchange nor a collective"),
                                    HasSubstr("reduce has no algorithm nix"),
                                    HasSubstr("chunk is not a collective; the collectives are barrier, bcast")));
    settings.parse(Collective::bcast, "slots", "test", errors);
    EXPECT_EQ(text(Collective::bcast), "slots") << "the later setting applies";
}

TEST(Settings, EveryAlgorithmIsParsedByItsNameAndFormattedAsIt) {
    for (AlgorithmRow const& row : all_algorithms()) {
        Parsed const p = parse(row.collective, row.name);
        EXPECT_THAT(p.errors, IsEmpty());
        EXPECT_EQ(p.setting.algorithm, &row);
        EXPECT_EQ(text_of(p.setting), row.name);
        EXPECT_LE(row.parameters.size(), Values::max_count) << row.name;
        for (Parameter const& parameter : row.parameters) {
            if (parameter.kind == ParameterKind::hierarchy) continue;
            std::string const word = std::string(parameter.name) + "=" + text_of_default(parameter);
            EXPECT_THAT(parse(row.collective, std::string(row.name) + ":" + word).errors, IsEmpty())
                << row.name << " does not accept its own default " << word;
        }
    }
}

TEST(Settings, AnAlgorithmsOwnLevelsAreThoseOfItsTree) {
    Trees const own(topo::Hierarchy::build(8, {{{"numa", {0, 0, 1, 1, 2, 2, 3, 3}}}}));
    Trees const flat(topo::Hierarchy::build(8, {}));
    auto trees_of = [&](topo::LevelChoice const* levels) -> Trees const& {
        return levels && !levels->automatic && levels->levels.empty() ? flat : own;
    };
    CallTraits const traits{.ranks = 8,
                            .levels = 2,
                            .bytes = 64,
                            .slot_bytes = 8192,
                            .commutative = true,
                            .commutative_or_consecutive = true,
                            .has_kernels = true,
                            .equal_parts = true};
    std::vector<std::string> errors;
    for (auto const& [collective, name] : {std::pair{Collective::barrier, "hierarchical"},
                                           {Collective::bcast, "hierarchical"},
                                           {Collective::bcast, "hierarchical_slots"},
                                           {Collective::reduce, "hierarchical"},
                                           {Collective::allreduce, "hierarchical"}}) {
        Settings settings;
        settings.parse(collective, name, "test", errors);
        EXPECT_EQ(decide(collective, traits, settings, trees_of).trees, &own) << name;
        settings.parse(collective, std::string(name) + ":hierarchy=flat", "test", errors);
        EXPECT_EQ(decide(collective, traits, settings, trees_of).trees, &flat) << name;
    }
    EXPECT_THAT(errors, IsEmpty());
}

/// A single rank, as in a program without mpiexec.
struct Alone {
    Alone(Variables variables = {}) : segment(Segment::create(1)), process(segment, 0, std::move(variables)) {
        initialize(process, errors);
    }
    std::string chosen(Comm& comm, Collective collective) {
        Settings const& s = state_of(comm).settings ? *state_of(comm).settings : state_of(process).settings;
        Setting const& setting = s.requested[static_cast<std::size_t>(collective)];
        return setting.algorithm ? text_of(setting) : "";
    }
    std::vector<std::string> errors;
    Segment segment;
    Process process;
};

TEST(Settings, TheVariableOfOneCollectiveTakesPrecedenceOverTheGeneralOne) {
    Variables variables;
    variables.coll = "bcast=slots,reduce=blocks";
    variables.coll_bcast = "hierarchical:chunk=4K";
    variables.coll_exscan = "nix";
    Alone alone(variables);
    EXPECT_EQ(alone.chosen(*alone.process.world, Collective::bcast), "hierarchical:chunk=4K");
    EXPECT_EQ(alone.chosen(*alone.process.world, Collective::reduce), "blocks");
    EXPECT_THAT(alone.errors, ElementsAre(HasSubstr("TUTTI_COLL_EXSCAN: exscan has no algorithm nix")));
}

TEST(Settings, AnInfoKeyOverridesTheEnvironmentOnItsCommunicatorOnly) {
    Variables variables;
    variables.coll = "bcast=slots,reduce=blocks";
    Alone alone(variables);
    Comm& world = *alone.process.world;
    Comm& self = *alone.process.self;
    self.info = Ref<Info>::adopt(new Info);
    self.info->set("tutti_coll_bcast", "hierarchical:chunk=8K");
    self.info->set("tutti_coll", "bcast=hierarchical_slots,allreduce=exchange");
    self.info->set("tutti_coll_cheese", "slots");
    std::vector<std::string> errors;
    apply_hints(self, errors);
    EXPECT_EQ(alone.chosen(self, Collective::bcast), "hierarchical:chunk=8K")
        << "the collective's own key takes precedence";
    EXPECT_EQ(alone.chosen(self, Collective::allreduce), "exchange");
    EXPECT_EQ(alone.chosen(self, Collective::reduce), "blocks") << "collectives without a key keep their setting";
    EXPECT_EQ(alone.chosen(world, Collective::bcast), "slots");
    EXPECT_THAT(errors, ElementsAre(HasSubstr("info key tutti_coll_cheese")));
}

}   // namespace
}   // namespace tutti::coll
