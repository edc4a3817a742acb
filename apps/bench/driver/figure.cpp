// SPDX-License-Identifier: BSD-3-Clause
// Draws figures with gnuplot, and those of time and ratio over size.
#include "figure.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <ostream>
#include <sstream>

#include "../program/operation.hpp"
#include "results.hpp"

namespace bench {
namespace {

/// Okabe and Ito's colours, which colour-blind readers can distinguish, without yellow, which is hardly visible on
/// white. Each series has its own mark as well, and the second seven have dashes, so that black-and-white prints
/// remain readable.
constexpr char const* colours[] = {"#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
constexpr int marks_of_curves[] = {7, 5, 9, 13, 11, 4, 6, 8, 12, 10, 1, 2, 3};

void write_start(std::ostream& out, std::string const& file) {
    out << "set encoding utf8\n"
        << "set terminal svg size 760,680 dynamic noenhanced background 'white' font 'Helvetica,15'\n"
        << "set output " << quoted(file) << "\n";
}

}   // namespace

void check_plotter() {
    if (find_in_path("gnuplot").empty())
        throw BenchError("--plot draws with gnuplot, which is not in PATH; Debian's package gnuplot-nox has it");
}

std::string colour_of(std::size_t number) { return colours[number % std::size(colours)]; }

std::string style_of(std::size_t number) {
    std::ostringstream style;
    style << "linespoints lw 2 ps 0.8 pt " << marks_of_curves[number % std::size(marks_of_curves)] << " dt "
          << (number < std::size(colours) ? "1" : "(10,3)") << " lc rgb '" << colour_of(number) << "'";
    return style.str();
}

std::string style_of_limit() { return std::string("lines lw 2 dt (6,4) lc rgb '") + pale + "'"; }

std::string quoted(std::string const& text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string figure_name(std::string const& file, std::string const& operation, std::size_t bytes) {
    return file.substr(0, file.size() - 4) + "-" + operation + (bytes ? "-" + std::to_string(bytes) : "") + ".svg";
}

std::string size_name(std::size_t bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

void write_title(std::ostream& out, std::string const& title) {
    out << "set multiplot\nset label " << quoted(title) << " at screen 0.545,0.975 center\n";
}

double write_head(std::ostream& out, std::vector<std::string> const& titles, double first, double last) {
    std::size_t longest = 0;
    for (auto& title : titles) longest = std::max(longest, title.size());
    // gnuplot's own estimate: it would not have room for more columns
    const std::size_t column_width = 9 * longest + 89;
    const std::size_t columns = std::clamp<std::size_t>(646 / column_width, 1, 5);
    const std::size_t rows = (titles.size() + columns - 1) / columns;
    double const below_title = 0.955, row = 0.032;
    out << "set logscale x 2\nset logscale y 10\nset grid xtics ytics lc rgb '#DDDDDD' lt 1\n"
        << "set lmargin at screen 0.12\nset rmargin at screen 0.97\n"
        << "set key at screen 0.12," << below_title << " left top horizontal Left reverse maxcols " << columns
        << " samplen 2.5\nset xrange [" << first / 1.2 << ":" << last * 1.2 << "]\n";
    return below_title - 0.012 - row * double(rows);
}

void write_marks(std::ostream& out, std::vector<std::pair<std::size_t, std::string>> const& marks, bool named) {
    const std::size_t step = (marks.size() + 9) / 10;
    out << "set xtics (";
    for (std::size_t i = 0; i < marks.size(); ++i)
        out << (i ? ", " : "") << quoted(!named || i % step ? "" : marks[i].second) << " " << marks[i].first << " "
            << (i % step != 0);
    out << ")\n";
}

void write_range(std::ostream& out, double least, double greatest) {
    bool const wide = greatest / least > 300;
    out << "set yrange [" << least << ":" << greatest << "]\nset ytics (";
    char const* comma = "";
    for (double ten = std::pow(10, std::floor(std::log10(least))); ten <= greatest; ten *= 10)
        for (double step : {1, 2, 5})
            if (step == 1 || !wide) {
                out << comma << ten * step;
                comma = ", ";
            }
    out << ")\n";
}

void write_upper_frame(std::ostream& out, double top) {
    out << "set tmargin at screen " << top << "\nset bmargin at screen 0.38\n";
}

void write_lower_frame(std::ostream& out, std::string const& below) {
    out << "unset title\nunset key\nset tmargin at screen 0.35\nset bmargin at screen 0.11\nset xlabel "
        << quoted(below) << "\n";
}

void draw_figure(std::string const& file, TemporaryFolder const& folder,
                 std::function<void(std::ostream&)> const& write) {
    const std::filesystem::path script = folder.path() / "plot.gnuplot";
    std::ofstream out(script);
    write_start(out, file);
    write(out);
    out << "unset multiplot\n";
    out.close();
    const ProcessResult result = run({{"gnuplot", script}, {}}, 60, folder);
    if (result.code != 0) throw BenchError("gnuplot could not draw " + file + ":\n" + last_lines(result.errors, 5));
}

namespace {

/// Bands contain four calls out of five. Bands from the least to the greatest time would show the one call in a
/// thousand that the system has delayed, and cover everything. More than four bands hide each other.
constexpr std::size_t max_bands = 4;

struct Line {
    Series const* series;
    std::string style;   ///< of the line, in gnuplot's syntax
    std::string colour;
    std::string title;   ///< the series; if it is not a particular algorithm, with the algorithm that ran
};

std::string title_of(Series const& series, std::string const& operation) {
    std::string ran;
    if (!is_algorithm(series))
        for (std::string const& algorithm : algorithms_in(series, operation))
            ran += (ran.empty() ? " (" : ", ") + algorithm;
    return series.name + ran + (ran.empty() ? "" : ")");
}

std::vector<Line> lines_of(Results const& results, std::string const& operation) {
    std::vector<Line> lines;
    std::size_t number = 0;
    for (Series const& series : results.series) {
        if (std::none_of(series.points.begin(), series.points.end(),
                         [&](auto& point) { return point.operation == operation; }))
            continue;
        bool const limit = is_limit(series);
        lines.push_back({&series, limit ? style_of_limit() : style_of(number), limit ? pale : colour_of(number),
                         title_of(series, operation)});
        number += !limit;
    }
    return lines;
}

/// Writes a data block per line: bytes, median, tenth and ninetieth percentile, median divided by the first series'.
void write_data(std::ostream& out, std::vector<Line> const& lines, std::string const& operation) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        out << "$line" << i << " << END\n";
        std::vector<Point> points;
        for (auto& point : lines[i].series->points)
            if (point.operation == operation) points.push_back(point);
        std::sort(points.begin(), points.end(), [](auto& a, auto& b) { return a.bytes < b.bytes; });
        for (auto& p : points) {
            Point const* first = find(*lines[0].series, operation, p.bytes);
            out << p.bytes << " " << p.median << " " << p.tenth << " " << p.ninetieth << " ";
            if (first && first->median > 0) out << p.median / first->median << "\n";
            else out << "NaN\n";
        }
        out << "END\n";
    }
}

/// Returns the least and the greatest positive value of `value_of` over the points.
template <class Value>
std::pair<double, double> range_of(std::vector<Line> const& lines, std::string const& operation, Value value_of) {
    double least = std::numeric_limits<double>::max(), greatest = 0;
    for (auto& line : lines)
        for (auto& point : line.series->points)
            if (double const value = point.operation == operation ? value_of(point) : 0; value > 0) {
                least = std::min(least, value);
                greatest = std::max(greatest, value);
            }
    return {least, greatest};
}

void write_upper(std::ostream& out, std::vector<Line> const& lines, double top) {
    write_upper_frame(out, top);
    out << "set ylabel 'time of a call (µs)' offset 1\nplot ";
    for (std::size_t i = 0; lines.size() <= max_bands && i < lines.size(); ++i)
        if (!is_limit(*lines[i].series))
            out << "$line" << i << " using 1:3:4 with filledcurves fs transparent solid 0.12 noborder lc rgb '"
                << lines[i].colour << "' notitle, ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        out << (i ? ", " : "") << "$line" << i << " using 1:2 with " << lines[i].style << " title "
            << quoted(lines[i].title);
    out << "\n";
}

/// Returns the label of the sizes, with the way in which a one-sided operation was measured, which does not fit the
/// title.
std::string below(Results const& results, std::string const& operation) {
    Operation const* const known = find_operation(operation);
    bool const one_sided = known && known->access == Access::call && !results.one_sided.empty();
    return "message size" + (one_sided ? "; " + results.one_sided : "");
}

void write_lower(std::ostream& out, std::vector<Line> const& lines, std::string const& below) {
    write_lower_frame(out, below);
    out << "set ylabel " << quoted("time / " + lines[0].series->name) << " offset 1\nplot ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        out << (i ? ", " : "") << "$line" << i << " using 1:5 with " << lines[i].style << " notitle";
    out << "\n";
}

std::string title_of(Results const& results, std::string const& operation) {
    return operation + ", " + std::to_string(results.ranks) + " ranks" +
           (results.processor.empty() ? "" : ", " + results.processor) +
           (results.cached ? ", buffers left unchanged" : "");
}

void write_script(std::ostream& out, Results const& results, std::string const& operation) {
    auto const lines = lines_of(results, operation);
    std::vector<std::string> titles;
    for (Line const& line : lines) titles.push_back(line.title);
    std::vector<std::pair<std::size_t, std::string>> sizes;
    for (std::size_t bytes : sizes_in(results, operation)) sizes.push_back({bytes, size_name(bytes)});
    auto const times = range_of(lines, operation, [](auto& point) { return point.median; });
    auto const ratios = range_of(lines, operation, [&](auto& point) {
        const Point* first = find(*lines[0].series, operation, point.bytes);
        return first && first->median > 0 ? point.median / first->median : 0;
    });
    write_data(out, lines, operation);
    write_title(out, title_of(results, operation));
    double const top = write_head(out, titles, double(sizes.front().first), double(sizes.back().first));
    write_range(out, times.first / 2, times.second * 2);
    write_marks(out, sizes, false);
    write_upper(out, lines, top);
    out << "unset label\n";
    write_range(out, ratios.first / 1.3, ratios.second * 1.3);
    write_marks(out, sizes, true);
    write_lower(out, lines, below(results, operation));
}

std::string file_for(std::string const& file, std::string const& operation, bool alone) {
    return alone ? file : figure_name(file, operation, 0);
}

}   // namespace

std::vector<std::string> plot(Results const& results, std::string const& file, TemporaryFolder const& folder) {
    std::vector<std::string> drawn, operations;
    for (std::string const& operation : operations_in(results))
        if (sizes_in(results, operation).size() > 1) operations.push_back(operation);
    if (operations.empty()) throw BenchError("there is nothing to draw: a curve needs more than one size");
    for (std::string const& operation : operations) {
        drawn.push_back(file_for(file, operation, operations.size() == 1));
        draw_figure(drawn.back(), folder, [&](std::ostream& out) { write_script(out, results, operation); });
    }
    return drawn;
}

}   // namespace bench
