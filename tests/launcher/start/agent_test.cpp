// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/nodes/link.hpp"
#include "topo/files.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;

TEST(Agent, splits_commands_like_a_shell) {
    EXPECT_THAT(split_agent_command("rsh -n 'a b' c\\ d"), ElementsAre("rsh", "-n", "a b", "c d"));
    EXPECT_THROW(split_agent_command("   "), LaunchError);
    EXPECT_THROW(split_agent_command("rsh 'x"), LaunchError);
}

TEST(Agent, is_an_ssh_that_never_asks) {
    std::vector<std::string> const words = split_agent_command("");
    EXPECT_EQ(words.at(0), "ssh");
    EXPECT_THAT(words, Contains("BatchMode=yes"));
}

TEST(Agent, gets_the_host_and_the_daemon_beside_this_program) {
    Job job;
    job.agent = "rsh -n";
    EXPECT_THAT(agent_command(job, "n1"),
                ElementsAre("rsh", "-n", "n1", shell_quoted(topo::program_folder() + "/tutti-daemon")));
    job.daemon = "/a b/it's";
    EXPECT_THAT(agent_command(job, "n1"), ElementsAre("rsh", "-n", "n1", "'/a b/it'\\''s'"));
}

TEST(ShellWord, is_quoted_only_where_it_must_be) {
    EXPECT_EQ(shell_quoted("/usr/bin/x-1.2"), "/usr/bin/x-1.2");
    EXPECT_EQ(shell_quoted(""), "''");
    for (char const* special : {"a b", "$x", "a;b", "~", "*", "`x`", "\"", "a\nb", "(", "!", "ä"})
        EXPECT_EQ(shell_quoted(special), "'" + std::string(special) + "'");
}

TEST(SilenceTimer, grows_while_this_process_polls_without_input) {
    SilenceTimer silence;
    SilenceTimer::Clock::time_point now{1h};
    for (int i = 0; i <= 10; ++i) silence.update(now + i * 200ms);
    EXPECT_EQ(silence.length(), 2s);
    silence.reset();
    EXPECT_EQ(silence.length(), 0s);
}

TEST(SilenceTimer, leaves_out_the_time_in_which_this_process_did_not_run) {
    SilenceTimer silence;
    SilenceTimer::Clock::time_point const now{1h};
    silence.update(now);
    silence.update(now + 1h);
    EXPECT_LT(silence.length(), 1s);
}

}   // namespace
}   // namespace tutti::launcher
