// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/options/options.hpp"

#include <cstdlib>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/base/job.hpp"

namespace tutti::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Job parse(std::vector<std::string> arguments) { return parse_arguments(arguments); }

std::string error_message(std::vector<std::string> const& arguments) {
    try {
        parse_arguments(arguments);
    } catch (LaunchError const& c) { return c.what(); }
    return "accepted";
}

TEST(Options, takes_the_number_of_ranks_in_every_spelling) {
    for (char const* name : {"-n", "-np", "-c", "--np", "--n"}) {
        EXPECT_EQ(parse({name, "5", "prog"}).ranks(), 5) << name;
        EXPECT_EQ(parse({std::string(name) + "=5", "prog"}).ranks(), 5) << name;
    }
    EXPECT_EQ(parse({"prog"}).ranks(), 1);
    EXPECT_EQ(parse({"-ppn", "3", "prog"}).ranks(), 3);
    EXPECT_EQ(parse({"-H", "localhost:2,127.0.0.1:2", "prog"}).ranks(), 4);
    EXPECT_EQ(parse({"-H", "a,b", "-ppn", "3", "prog"}).ranks(), 6);
}

TEST(Options, leaves_the_program_its_own_arguments) {
    Job job = parse({"-n", "2", "prog", "-n", "7", "--help", "-x"});
    EXPECT_EQ(job.ranks(), 2);
    EXPECT_THAT(job.programs.at(0).command, ElementsAre("prog", "-n", "7", "--help", "-x"));
    EXPECT_FALSE(job.show_help);
    EXPECT_THAT(parse({"-n", "1", "--", "-odd"}).programs.at(0).command, ElementsAre("-odd"));
}

TEST(Options, separates_programs_by_colons) {
    Job job = parse({"-n", "1", "-env", "A", "1", "boss", ":", "-n", "3", "-wdir", "/tmp", "worker", "x"});
    ASSERT_EQ(job.programs.size(), 2u);
    EXPECT_EQ(job.ranks(), 4);
    EXPECT_EQ(job.programs[0].environment.set.size(), 1u);
    EXPECT_EQ(job.programs[1].environment.set.size(), 0u);
    EXPECT_EQ(job.programs[1].directory, "/tmp");
    EXPECT_THAT(error_message({"-n", "1", "a", ":"}), HasSubstr("after ':'"));
    EXPECT_THAT(error_message({":", "a"}), HasSubstr("before ':'"));
}

TEST(Options, accepts_a_variable_as_two_words_or_as_one) {
    Job job = parse({"-genv", "A", "1", "-genv", "B=2", "-env", "C", "x=y", "prog"});
    using Pair = std::pair<std::string, std::string>;
    EXPECT_THAT(job.environment.set, ElementsAre(Pair("A", "1"), Pair("B", "2")));
    EXPECT_THAT(job.programs[0].environment.set, ElementsAre(Pair("C", "x=y")));
}

TEST(Options, appends_requested_algorithms_to_those_of_the_environment) {
    using Pair = std::pair<std::string, std::string>;
    unsetenv("TUTTI_COLL");
    EXPECT_THAT(parse({"--coll", "bcast=slots", "--coll", "allreduce=direct", "prog"}).environment.set,
                ElementsAre(Pair("TUTTI_COLL", "bcast=slots,allreduce=direct"),
                            Pair("TUTTI_COLL_OPTION", "bcast=slots,allreduce=direct")));
    setenv("TUTTI_COLL", "reduce=blocks", 1);
    EXPECT_THAT(parse({"--coll=bcast=slots", "prog"}).environment.set,
                ElementsAre(Pair("TUTTI_COLL", "reduce=blocks,bcast=slots"), Pair("TUTTI_COLL_OPTION", "bcast=slots")));
    unsetenv("TUTTI_COLL");
}

TEST(Options, names_the_nearest_option) {
    EXPECT_THAT(error_message({"--bind-too", "core", "prog"}), HasSubstr("did you mean --bind-to?"));
    EXPECT_THAT(error_message({"-outfile-patern", "x", "prog"}), HasSubstr("did you mean -outfile-pattern?"));
    EXPECT_THAT(error_message({"--bind-to-numa", "prog"}), HasSubstr("did you mean --bind-to numa?"));
    EXPECT_THAT(error_message({"-zzzzzz", "prog"}), HasSubstr("--help"));
}

TEST(Options, reports_invalid_values) {
    EXPECT_THAT(error_message({"-n", "x", "prog"}), HasSubstr("'x'"));
    EXPECT_THAT(error_message({"-n", "0", "prog"}), HasSubstr("at least 1"));
    EXPECT_THAT(error_message({"-n", "-4", "prog"}), HasSubstr("'-4'"));
    EXPECT_THAT(error_message({"-n"}), HasSubstr("needs N"));
    EXPECT_THAT(error_message({"-timeout", "soon", "prog"}), HasSubstr("'soon'"));
    EXPECT_THAT(error_message({"-bind-to", "cheese", "prog"}), HasSubstr("cheese"));
    EXPECT_THAT(error_message({"-n", "2", "-stdin", "2", "prog"}), HasSubstr("0 to 1"));
    EXPECT_THAT(error_message({"-x", "TUTTI_TEST_NOT_SET", "prog"}), HasSubstr("TUTTI_TEST_NOT_SET"));
    EXPECT_THAT(error_message({"-l=3", "prog"}), HasSubstr("takes no value"));
    EXPECT_THAT(error_message({}), HasSubstr("no program"));
    EXPECT_THAT(error_message({"-n", "4"}), HasSubstr("no program"));
    EXPECT_THAT(error_message({"-configfile", "/nowhere/at/all"}), HasSubstr("/nowhere/at/all"));
}

TEST(Options, names_the_bounds_of_a_number) {
    for (char const* option : {"-n", "-ppn", "-cpus-per-rank"})
        EXPECT_THAT(error_message({option, "99999999999", "prog"}), HasSubstr("at most 1000000, not '99999999999'"));
    EXPECT_THAT(error_message({"-stdin", "one", "prog"}), HasSubstr("all, none or the number of a rank, not 'one'"));
    EXPECT_THAT(error_message({"-timeout", "1e99", "prog"}), HasSubstr("from 0 to 1000000000, not '1e99'"));
    EXPECT_THAT(error_message({"--silence", "0", "prog"}), HasSubstr("from 0.1 to 86400, not '0'"));
    EXPECT_THAT(error_message({"--map-by", "ppr:99999999999:node", "prog"}), HasSubstr("1 to 1000000"));
}

TEST(Options, needs_an_algorithm_for_a_collective) {
    for (char const* text : {"allreduce", "allreduce=", "=ring"})
        EXPECT_THAT(error_message({"--coll", text, "prog"}), HasSubstr("--coll needs COLLECTIVE=ALGORITHM")) << text;
}

TEST(Options, applies_options_of_other_launchers) {
    Job job = parse({"-launcher",
                     "rsh",
                     "-iface",
                     "eth9",
                     "--rank-by",
                     "node",
                     "-print-all-exitcodes",
                     "--enable-recovery",
                     "--timestamp-output",
                     "-prepend-pattern",
                     "%r:",
                     "--cpu-set",
                     "0,2-3",
                     "-order-nodes",
                     "ASCENDING",
                     "-H",
                     "b:3,a:2",
                     "--prefix",
                     "/opt/t",
                     "prog"});
    EXPECT_EQ(job.agent, "rsh");
    EXPECT_EQ(job.interface, "eth9");
    EXPECT_THAT(job.environment.set, ElementsAre(std::pair<std::string, std::string>("TUTTI_NETWORK", "eth9")));
    EXPECT_TRUE(job.rank_by_node && job.exit_codes && job.keep_going && job.timestamps);
    EXPECT_EQ(job.prefix, "%r:");
    EXPECT_THAT(job.cpus, ElementsAre(0, 2, 3));
    EXPECT_EQ(job.hosts.at(0).name, "a") << "sorted by slots";
    EXPECT_EQ(job.daemon, "/opt/t/bin/tutti-daemon");
    EXPECT_TRUE(job.notes.empty());
    EXPECT_FALSE(parse({"-disable-auto-cleanup", "-enable-auto-cleanup", "prog"}).keep_going);
    EXPECT_TRUE(parse({"-launcher", "fork", "-H", "a,b", "prog"}).hosts.empty());
    EXPECT_EQ(parse({"--nolocal", "-H", "localhost,a", "prog"}).hosts.size(), 1u);
    EXPECT_THAT(parse({"--xterm", "0,2!", "-n", "3", "prog"}).windows, ElementsAre(0, 2));
    EXPECT_THAT(parse({"-gdb", "prog"}).windows, ElementsAre(-1));
    EXPECT_EQ(parse({"-pernode", "-H", "a,b", "prog"}).ranks(), 2);
    EXPECT_EQ(parse({"--mca", "btl_tcp_if_include", "eth1", "prog"}).interface, "eth1");
}

TEST(Options, reports_options_without_effect) {
    EXPECT_THAT(parse({"-usize", "9", "prog"}).verbose_notes,
                ElementsAre(HasSubstr("-usize has no effect: MPI processes cannot")));
    EXPECT_THAT(parse({"--tmpdir=/x", "prog"}).verbose_notes, ElementsAre(HasSubstr("--tmpdir has no effect")));
    EXPECT_THAT(error_message({"--report-uri=-", "prog"}), HasSubstr("there is no server"));
    EXPECT_THAT(parse({"--report-events", "99", "prog"}).notes,
                ElementsAre(HasSubstr("--report-events has no effect")));
    EXPECT_THAT(parse({"--report-events", "99", "--report", "a.html", "prog"}).notes, ElementsAre());
    EXPECT_THAT(parse({"--mca", "btl", "self", "prog"}).notes, ElementsAre(HasSubstr("btl has no effect")));
    EXPECT_THAT(error_message({"-launcher", "ll", "prog"}), HasSubstr("ssh, rsh, slurm, flux, lsf, sge or fork"));
    EXPECT_THAT(error_message({"-rmk", "nix", "prog"}), HasSubstr("not 'nix'"));
    EXPECT_THAT(error_message({"--rank-by", "socket", "prog"}), HasSubstr("--map-by socket"));
    EXPECT_THAT(error_message({"-order-nodes", "up", "prog"}), HasSubstr("ascending or descending"));
    EXPECT_THAT(error_message({"--nolocal", "prog"}), HasSubstr("no other node is named"));
    EXPECT_THAT(error_message({"--xterm", "4", "-n", "2", "prog"}), HasSubstr("the ranks are 0 to 1"));
    EXPECT_THAT(error_message({"--cpu-set", "one", "prog"}), HasSubstr("--cpu-set needs numbers"));
    EXPECT_THAT(error_message({"--launch-agent", "orted", "prog"}), HasSubstr("--daemon names the file"));
}

TEST(OptionTable, has_an_effect_or_a_message_for_each_option) {
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options) {
            EXPECT_TRUE(option.description.ends_with('.')) << option.names;
            bool const by_the_parser = option.names == ":" || option.names == "--app -configfile";
            EXPECT_EQ(option.apply != nullptr, option.effect == Effect::applied && !by_the_parser) << option.names;
        }
}

TEST(Options, accepts_options_that_silence_other_launchers) {
    EXPECT_EQ(error_message({"--oversubscribe", "--allow-run-as-root", "--mca", "btl", "self,vader", "-launcher", "ssh",
                             "--use-hwthread-cpus", "-iface", "lo", "-n", "1", "prog"}),
              "accepted");
}

TEST(Options, reads_input_timeout_and_placement) {
    Job job = parse({"-stdin", "all", "-timeout", "1.5", "-bind-to", "core", "--map-by", "socket", "-l", "prog"});
    EXPECT_EQ(job.input.kind, InputTarget::Kind::all);
    EXPECT_EQ(job.timeout.count(), 1500);
    EXPECT_TRUE(job.bind.has_value());
    EXPECT_EQ(job.map.unit, topo::Unit::socket);
    EXPECT_EQ(job.prefix, "[%r] ");
    EXPECT_EQ(parse({"-s", "none", "prog"}).input.kind, InputTarget::Kind::none);
}

TEST(Options, takes_the_time_limit_from_the_variable_that_both_worlds_know) {
    setenv("MPIEXEC_TIMEOUT", "7", 1);
    EXPECT_EQ(parse({"prog"}).timeout.count(), 7000);
    EXPECT_EQ(parse({"-timeout", "2", "prog"}).timeout.count(), 2000);
    unsetenv("MPIEXEC_TIMEOUT");
    EXPECT_EQ(parse({"prog"}).timeout.count(), 0);
}

TEST(Options, prints_the_placement_without_a_program) {
    Job job = parse({"-n", "8", "--show-hierarchy"});
    EXPECT_TRUE(job.show_hierarchy);
    EXPECT_EQ(job.ranks(), 8);
}

TEST(ConfigFile, is_one_program_per_line) {
    EXPECT_THAT(
        parse_config_arguments("# boss and workers\n-n 1 boss 'a b'\n\n  -n 3 worker \"c # d\" e\\ f # end\n", "FILE"),
        ElementsAre("-n", "1", "boss", "a b", ":", "-n", "3", "worker", "c # d", "e f"));
    EXPECT_THAT(parse_config_arguments("-n 2 \\\n prog", "FILE"), ElementsAre("-n", "2", "prog"));
    EXPECT_THAT(parse_config_arguments("prog ''", "FILE"), ElementsAre("prog", ""));
    EXPECT_THROW(parse_config_arguments("prog 'x", "FILE"), LaunchError);
    EXPECT_THAT(parse_config_arguments("# nothing\n", "FILE"), ElementsAre());
}

TEST(Help, names_every_option_within_the_width_of_a_page) {
    std::string const help = help_text(), others = help_text("compatibility");
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options)
            EXPECT_THAT(option.effect == Effect::applied ? help : others,
                        HasSubstr(std::string(option.names.substr(0, option.names.find(' ')))));
    std::size_t longest = 0, start = 0;
    for (std::size_t end; (end = help.find('\n', start)) != std::string::npos; start = end + 1)
        longest = std::max(longest, end - start);
    EXPECT_LE(longest, 120u);
}

TEST(OptionTable, has_no_name_twice) {
    std::multiset<std::string> names;
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options) {
            std::set<std::string> own;   // -bind-to and --bind-to are one name of one option
            std::string all(option.names);
            for (std::size_t at = 0; at < all.size();) {
                std::size_t end = std::min(all.find(' ', at), all.size());
                std::string name = all.substr(at, end - at);
                own.insert(name.substr(std::min(name.find_first_not_of('-'), name.size())));
                at = end + 1;
            }
            names.insert(own.begin(), own.end());
        }
    for (std::string const& name : names) EXPECT_EQ(names.count(name), 1u) << name;
}

}   // namespace
}   // namespace tutti::launcher
