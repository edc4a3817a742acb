// SPDX-License-Identifier: BSD-3-Clause
// Where in its source a running program is, from return addresses that it shows: outside of the program, which may be
// stopped, from what it has mapped and the debug information of these files. Its memory is not read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "launcher/source/loaded_file.hpp"

namespace tutti::launcher {

/// A place in a program. What is not known is empty or 0.
struct SourceLine {
    std::string function{};   ///< as one says it: "pass()", "step() of module mesh", "main program"; the innermost
                              ///< of those that the compiler has put into each other
    std::string file{};       ///< as the compiler was told
    int line = 0;
    std::string module{};       ///< the file that is mapped there, without its folder: "ring", "libsolve.so.2"
    std::uint64_t offset = 0;   ///< of the return address in the module

    bool compiled_with_g = false;   ///< or else -g when compiling would tell more; a line may still be missing, where
                                    ///< the compiler has made one call of several

    bool has_line() const { return line > 0; }
};

/// "ring.c:30 in pass()"; "in pass() of ring"; "in libsolve.so.2 (+0x123)"; empty.
std::string words(SourceLine const& line);

/// What has been looked up, by file and offset in it: of many processes that run the same program.
using KnownLines = std::map<std::pair<std::string, std::uint64_t>, SourceLine>;

class SourceLines {
public:
    /// Of what the process has mapped now. Without rights to see that, or when it is gone, every place is unknown.
    /// `known` is looked into first and added to; null: nothing is known.
    explicit SourceLines(pid_t pid, KnownLines* known = nullptr);
    /// Of one file, where a process has had it that may be gone.
    SourceLines(std::string file, std::uint64_t begin, std::uint64_t end);
    /// Of a process that may have ended, from the text of its /proc/PID/maps.
    explicit SourceLines(std::string const& maps);
    ~SourceLines();
    SourceLines(SourceLines const&) = delete;
    SourceLines& operator=(SourceLines const&) = delete;

    /// The call behind which the address lies. Never throws. The first address in a file takes time, up to a second for
    /// large debug information.
    SourceLine at(std::uint64_t return_address) noexcept;

private:
    struct Module;
    void read(std::vector<LoadedFile> files);

    pid_t pid_;
    KnownLines* known_ = nullptr;
    std::vector<std::unique_ptr<Module>> modules_;
};

}   // namespace tutti::launcher
