// SPDX-License-Identifier: BSD-3-Clause
// All options of other launchers: each is applied, accepted, or refused with a reason. The lists are those of
// MPICH 4.0 to 4.3 (Hydra), Open MPI 4.1 (ORTE), Open MPI 5.0 (mpirun and prterun of PRRTE 3) and MPI 4.1, 11.5.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/utsname.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/base/job.hpp"
#include "launcher/options/options.hpp"

namespace tutti::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Each line: an option without dashes, and values for its arguments. HOSTS, RANKS and CONFIG are replaced by files.
constexpr char of_standard[] =
    "n 1|host localhost|arch ARCH|wdir /|path /bin|file x|soft 1|initial-errhandler mpi_errors_are_fatal|"
    "memory-alloc-kinds system|configfile CONFIG";

constexpr char of_hydra[] =
    "help|h|genv A 1|genvlist A,B|genvnone|genvall|f HOSTS|hostfile HOSTS|machinefile HOSTS|machine localhost|"
    "machines localhost|machinelist localhost|host localhost|hosts localhost|hostlist localhost|rankmap 0|ppn "
    "1|profile|"
    "output-from 0|prepend-rank|l|prepend-pattern %r|outfile-pattern x|errfile-pattern x|outfile x|errfile x|wdir /|"
    "configfile CONFIG|env A 1|envlist A,B|envnone|envall|n 1|np 1|launcher ssh|launcher-exec ssh|bootstrap fork|"
    "bootstrap-exec ssh|enable-x|disable-x|rmk user|topolib hwloc|binding core|bind-to core|map-by core|"
    "membind firsttouch|demux poll|debug|disable-auto-cleanup|dac|disable-hostname-propagation|enable-auto-cleanup|"
    "enable-hostname-propagation|g 1|gpus-per-proc 1|gpu-subdevs-per-proc 1|hybrid-hosts|iface lo|info|localhost x|"
    "nameserver x:1|order-nodes ascending|pmi-port|print-all-exitcodes|skip-launch-node|usize 4|v|verbose|version|"
    "pmi_args 1 2 3 4";

constexpr char of_orte[] =
    "allow-run-as-root|am x|app CONFIG|bind-to core|bind-to-core|bind-to-socket|bycore|bynode|byslot|c 1|np 1|n 1|cf x|"
    "cartofile x|continuous|cpu-list 0|cpu-set 0|cpus-per-proc 1|cpus-per-rank 1|d|debug-devel|debug|debug-daemons|"
    "debug-daemons-file|debugger x|default-hostfile HOSTS|disable-recovery|display-allocation|display-devel-allocation|"
    "display-devel-map|display-diffable-map|display-map|display-topo|do-not-launch|do-not-resolve|dvm|"
    "enable-instant-on-support|enable-recovery|fwd-mpirun-port|get-stack-traces|gmca a 1|h|help|H localhost|"
    "host localhost|hnp x|hostfile HOSTS|index-argv-by-rank|launch-agent x|leave-session-attached|machinefile HOSTS|"
    "map-by slot|max-restarts 1|max-vm-size 1|mca a 1|merge-stderr-to-stdout|N 1|nolocal|nooversubscribe|noprefix|novm|"
    "npernode 1|npersocket 1|ompi-server x|oversubscribe|output-filename x|output-proctable|path /bin|pernode|"
    "personality ompi|ppr 1:socket|prefix /opt|preload-files x|q|quiet|rank-by slot|report-bindings|"
    "report-child-jobs-separately|report-events 100|report-pid -|report-state-on-timeout|report-uri -|rf RANKS|"
    "rankfile RANKS|s 0|preload-binary|set-cwd-to-session-dir|show-progress|sstore-load x|stdin 0|tag-output|timeout 1|"
    "timestamp-output|tune x|tv|use-hwthread-cpus|use-regexp|v|verbose|V|version|wd /|wdir /|x HOME|xml|xml-file x|"
    "xterm 0";

// In both, -s means --preload-binary; here it means -stdin, as in older versions of MPICH.
// mpirun's --soft has no argument and its --display-topo has one, against MPI's standard, prterun and Open MPI 4.
constexpr char of_prrte[] =
    "help|h|version|V|verbose|v|parseable|parsable|p|report-pid -|report-uri -|personality ompi|dvm x|prtemca a 1|"
    "pmixmca a 1|gpmixmca a 1|omca a 1|gomca a 1|tune x|launch-agent x|max-vm-size 1|debug-daemons|debug-daemons-file|"
    "leave-session-attached|tmpdir /tmp|prefix /opt|pmix-prefix /opt|noprefix|forward-signals "
    "SIGUSR1|allow-run-as-root|"
    "report-child-jobs-separately|xterm 0|stop-on-exec|stop-in-init|stop-in-app|timeout 1|report-state-on-timeout|"
    "get-stack-traces|spawn-timeout 10|no-aggregate-help|np 1|n 1|c 1|N 1|app CONFIG|output tag|stdin 0|preload-files "
    "x|"
    "s 0|preload-binary|x HOME|wdir /|wd /|path /bin|show-progress|pset x|hostfile HOSTS|machinefile HOSTS|"
    "default-hostfile HOSTS|add-hostfile x|add-host x|H localhost|host localhost|fwd-environment|"
    "memory-alloc-kinds system|gpu-support false|app-pmix-prefix /opt|no-app-prefix|map-by slot|rank-by slot|"
    "bind-to core|display map|do-not-launch|runtime-options recoverable|enable-recovery|max-restarts "
    "1|disable-recovery|"
    "continuous|with-ft ulfm|initial-errhandler mpi_errors_abort|display-comm|display-comm-finalize|soft 1|arch ARCH|"
    "file x|mca a 1|gmca a 1|xml|tag-output|timestamp-output|output-directory x|output-filename x|"
    "merge-stderr-to-stdout|display-devel-map|display-topo|report-bindings|display-map|display-allocation|"
    "display-devel-allocation|nolocal|oversubscribe|nooversubscribe|use-hwthread-cpus|cpu-set 0|cpu-list "
    "0|bind-to-core|"
    "bynode|bycore|byslot|cpus-per-proc 1|cpus-per-rank 1|npernode 1|pernode|npersocket 1|ppr 1:socket|amca x|am x|"
    "rankfile RANKS|output-proctable|debug|stream-buffering 1|set-sid|keepalive 3|set-cwd-to-session-dir";

std::string architecture() {
    utsname system{};
    uname(&system);
    return system.machine;
}

/// Values that options accept.
constexpr char of_values[] =
    "output tag|output TAG|output tag-detailed|output tag-fullname|output timestamp|output merge|output xml|"
    "output tag,timestamp,file=x|output dir=x:nocopy|output file=x:raw,tag|output filename=x:pattern|display "
    "allocation|"
    "display bind|display bindings|display map|display MAP-DEVEL|display topo|display topo=localhost|display cpus|"
    "display map,bind,alloc:parseable|runtime-options error-nonzero-status|runtime-options error-nonzero-status=0|"
    "runtime-options donotlaunch|runtime-options show-progress=1|runtime-options notifyerrors|"
    "runtime-options notifyerrors=false|runtime-options recoverable=true|runtime-options autorestart|"
    "runtime-options continuous|runtime-options max-restarts=0|runtime-options max-restarts=3|"
    "runtime-options exec-agent=x|runtime-options default-exec-agent|runtime-options output-proctable=-|"
    "runtime-options stop-on-exec|runtime-options stop-in-init|runtime-options stop-in-app|runtime-options "
    "timeout=1:30|"
    "runtime-options spawn-timeout=30|runtime-options report-state-on-timeout|runtime-options get-stack-traces|"
    "runtime-options report-child-jobs-separately|runtime-options aggregate-help-messages|"
    "runtime-options fwd-environment,recoverable|map-by slot|map-by hwthread|map-by core|map-by l1cache|map-by l2cache|"
    "map-by l3cache|map-by numa|map-by package|map-by socket|map-by board|map-by node|map-by seq|map-by seq:FILE=HOSTS|"
    "map-by ppr:1:node|map-by ppr:2:socket:PE=2,SPAN|map-by rankfile:FILE=RANKS|map-by pe-list=0|"
    "map-by pe-list=0,0:ordered|map-by core:PE=2|map-by numa:SPAN|map-by :OVERSUBSCRIBE|map-by slot:NOOVERSUBSCRIBE|"
    "map-by core:HWTCPUS:INHERIT|map-by slot:CORECPUS,NOINHERIT|map-by :PE=2|map-by slot:oversub|map-by dist:eth0|"
    "map-by slot:device=eth0|map-by machine|map-by l2dcache:2|bind-to none|bind-to hwthread|bind-to core|"
    "bind-to l1cache|bind-to l2cache|bind-to l3cache|bind-to numa|bind-to socket|bind-to package|bind-to board|"
    "bind-to core:OVERLOAD|bind-to core:overload-allowed|bind-to :overload-allowed|bind-to core:IF-SUPPORTED|"
    "bind-to core:no-overload|bind-to core:report|bind-to rr|bind-to user:0+1,2|bind-to l3ucache:2|bind-to pci:x|"
    "bind-to gpu:1|bind-to ib|bind-to eth0:1|bind-to hfi|rank-by slot|rank-by node|rank-by fill|rank-by span|"
    "rank-by object";

struct Compatibility : testing::Test {
    std::string folder = testing::TempDir() + "compatibility-" + std::to_string(getpid());

    void SetUp() override {
        unsetenv("SLURM_JOB_ID");
        write("HOSTS", "localhost\n");
        write("RANKS", "rank 0=localhost\n");
        write("CONFIG", "-n 1 prog\n");
    }

    void TearDown() override {
        for (char const* name : {"HOSTS", "RANKS", "CONFIG"}) std::filesystem::remove(folder + name);
    }

    void write(std::string const& name, std::string const& text) const { std::ofstream(folder + name) << text; }

    /// Splits a line into words and replaces the names of files and of the architecture.
    std::vector<std::string> words_of(std::string const& line) const {
        std::istringstream in(line);
        std::vector<std::string> words;
        for (std::string word; in >> word;) {
            for (char const* name : {"HOSTS", "RANKS", "CONFIG"})
                if (std::size_t const at = word.find(name); at != std::string::npos)
                    word.replace(at, std::string(name).size(), folder + name);
            words.push_back(word == "ARCH" ? architecture() : word);
        }
        return words;
    }

    static std::vector<std::string> lines_of(std::string const& list) {
        std::istringstream in(list);
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line, '|');) lines.push_back(line);
        return lines;
    }

    /// Parses the arguments between a list of hosts that no option rejects and "prog".
    static std::string outcome(std::vector<std::string> arguments, Job& job) {
        std::vector<std::string> all{"-H", "localhost,elsewhere"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        all.emplace_back("prog");
        try {
            job = parse_arguments(all);
        } catch (LaunchError const& error) { return error.what(); }
        return "accepted";
    }
};

std::pair<char, char const*> const lists[] = {{'S', of_standard}, {'H', of_hydra}, {'O', of_orte}, {'P', of_prrte}};

TEST_F(Compatibility, applies_accepts_or_refuses_each_option_of_each_launcher) {
    for (auto const& [letter, list] : lists)
        for (std::string const& line : lines_of(list)) {
            std::vector<std::string> words = words_of(line);
            Option const* const option = find_option(words[0]);
            ASSERT_NE(option, nullptr) << "no option " << words[0];
            EXPECT_NE(option->supported_by.find(letter), std::string_view::npos) << words[0] << " exists in " << letter;
            words[0].insert(0, words[0].size() > 1 ? "--" : "-");
            Job job;
            std::string const message = outcome(words, job);
            if (option->effect == Effect::refused) {
                EXPECT_THAT(message, HasSubstr(description_clause(*option))) << line;
                continue;
            }
            EXPECT_EQ(message, "accepted") << line;
            if (option->effect == Effect::ignored) {
                EXPECT_THAT(job.verbose_notes, testing::Contains(HasSubstr(description_clause(*option)))) << line;
            }
            if (!job.programs.empty() && !job.show_help) {
                EXPECT_THAT(job.programs.back().command, testing::ElementsAre("prog")) << line << ": its arguments";
            }
        }
}

TEST_F(Compatibility, claims_no_option_for_a_launcher_that_lacks_it) {
    for (auto const& [letter, list] : lists) {
        std::vector<Option const*> has;
        for (std::string const& line : lines_of(list)) has.push_back(find_option(words_of(line)[0]));
        for (OptionGroup const& group : option_groups())
            for (Option const& option : group.options) {
                if (option.supported_by.find(letter) == std::string_view::npos || option.names == ":") continue;
                EXPECT_THAT(has, testing::Contains(&option)) << option.names << " for " << letter;
            }
    }
}

TEST_F(Compatibility, accepts_or_refuses_each_value_with_a_reason) {
    for (std::string const& line : lines_of(of_values)) {
        std::vector<std::string> words = words_of(line);
        words[0].insert(0, "--");
        Job job;
        std::string const message = outcome(words, job);
        if (message == "accepted") continue;
        EXPECT_THAT(message, Not(HasSubstr("unknown"))) << line;
        EXPECT_THAT(message, Not(HasSubstr("must be a number"))) << line;
        EXPECT_GT(message.size(), words[0].size() + words[1].size() + 15) << line << ": " << message;
    }
}

TEST_F(Compatibility, is_printed_from_the_same_table) {
    std::string const text = help_text("compatibility");
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options)
            if (!option.supported_by.empty()) {
                EXPECT_THAT(text, HasSubstr(std::string(option.names.substr(0, option.names.find(' ')))));
            }
    for (DirectiveList const& list : directive_lists())
        for (Option const& directive : list.directives)
            EXPECT_THAT(text, HasSubstr(std::string(directive.names.substr(0, directive.names.find(' ')))));
    EXPECT_THAT(text, HasSubstr("--tmpdir FOLDER (Open MPI 5)"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
    EXPECT_THAT(help_text("--output"), HasSubstr("tag-detailed"));
    EXPECT_THROW(help_text("nonsense"), LaunchError);
}

TEST_F(Compatibility, applies_values) {
    Job job;
    ASSERT_EQ(outcome({"--map-by", ":NOLOCAL"}, job), "accepted");
    EXPECT_EQ(job.hosts.size(), 1u);
    EXPECT_FALSE(job.map.is_given);
    ASSERT_EQ(outcome({"--map-by", "socket:PE=2,NOOVERSUBSCRIBE"}, job), "accepted");
    EXPECT_TRUE(job.no_oversubscribe);
    EXPECT_EQ(job.map.cores, 2);
    EXPECT_EQ(job.map.unit, topo::Unit::socket);
    ASSERT_EQ(outcome({"--map-by", "numa:SPAN"}, job), "accepted");
    EXPECT_THAT(job.notes, testing::ElementsAre(HasSubstr("each node is filled before the next")));
    ASSERT_EQ(outcome({"--map-by", "pe-list=1,3:ordered"}, job), "accepted");
    EXPECT_THAT(job.cpus, testing::ElementsAre(1, 3));
    EXPECT_TRUE(job.cpus_in_order);
    ASSERT_EQ(outcome({"--output", "TAG-D,TIMESTAMP,MERGE,file=o"}, job), "accepted");
    EXPECT_EQ(job.prefix, "[%r on %h] ");
    EXPECT_TRUE(job.timestamps && job.merge_errors);
    EXPECT_EQ(job.out_pattern, "o.%r");
    ASSERT_EQ(outcome({"--display", "map,bind,alloc"}, job), "accepted");
    EXPECT_TRUE(job.show_map && job.report_bindings && job.show_allocation);
    ASSERT_EQ(outcome({"--runtime-options", "timeout=1:00:05,recoverable,fwd-environment=f"}, job), "accepted");
    EXPECT_EQ(job.timeout.count(), 3'605'000);
    EXPECT_TRUE(job.keep_going);
    EXPECT_EQ(job.environment.inherit, EnvironmentRules::Inherit::none);
    EXPECT_THAT(outcome({"--output", "tag-"}, job), HasSubstr("may be tag-fullname, tag-detailed"));
    EXPECT_THAT(outcome({"--output", "tags"}, job), HasSubstr("'tags' is unknown; the valid directives are tag,"));
    EXPECT_THAT(outcome({"--map-by", "rankfile"}, job), HasSubstr("needs a file"));
    EXPECT_THAT(outcome({"--map-by", "slot:file=x"}, job), HasSubstr("FILE is for rankfile and seq"));
    EXPECT_THAT(outcome({"--forward-signals", "SIGWINCH"}, job), HasSubstr("only SIGINT"));
    EXPECT_THAT(outcome({"-arch", "pdp11"}, job), HasSubstr("this machine is"));
}

TEST_F(Compatibility, places_ranks_by_lists_of_hosts) {
    auto const hosts_of = [&](std::vector<std::string> const& arguments) {
        Job job;
        EXPECT_EQ(outcome(arguments, job), "accepted");
        std::string hosts;
        for (RankFileEntry const& place : job.rank_file_entries) hosts += place.host + " ";
        return hosts;
    };
    EXPECT_EQ(hosts_of({"-rankmap", "0,1,1"}), "localhost elsewhere elsewhere ");
    EXPECT_EQ(hosts_of({"-rankmap", "(vector,(0,2,2),0)"}), "localhost localhost elsewhere elsewhere localhost ");
    EXPECT_EQ(hosts_of({"--map-by", "seq", "-n", "1"}), "localhost ");
    EXPECT_EQ(hosts_of({"--map-by", "seq"}), "localhost elsewhere ");
    EXPECT_EQ(hosts_of({"--map-by", "seq:FILE=" + folder + "HOSTS"}), "localhost ");
    Job job;
    for (char const* wrong : {"(0,2", "0,x", "(0,1)"})
        EXPECT_THAT(outcome({"-rankmap", wrong}, job), HasSubstr("-rankmap needs")) << wrong;
    EXPECT_THAT(outcome({"-rankmap", "2"}, job), HasSubstr("there is no host 2"));
}

TEST_F(Compatibility, passes_several_variables_on) {
    setenv("TUTTI_TEST_ONE", "1", 1);
    setenv("TUTTI_TEST_TWO", "2", 1);
    using Pair = std::pair<std::string, std::string>;
    Job job;
    ASSERT_EQ(outcome({"-x", "TUTTI_TEST_ONE,TUTTI_TEST_TWO,A=3,4"}, job), "accepted");
    EXPECT_THAT(job.programs[0].environment.set,
                testing::ElementsAre(Pair("TUTTI_TEST_ONE", "1"), Pair("TUTTI_TEST_TWO", "2"), Pair("A", "3,4")));
    ASSERT_EQ(outcome({"--mca", "mca_base_env_list", "TUTTI_TEST_ONE;A=2"}, job), "accepted");
    EXPECT_THAT(job.environment.set, testing::ElementsAre(Pair("TUTTI_TEST_ONE", "1"), Pair("A", "2")));
    ASSERT_EQ(outcome({"-x", "TUTTI_TEST_*"}, job), "accepted");
    EXPECT_THAT(job.programs[0].environment.set,
                testing::UnorderedElementsAre(Pair("TUTTI_TEST_ONE", "1"), Pair("TUTTI_TEST_TWO", "2")));
    unsetenv("TUTTI_TEST_ONE");
    unsetenv("TUTTI_TEST_TWO");
}

}   // namespace
}   // namespace tutti::launcher
