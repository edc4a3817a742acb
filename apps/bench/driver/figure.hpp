// SPDX-License-Identifier: BSD-3-Clause
// What the figures have in common: two panels with one axis below, curves told apart by colour, mark and dash, and
// gnuplot, which draws them: small, in every distribution, and its SVG keeps text as text and lines as lines.
#pragma once

#include "runs/process.hpp"

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace bench {

void check_plotter(); // throws Complaint where there is no gnuplot, before anything is measured

inline constexpr char pale[] = "#666666"; // what is no measurement of MPI's

// In gnuplot's words.
std::string colour_of(std::size_t number);
std::string style_of(std::size_t number);
std::string style_of_limit();
std::string quoted(const std::string &text);

std::string size_name(std::size_t bytes); // "4 KiB"

// The title above all, which begins the two panels.
void write_title(std::ostream &out, const std::string &title);

// The frames' common part, and the legend between title and upper frame; both axes are logarithmic, the lower one from
// `first` to `last`. Returns where the upper frame may begin.
double write_head(std::ostream &out, const std::vector<std::string> &titles, double first, double last);

// Marks on the lower axis: with names below the lower panel, without below the upper one.
void write_marks(std::ostream &out, const std::vector<std::pair<std::size_t, std::string>> &marks, bool named);

// The range of the upright axis, and names at 1, 2, 5, 10 ..., or at powers of ten only where these would be too many.
void write_range(std::ostream &out, double least, double greatest);

// Where the panels lie on the page.
void write_upper_frame(std::ostream &out, double top);
void write_lower_frame(std::ostream &out, const std::string &below);

// Has gnuplot draw what `write` writes as its script. Throws Complaint.
void draw_figure(const std::string &file, const TemporaryFolder &folder,
                 const std::function<void(std::ostream &)> &write);

} // namespace bench
