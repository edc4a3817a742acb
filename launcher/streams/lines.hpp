// SPDX-License-Identifier: BSD-3-Clause
// Bytes in, whole lines out: what keeps the output of ranks unmixed. Nothing is added but the prefix, so binary output
// passes unharmed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::launcher {

/// What each line begins with.
struct LinePrefix {
    std::string text;
    bool time = false;   ///< in front of it the date and time of now

    bool empty() const { return text.empty() && !time; }
    std::string now() const;
};

class LineCutter {
public:
    /// A line longer than `limit` is passed on in pieces: memory stays bounded.
    explicit LineCutter(LinePrefix prefix = {}, std::size_t limit = 1 << 20)
        : prefix_(std::move(prefix)), limit_(limit) {}

    /// Appends to `out` the lines that `bytes` complete, each behind its prefix.
    void add(std::string_view bytes, std::string& out);

    /// Appends what has not been ended by a newline. With a prefix the newline is added, else the next rank's prefix
    /// would stand in the middle of a line.
    void finish(std::string& out);

    /// Appends the unfinished line as it is now; what follows continues it.
    void show_unfinished(std::string& out);

    bool has_unfinished() const { return !kept_.empty(); }

private:
    void put(std::string_view piece, std::string& out);

    LinePrefix prefix_;
    std::string kept_;
    std::size_t limit_;
    bool in_line_ = false;   // a piece of the current line is already out
};

}   // namespace tutti::launcher
