// SPDX-License-Identifier: BSD-3-Clause
// Text for the launcher's programs: printing, tables, sizes and times, files named by the user, shell quoting, lists of
// ranks, and name patterns.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "apps/output_file.hpp"

namespace tutti::launcher {

/// Writes `text` to standard output and flushes it. Returns the exit code of the program: 0, or 1 after reporting that
/// the text could not be written (for example to a full disk).
inline int print(char const* program, std::string const& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "%s: standard output cannot be written: %s.\n", program, std::strerror(errno));
    return 1;
}

// Text in columns; sizes and times.

/// A table with one line of titles.
class Table {
public:
    /// The first `left` columns are left-aligned, the others right-aligned. Each column is as wide as its longest cell.
    Table(std::vector<std::string> titles, std::size_t left) : left_columns_(left), rows_{std::move(titles)} {}

    /// `cells` must have as many elements as there are titles.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Every line begins with two blanks and has no trailing blanks.
    std::string text() const;

private:
    std::size_t left_columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Returns for example "0", "512 B", "1.5 KiB", "3.0 GiB"
std::string format_size(std::uint64_t bytes);
/// Returns for example "0", "512 ns", "1.5 us", "3.0 ms", "125.0 s"
std::string format_time(std::uint64_t nanoseconds);

// Shell quoting, lists of ranks, and patterns that contain a rank number.

/// Returns the arguments in the text of a -configfile: one program per line, # begins a comment, quotes as in a shell.
/// Programs are separated by ":". Throws LaunchError, which begins with `source`, if a quote is not closed.
std::vector<std::string> parse_config_arguments(std::string_view text, std::string_view source);

/// Returns the text of a file named by the user. Throws LaunchError with `what` ("the host file "), the file name and
/// the reason if the file cannot be read.
std::string read_user_file(std::string_view what, std::string const& file);

/// Checks before the start of a job that its results can be written to `file`, which the user has named by `option`
/// ("--report"). Throws LaunchError if the file cannot be written, or if it exists and is no earlier output.
void check_output_file(std::string const& option, std::string const& file, apps::IsEarlier const& is_earlier);

/// Returns `word` quoted for a remote shell; unchanged if it has no special characters.
std::string shell_quoted(std::string_view word);

/// Returns for example "rank 3", "ranks 0-255", "ranks 0,2-4". `ranks` may be in any order, with repetitions.
std::string rank_ranges(std::vector<int> ranks);

/// Expands a pattern for file names or line prefixes for one rank. %r: rank, %h: host, %t: time in seconds since 1970,
/// %g and %p: 0 (MPICH's process group and proxy), %%: a per cent sign; other characters are copied.
std::string expand_pattern(std::string const& pattern, int rank, std::string const& host);

}   // namespace tutti::launcher
