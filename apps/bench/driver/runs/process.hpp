// SPDX-License-Identifier: BSD-3-Clause
// Running another program to its end, or to the end of its time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

// A folder of this process' own, which goes with it.
class TemporaryFolder {
public:
    TemporaryFolder(); // throws Complaint
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    std::filesystem::path path() const { return path_; }

private:
    std::filesystem::path path_;
};

struct Command {
    std::vector<std::string> words;
    std::vector<std::string> environment; // "NAME=VALUE", over what this process has
    bool shown = false;                   // its output goes where this process' goes
};

struct Ending {
    int code = 0;       // 128 and the signal's number for a signal
    bool late = false;  // it was ended, with all that it had started
    std::string output, errors;
};

// Throws Complaint where the program cannot be started, or where the user interrupts: nothing is left running then.
Ending run(const Command &command, double seconds, const TemporaryFolder &folder);

// The program's path, looked for in PATH unless it has a slash; empty when there is none.
std::string find_in_path(const std::string &program);

// The folder of the running program.
std::filesystem::path own_folder();

std::string last_lines(const std::string &text, int lines);

} // namespace bench
