// SPDX-License-Identifier: BSD-3-Clause
// Text in columns, and words for sizes and times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::launcher {

class Table {
public:
    /// The first `left` columns are flush left, the others flush right; each is as wide as what is in it.
    Table(std::vector<std::string> titles, std::size_t left) : left_(left), rows_{std::move(titles)} {}

    /// As many cells as there are titles.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Every line begins with two blanks and ends without any.
    std::string text() const;

private:
    std::size_t left_;
    std::vector<std::vector<std::string>> rows_;
};

/// "0", "512 B", "1.5 KiB", "3.0 GiB"
std::string size_words(std::uint64_t bytes);
/// "0", "512 ns", "1.5 us", "3.0 ms", "125.0 s"
std::string time_words(std::uint64_t nanoseconds);

}   // namespace tutti::launcher
