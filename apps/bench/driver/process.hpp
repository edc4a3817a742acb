// SPDX-License-Identifier: BSD-3-Clause
// Runs other programs, with a time limit.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// A folder of this process, removed with the object.
class TemporaryFolder {
public:
    TemporaryFolder();   ///< throws BenchError
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;
    std::filesystem::path path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Holds SIGPIPE back, so that this process can remove its folder: if the reader of the output ends, as in
/// `tutti-bench … | head`, run() is interrupted, and the destructor ends the process by that signal.
class HeldPipeSignal {
public:
    HeldPipeSignal();
    ~HeldPipeSignal();
    HeldPipeSignal(HeldPipeSignal const&) = delete;
    HeldPipeSignal& operator=(HeldPipeSignal const&) = delete;
};

struct Command {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;   ///< "NAME=VALUE", added to the environment of this process
    bool inherit_output = false;            ///< its output goes to that of this process
};

struct ProcessResult {
    int code = 0;             ///< exit code, or 128 plus the number of the signal
    bool timed_out = false;   ///< it exceeded its time and was killed with all its descendants
    std::string output, errors;
};

/// Runs a command and waits for its end. Throws BenchError if the program cannot be started or the user interrupts;
/// then no process is left running. Calls `each_second` meanwhile.
ProcessResult run(
    Command const& command, double seconds, TemporaryFolder const& folder,
    std::function<void()> const& each_second = [] {});

/// Returns the number of lines that the running command has printed, if its output is not inherited.
int lines_printed(TemporaryFolder const& folder);

/// Returns the program's path, searched in PATH unless it contains a slash; empty if it is not found.
std::string find_in_path(std::string const& program);

/// Returns the folder of the running program.
std::filesystem::path own_folder();

std::string last_lines(std::string const& text, int lines);

}   // namespace bench
