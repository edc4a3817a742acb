// SPDX-License-Identifier: BSD-3-Clause
// The command that starts a daemon on another node: AGENT HOST COMMAND, as ssh takes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/base/words.hpp"

namespace tutti::launcher {

/// An ssh that never asks. It leaves it to the launchers to notice a dead line (TUTTI_SILENCE), whatever the user's
/// configuration says, and ends with its own words before TUTTI_START_TIMEOUT where a host does not answer.
inline constexpr char ssh_agent[] =
    "ssh -x -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=0 "
    "-o LogLevel=ERROR";

/// The agent's words; by default those of ssh_agent. Throws Complaint when `text`
/// (quoted as for a shell) is not closed.
std::vector<std::string> agent_words(std::string const& text);

/// The whole command for one host.
std::vector<std::string> agent_command(Job const& job, std::string const& host);

/// The folder of this program's file.
std::string program_folder();

}   // namespace tutti::launcher
