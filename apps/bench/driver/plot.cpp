// SPDX-License-Identifier: BSD-3-Clause
#include "plot.hpp"

#include "complaint.hpp"
#include "merge.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace bench {
namespace {

// Okabe and Ito's colours, which colour-blind readers tell apart; without yellow, which white paper swallows. Each
// series has its own mark as well, and the second seven have dashes: the figure survives a black-and-white printer.
constexpr const char *colours[] = {"#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
constexpr int marks[] = {7, 5, 9, 13, 11, 4, 6, 8, 12, 10, 1, 2, 3};
// Bands hold four calls out of five. Those from least to greatest would tell of the one call in a thousand that the
// system has kept waiting, and cover everything. More than four bands hide each other.
constexpr std::size_t most_bands = 4;

struct Line {
    const Series *series;
    std::string style; // of the line, in gnuplot's words
    std::string colour;
    std::string title; // the series; where it is no certain algorithm, with what ran
};

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

std::string size_name(std::size_t bytes)
{
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
        return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
        return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

std::string title_of(const Series &series, const std::string &operation)
{
    std::string ran;
    if (!is_algorithm(series))
        for (const std::string &algorithm : algorithms_in(series, operation))
            ran += (ran.empty() ? " (" : ", ") + algorithm;
    return series.name + ran + (ran.empty() ? "" : ")");
}

std::vector<Line> lines_of(const Results &results, const std::string &operation)
{
    std::vector<Line> lines;
    std::size_t number = 0;
    for (const Series &series : results.series) {
        if (std::none_of(series.points.begin(), series.points.end(),
                         [&](auto &point) { return point.operation == operation; }))
            continue;
        std::ostringstream style;
        std::string colour = "#666666";
        if (is_limit(series)) {
            style << "lines lw 2 dt (6,4) lc rgb '" << colour << "'";
        } else {
            colour = colours[number % std::size(colours)];
            style << "linespoints lw 2 ps 0.8 pt " << marks[number % std::size(marks)] << " dt "
                  << (number < std::size(colours) ? "1" : "(10,3)") << " lc rgb '" << colour << "'";
            ++number;
        }
        lines.push_back({&series, style.str(), colour, title_of(series, operation)});
    }
    return lines;
}

// A block of data for each line: bytes, median, tenth and ninetieth percentile, median divided by the first series'.
void write_data(std::ostream &out, const std::vector<Line> &lines, const std::string &operation)
{
    for (std::size_t i = 0; i < lines.size(); ++i) {
        out << "$line" << i << " << END\n";
        std::vector<Point> points;
        for (auto &point : lines[i].series->points)
            if (point.operation == operation)
                points.push_back(point);
        std::sort(points.begin(), points.end(), [](auto &a, auto &b) { return a.bytes < b.bytes; });
        for (auto &p : points) {
            const Point *first = find(*lines[0].series, operation, p.bytes);
            out << p.bytes << " " << p.median << " " << p.tenth << " " << p.ninetieth << " ";
            if (first && first->median > 0)
                out << p.median / first->median << "\n";
            else
                out << "NaN\n";
        }
        out << "END\n";
    }
}

// With names below the lower panel, without below the upper one.
void write_size_marks(std::ostream &out, const std::vector<std::size_t> &sizes, bool named)
{
    const std::size_t step = (sizes.size() + 9) / 10;
    out << "set xtics (";
    for (std::size_t i = 0; i < sizes.size(); ++i)
        out << (i ? ", " : "") << quoted(!named || i % step ? "" : size_name(sizes[i])) << " " << sizes[i] << " "
            << (i % step != 0);
    out << ")\n";
}

// The range of the axis, and names at 1, 2, 5, 10 ..., or at powers of ten only where these would be too many.
void write_range(std::ostream &out, double least, double greatest)
{
    const bool wide = greatest / least > 300;
    out << "set yrange [" << least << ":" << greatest << "]\nset ytics (";
    const char *comma = "";
    for (double ten = std::pow(10, std::floor(std::log10(least))); ten <= greatest; ten *= 10)
        for (double step : {1, 2, 5})
            if (step == 1 || !wide) {
                out << comma << ten * step;
                comma = ", ";
            }
    out << ")\n";
}

// Least and greatest of what `value_of` makes of the points.
template <class Value>
std::pair<double, double> range_of(const std::vector<Line> &lines, const std::string &operation, Value value_of)
{
    double least = std::numeric_limits<double>::max(), greatest = 0;
    for (auto &line : lines)
        for (auto &point : line.series->points)
            if (const double value = point.operation == operation ? value_of(point) : 0; value > 0) {
                least = std::min(least, value);
                greatest = std::max(greatest, value);
            }
    return {least, greatest};
}

void write_upper(std::ostream &out, const std::vector<Line> &lines, double top)
{
    out << "set tmargin at screen " << top << "\nset bmargin at screen 0.38\n"
        << "set ylabel 'time of a call (µs)' offset 1\nplot ";
    for (std::size_t i = 0; lines.size() <= most_bands && i < lines.size(); ++i)
        if (!is_limit(*lines[i].series))
            out << "$line" << i << " using 1:3:4 with filledcurves fs transparent solid 0.12 noborder lc rgb '"
                << lines[i].colour << "' notitle, ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        out << (i ? ", " : "") << "$line" << i << " using 1:2 with " << lines[i].style << " title "
            << quoted(lines[i].title);
    out << "\n";
}

void write_lower(std::ostream &out, const std::vector<Line> &lines)
{
    out << "unset title\nunset key\nset tmargin at screen 0.35\nset bmargin at screen 0.11\n"
        << "set ylabel " << quoted("time / " + lines[0].series->name) << " offset 1\nset xlabel 'message size'\nplot ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        out << (i ? ", " : "") << "$line" << i << " using 1:5 with " << lines[i].style << " notitle";
    out << "\n";
}

std::string title_of(const Results &results, const std::string &operation)
{
    return operation + ", " + std::to_string(results.ranks) + " ranks" +
           (results.processor.empty() ? "" : ", " + results.processor) +
           (results.cached ? ", buffers left as they are" : "");
}

// The frames' common part, and the legend between title and upper frame. Returns where that frame may begin.
double write_head(std::ostream &out, const std::vector<Line> &lines, const std::vector<std::size_t> &sizes)
{
    std::size_t longest = 0;
    for (auto &line : lines)
        longest = std::max(longest, line.title.size());
    const std::size_t column_width = 9 * longest + 89; // as gnuplot guesses it: more columns would not get the room
    const std::size_t columns = std::clamp<std::size_t>(646 / column_width, 1, 5);
    const std::size_t rows = (lines.size() + columns - 1) / columns;
    const double below_title = 0.955, row = 0.032;
    out << "set logscale x 2\nset logscale y 10\nset grid xtics ytics lc rgb '#DDDDDD' lt 1\n"
        << "set lmargin at screen 0.12\nset rmargin at screen 0.97\n"
        << "set key at screen 0.12," << below_title << " left top horizontal Left reverse maxcols " << columns
        << " samplen 2.5\nset xrange [" << double(sizes.front()) / 1.2 << ":" << double(sizes.back()) * 1.2 << "]\n";
    return below_title - 0.012 - row * double(rows);
}

void write_script(std::ostream &out, const Results &results, const std::string &operation, const std::string &file)
{
    const auto lines = lines_of(results, operation);
    const auto sizes = sizes_in(results, operation);
    const auto times = range_of(lines, operation, [](auto &point) { return point.median; });
    const auto ratios = range_of(lines, operation, [&](auto &point) {
        const Point *first = find(*lines[0].series, operation, point.bytes);
        return first && first->median > 0 ? point.median / first->median : 0;
    });
    out << "set encoding utf8\n"
        << "set terminal svg size 760,680 dynamic noenhanced background 'white' font 'Helvetica,15'\n"
        << "set output " << quoted(file) << "\n";
    write_data(out, lines, operation);
    out << "set multiplot\nset label " << quoted(title_of(results, operation)) << " at screen 0.545,0.975 center\n";
    const double top = write_head(out, lines, sizes);
    write_range(out, times.first / 2, times.second * 2);
    write_size_marks(out, sizes, false);
    write_upper(out, lines, top);
    out << "unset label\n";
    write_range(out, ratios.first / 1.3, ratios.second * 1.3);
    write_size_marks(out, sizes, true);
    write_lower(out, lines);
    out << "unset multiplot\n";
}

std::string file_for(const std::string &file, const std::string &operation, bool alone)
{
    return alone ? file : file.substr(0, file.size() - 4) + "-" + operation + ".svg";
}

} // namespace

void check_plotter()
{
    if (find_in_path("gnuplot").empty())
        throw Complaint("--plot draws with gnuplot, which is not in PATH; Debian's package gnuplot-nox has it");
}

std::vector<std::string> plot(const Results &results, const std::string &file, const TemporaryFolder &folder)
{
    std::vector<std::string> drawn, operations;
    for (const std::string &operation : operations_in(results))
        if (sizes_in(results, operation).size() > 1)
            operations.push_back(operation);
    if (operations.empty())
        throw Complaint("there is nothing to draw: a curve needs more than one size");
    for (const std::string &operation : operations) {
        drawn.push_back(file_for(file, operation, operations.size() == 1));
        const std::filesystem::path script = folder.path() / "plot.gnuplot";
        std::ofstream out(script);
        write_script(out, results, operation, drawn.back());
        out.close();
        const Ending ending = run({{"gnuplot", script}, {}}, 60, folder);
        if (ending.code != 0)
            throw Complaint("gnuplot could not draw " + drawn.back() + ":\n" + last_lines(ending.errors, 5));
    }
    return drawn;
}

} // namespace bench
