// SPDX-License-Identifier: BSD-3-Clause
// Tables of columns, as wide as the screen allows.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

struct Column {
    std::string head;
    std::vector<std::string> cells; // one for each line, and one for the mean, which may be empty
    std::size_t width() const;
};

std::string number(double value, const char *format = "%.2f");

// Lines wider than `width` are continued in a second table, which begins with `first` again; 0 is as wide as need be.
// The means are printed where there are any, and more than one line that they are of.
void print_columns(std::ostream &out, const Column &first, const std::vector<Column> &columns, std::size_t width);

} // namespace bench
