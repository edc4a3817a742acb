// SPDX-License-Identifier: BSD-3-Clause
// Commands: of agents that start daemons on other nodes, of programs, and of terminal windows around ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/base/text.hpp"
#include "launcher/start/spawn.hpp"

namespace tutti::launcher {

/// The default agent, an ssh that never prompts. It leaves the detection of dead connections to the launchers
/// (TUTTI_SILENCE), whatever the user's configuration says, and fails with its own message before TUTTI_START_TIMEOUT
/// if a host does not answer.
inline constexpr char ssh_agent[] =
    "ssh -x -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=0 "
    "-o LogLevel=ERROR";

/// Splits an agent's command into arguments; an empty text means ssh_agent. Throws LaunchError, which names `source`,
/// if a quotation in `text` (quoted as for a shell) is not closed.
std::vector<std::string> split_agent_command(std::string const& text, std::string_view source = "--launcher-agent");

/// Returns the whole command for one host: AGENT HOST COMMAND, in the form that ssh takes.
std::vector<std::string> agent_command(Job const& job, std::string const& host);

/// Runs a program under gdb without a window and prints the stacks if it crashes. The exit code is that of the program.
inline constexpr char gdb_without_windows[] =
    "gdb -batch -return-child-result -ex run -ex 'thread apply all bt' --args";

// Finds the program of a rank, so that a wrong name is reported once, before anything is started.

/// Returns the path to execute: `name` itself if it contains a slash (relative to `folder`); otherwise the first
/// executable in `path` (in the form of PATH); otherwise, as under Open MPI, an executable of that name in `folder`,
/// and then sets `*in_folder` unless it is null. A relative result is relative to `folder`. Throws LaunchError with
/// exit code 127 or 126; the message says how to start a script with this number of ranks, or to compile a source.
std::string find_program(std::string const& name, std::string const& folder, std::string const& path,
                         bool* in_folder = nullptr, int ranks = 1);

/// True for a text that is no source file of another language: the shell may execute it.
bool may_be_shell_script(std::string const& file);

/// Converts `file`, which is relative to `folder`, to a path relative to the current folder; `folder` may be empty.
std::string path_in(std::string const& folder, std::string const& file);

/// Ranks in terminal windows of their own (--xterm), with or without a debugger (-gdb).
class TerminalWindows {
public:
    /// `ranks`: those of this node. `job` must stay valid as long as this object. Throws LaunchError if a rank requires
    /// a window and none is possible.
    TerminalWindows(Job const& job, std::vector<int> const& ranks, std::string const& search_path);

    /// Replaces the command of a rank that has a window by xterm with the rank's program in it.
    void wrap_command(SpawnOptions& start, int rank, std::string const& host) const;

private:
    bool has_window(int rank) const;

    Job const& job_;
    std::string xterm_, gdb_;   ///< paths; empty if not needed
};

}   // namespace tutti::launcher
