// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/nodes/link.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;

TEST(Agent, has_words_as_a_shell_would_read_them) {
    EXPECT_THAT(agent_words("rsh -n 'a b' c\\ d"), ElementsAre("rsh", "-n", "a b", "c d"));
    EXPECT_THROW(agent_words("   "), Complaint);
    EXPECT_THROW(agent_words("rsh 'x"), Complaint);
}

TEST(Agent, is_an_ssh_that_never_asks) {
    std::vector<std::string> const words = agent_words("");
    EXPECT_EQ(words.at(0), "ssh");
    EXPECT_THAT(words, Contains("BatchMode=yes"));
}

TEST(Agent, gets_the_host_and_the_daemon_beside_this_program) {
    Job job;
    job.agent = "rsh -n";
    EXPECT_THAT(agent_command(job, "n1"),
                ElementsAre("rsh", "-n", "n1", shell_word(program_folder() + "/tutti-daemon")));
    job.daemon = "/a b/it's";
    EXPECT_THAT(agent_command(job, "n1"), ElementsAre("rsh", "-n", "n1", "'/a b/it'\\''s'"));
}

TEST(ShellWord, is_quoted_only_where_it_must_be) {
    EXPECT_EQ(shell_word("/usr/bin/x-1.2"), "/usr/bin/x-1.2");
    EXPECT_EQ(shell_word(""), "''");
    for (char const* special : {"a b", "$x", "a;b", "~", "*", "`x`", "\"", "a\nb", "(", "!", "ä"})
        EXPECT_EQ(shell_word(special), "'" + std::string(special) + "'");
}

TEST(Silence, grows_while_this_process_looks_and_nothing_comes) {
    Silence silence;
    Silence::Clock::time_point now{1h};
    for (int i = 0; i <= 10; ++i) silence.look(now + i * 200ms);
    EXPECT_EQ(silence.length(), 2s);
    silence.heard();
    EXPECT_EQ(silence.length(), 0s);
}

TEST(Silence, leaves_out_the_time_in_which_this_process_did_not_run) {
    Silence silence;
    Silence::Clock::time_point const now{1h};
    silence.look(now);
    silence.look(now + 1h);
    EXPECT_LT(silence.length(), 1s);
}

}   // namespace
}   // namespace tutti::launcher
