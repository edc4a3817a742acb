// SPDX-License-Identifier: BSD-3-Clause
#include "plot.hpp"

#include "../program/operations/operation.hpp"
#include "complaint.hpp"
#include "figure.hpp"
#include "merge.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

namespace bench {
namespace {

// Bands hold four calls out of five. Those from least to greatest would tell of the one call in a thousand that the
// system has kept waiting, and cover everything. More than four bands hide each other.
constexpr std::size_t most_bands = 4;

struct Line {
    const Series *series;
    std::string style; // of the line, in gnuplot's words
    std::string colour;
    std::string title; // the series; where it is no certain algorithm, with what ran
};

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
        const bool limit = is_limit(series);
        lines.push_back({&series, limit ? style_of_limit() : style_of(number), limit ? pale : colour_of(number),
                         title_of(series, operation)});
        number += !limit;
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
    write_upper_frame(out, top);
    out << "set ylabel 'time of a call (µs)' offset 1\nplot ";
    for (std::size_t i = 0; lines.size() <= most_bands && i < lines.size(); ++i)
        if (!is_limit(*lines[i].series))
            out << "$line" << i << " using 1:3:4 with filledcurves fs transparent solid 0.12 noborder lc rgb '"
                << lines[i].colour << "' notitle, ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        out << (i ? ", " : "") << "$line" << i << " using 1:2 with " << lines[i].style << " title "
            << quoted(lines[i].title);
    out << "\n";
}

// What the sizes are of; how a one-sided operation was measured has no room in the title.
std::string below(const Results &results, const std::string &operation)
{
    const Operation *const known = find_operation(operation);
    const bool one_sided = known && known->access == Access::call && !results.one_sided.empty();
    return "message size" + (one_sided ? "; " + results.one_sided : "");
}

void write_lower(std::ostream &out, const std::vector<Line> &lines, const std::string &below)
{
    write_lower_frame(out, below);
    out << "set ylabel " << quoted("time / " + lines[0].series->name) << " offset 1\nplot ";
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

void write_script(std::ostream &out, const Results &results, const std::string &operation)
{
    const auto lines = lines_of(results, operation);
    std::vector<std::string> titles;
    for (const Line &line : lines)
        titles.push_back(line.title);
    std::vector<std::pair<std::size_t, std::string>> sizes;
    for (std::size_t bytes : sizes_in(results, operation))
        sizes.push_back({bytes, size_name(bytes)});
    const auto times = range_of(lines, operation, [](auto &point) { return point.median; });
    const auto ratios = range_of(lines, operation, [&](auto &point) {
        const Point *first = find(*lines[0].series, operation, point.bytes);
        return first && first->median > 0 ? point.median / first->median : 0;
    });
    write_data(out, lines, operation);
    write_title(out, title_of(results, operation));
    const double top = write_head(out, titles, double(sizes.front().first), double(sizes.back().first));
    write_range(out, times.first / 2, times.second * 2);
    write_marks(out, sizes, false);
    write_upper(out, lines, top);
    out << "unset label\n";
    write_range(out, ratios.first / 1.3, ratios.second * 1.3);
    write_marks(out, sizes, true);
    write_lower(out, lines, below(results, operation));
}

std::string file_for(const std::string &file, const std::string &operation, bool alone)
{
    return alone ? file : file.substr(0, file.size() - 4) + "-" + operation + ".svg";
}

} // namespace

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
        draw_figure(drawn.back(), folder, [&](std::ostream &out) { write_script(out, results, operation); });
    }
    return drawn;
}

} // namespace bench
