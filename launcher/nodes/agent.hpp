// SPDX-License-Identifier: BSD-3-Clause
// The command that starts a daemon on another node: AGENT HOST COMMAND, as ssh takes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/job.hpp"

namespace tutti::launcher {

/// The agent's words; by default those of an ssh that never asks and notices a dead line. Throws Complaint when `text`
/// (quoted as for a shell) is not closed.
std::vector<std::string> agent_words(std::string const& text);

/// A word as a remote shell must see it; unchanged when nothing in it is special.
std::string shell_word(std::string_view word);

/// The whole command for one host.
std::vector<std::string> agent_command(Job const& job, std::string const& host);

/// The folder of this program's file.
std::string program_folder();

}  // namespace tutti::launcher
