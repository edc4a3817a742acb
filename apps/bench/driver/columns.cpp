// SPDX-License-Identifier: BSD-3-Clause
#include "columns.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace bench {
namespace {

void print_block(std::ostream &out, const std::vector<const Column *> &columns)
{
    auto line = [&](auto text_of) {
        std::string text;
        for (const Column *column : columns) {
            const std::string cell = text_of(*column);
            text += std::string(text.empty() ? 0 : 2, ' ') + std::string(column->width() - cell.size(), ' ') + cell;
        }
        out << text.substr(0, text.find_last_not_of(' ') + 1) << "\n";
    };
    line([](const Column &c) { return c.head; });
    const std::size_t mean = columns[0]->cells.size() - 1;
    for (std::size_t row = 0; row < mean; ++row)
        line([row](const Column &c) { return c.cells[row]; });
    auto has_mean = [&](const Column *column) { return !column->cells[mean].empty(); };
    const bool means = std::any_of(columns.begin() + 1, columns.end(), has_mean);
    if (means && mean > 1)
        line([mean](const Column &c) { return c.cells[mean]; });
    out << "\n";
}

} // namespace

std::size_t Column::width() const
{
    std::size_t most = head.size();
    for (auto &cell : cells)
        most = std::max(most, cell.size());
    return most;
}

std::string number(double value, const char *format)
{
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

void print_columns(std::ostream &out, const Column &first, const std::vector<Column> &columns, std::size_t width)
{
    std::vector<const Column *> block{&first};
    std::size_t used = first.width();
    for (const Column &column : columns) {
        if (width && used + 2 + column.width() > width && block.size() > 1) {
            print_block(out, block);
            block = {&first};
            used = first.width();
        }
        block.push_back(&column);
        used += 2 + column.width();
    }
    print_block(out, block);
}

} // namespace bench
