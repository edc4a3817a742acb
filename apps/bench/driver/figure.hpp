// SPDX-License-Identifier: BSD-3-Clause
// The figures. All have two panels with a common x axis, curves distinguished by colour, mark and dash, and are drawn
// by gnuplot: it is small, part of every distribution, and its SVG keeps text as text and lines as lines.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "process.hpp"
#include "results.hpp"

namespace bench {

void check_plotter();   ///< throws BenchError if there is no gnuplot; called before anything is measured

inline constexpr char pale[] = "#666666";   ///< for curves that are not measurements of MPI

/// Styles in gnuplot's syntax.
std::string colour_of(std::size_t number);
std::string style_of(std::size_t number);
std::string style_of_limit();
std::string quoted(std::string const& text);

std::string size_name(std::size_t bytes);   ///< "4 KiB"

/// Writes the title above both panels, and begins them.
void write_title(std::ostream& out, std::string const& title);

/// Writes what is common to both frames, and the legend between the title and the upper frame. Both axes are
/// logarithmic; the x axis extends from `first` to `last`. Returns the y coordinate at which the upper frame may
/// begin.
double write_head(std::ostream& out, std::vector<std::string> const& titles, double first, double last);

/// Writes the marks of the x axis, with their names for the lower panel (`named`), without them for the upper one.
void write_marks(std::ostream& out, std::vector<std::pair<std::size_t, std::string>> const& marks, bool named);

/// Writes the range of the y axis, with names at 1, 2, 5, 10 ..., or only at powers of ten if these would be too many.
void write_range(std::ostream& out, double least, double greatest);

/// Writes the positions of the panels on the page.
void write_upper_frame(std::ostream& out, double top);
void write_lower_frame(std::ostream& out, std::string const& below);

inline std::vector<std::string> const figure_beginnings = {"<?xml", "<svg"};   ///< of the files, without blanks

/// Returns the name of the file that shows one operation, at one size unless that is 0, if there are several files.
std::string figure_name(std::string const& file, std::string const& operation, std::size_t bytes);

/// Runs gnuplot on the script that `write` writes. Throws BenchError.
void draw_figure(std::string const& file, TemporaryFolder const& folder,
                 std::function<void(std::ostream&)> const& write);

// Figures of time and work over the number of ranks, as SVG.

/// Draws one file with a curve for each operation and size if nothing is compared; otherwise one file for each
/// operation and size, with a curve for each series. Uses the times of loops if loops were measured. Beside each
/// operation, or the first series, draws a line proportional to p log p, from the first number of ranks that share
/// cores. Returns the names of the files. Throws BenchError.
std::vector<std::string> plot_growth(Growth const& growth, std::string const& file, TemporaryFolder const& folder);

// Figures of time and ratio over size, as SVG.

/// Draws one file for each operation with more than one size; returns the names of the files. Throws BenchError.
std::vector<std::string> plot(Results const& results, std::string const& file, TemporaryFolder const& folder);

}   // namespace bench
