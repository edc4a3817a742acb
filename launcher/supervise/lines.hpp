// SPDX-License-Identifier: BSD-3-Clause
// Splits a stream of bytes into whole lines, which keeps the output of ranks unmixed. Only the prefix is added, so
// binary output is not changed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::launcher {

/// The text at the beginning of each line.
struct LinePrefix {
    std::string text;
    bool time = false;   ///< put the current date and time before the text

    bool empty() const { return text.empty() && !time; }
    /// Returns the prefix, with the current local time if `time` is set.
    std::string now() const;
};

class LineSplitter {
public:
    /// A line longer than `limit` is passed on in pieces, which bounds memory.
    explicit LineSplitter(LinePrefix prefix = {}, std::size_t limit = 1 << 20)
        : prefix_(std::move(prefix)), limit_(limit) {}

    /// Appends to `out` the lines that `bytes` completes, each with its prefix.
    void add(std::string_view bytes, std::string& out);

    /// Appends the line that has not been ended by a newline. With a prefix a newline is added; otherwise the prefix of
    /// the next rank would appear in the middle of a line.
    void finish(std::string& out);

    /// Appends the unfinished line as it is now; later bytes continue it.
    void show_unfinished(std::string& out);

    bool has_unfinished() const { return !unfinished_.empty(); }

private:
    void append_lines(std::string_view piece, std::string& out);

    LinePrefix prefix_;
    std::string unfinished_;
    std::size_t limit_;
    bool in_line_ = false;   // a piece of the current line has been written
};

}   // namespace tutti::launcher
