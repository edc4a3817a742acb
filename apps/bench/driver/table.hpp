// SPDX-License-Identifier: BSD-3-Clause
// Tables on the terminal, of growth and of comparisons, and CSV.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "results.hpp"
#include "rounds.hpp"

namespace bench {

/// A column of a table.
struct Column {
    std::string head;
    std::vector<std::string> cells;   ///< one per row, and one for the mean, which may be empty
    std::size_t least_width = 0;      ///< so that the layout does not depend on which algorithm is the best
    std::size_t width() const;
};

/// Returns a column with cell(row) for each row, or "-" where that is empty, and no mean.
template <class Rows, class Cell>
Column column_of(std::string const& head, Rows const& rows, Cell cell) {
    Column column{head, {}};
    for (auto const& row : rows) {
        const std::string text = cell(row);
        column.cells.push_back(text.empty() ? "-" : text);
    }
    column.cells.push_back("");
    return column;
}

std::string number(double value, char const* format = "%.2f");

/// Prints a table. Rows wider than `width` are continued in a second table, which begins with `first` again; 0: no
/// limit. Prints the means if there are any, over more than one row.
void print_columns(std::ostream& out, Column const& first, std::vector<Column> const& columns, std::size_t width);

/// Prints for each operation and size one row per number of ranks: for each series the time, its work and its slope,
/// of single calls and, if measured, of loops; the algorithm that ran, if the library reports it; the ratio of each
/// other series' time to the first one's; and the slope of p log p. Rows wider than `width` are continued in a second
/// table.
void print_growth(std::ostream& out, Growth const& growth, std::size_t width);

// Comparisons on the terminal.

/// Prints for each operation the medians of all series by size, of single calls and, if measured, in loops; and the
/// algorithm that ran if a series is not a particular one. Then the ratios of interest: each other MPI's time to the
/// first series' time, and that to the limit's, both of single calls and in loops; the default's to the best
/// algorithm's and to the best published one's, of single calls only; each series' to its model's; with `by_root`, for
/// each series the greatest root's median to the least one's; how much of the communication was hidden, if overlap was
/// measured; and the part of the phases between nodes, and the ideal time, if phases were timed. Operations
/// that a library lacks are named in a message. Rows wider than `width` are continued in a second table; 0: no limit,
/// except that a comparison of algorithms has at most 120 columns. If it is wider, the ratios are in a second table; if
/// the times alone are, the algorithms are rows.
void print_tables(std::ostream& out, Results const& results, bool by_root, std::size_t width);

/// Prints the lines of --csv, without their header.
void print_csv(std::ostream& out, Results const& results);

/// Prints for each operation, algorithm and size the bytes that all ranks load and store in one call: those that were
/// counted, and the value of the algorithm's formula, as tutti-info explains it. "-": not counted, or not stated.
/// `root`: that of the call whose bytes were counted.
void print_bytes(std::ostream& out, Results const& results, int root, TemporaryFolder const& folder);

/// Prints the origin and the description of each algorithm.
void print_legend(std::ostream& out, std::vector<Candidate> const& candidates);

}   // namespace bench
