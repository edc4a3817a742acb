// SPDX-License-Identifier: BSD-3-Clause
#include "plot.hpp"

#include "../complaint.hpp"
#include "../figure.hpp"
#include "../merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

namespace bench {
namespace {

struct GrowthLine {
    Curve curve;
    std::string title, style;
    bool with_reference; // the line that grows like p log p runs through it
};

struct Figure {
    std::string file, title;
    std::vector<GrowthLine> lines;
};

bool loops_in(const Growth &growth) { return growth.runs[0].loop; }

std::vector<Curve> drawn_curves(const Growth &growth, const std::string &operation, std::size_t bytes)
{
    auto curves = curves_of(growth, operation, bytes, loops_in(growth) ? &Point::loop : &Point::median);
    std::erase_if(curves, [](const Curve &curve) { return curve.steps.size() < 2; });
    return curves;
}

std::string name_of(const std::string &operation, std::size_t bytes)
{
    return operation + (bytes ? " " + size_name(bytes) : "");
}

std::string tail_of_title(const Growth &growth)
{
    const Results &first = growth.runs[0];
    return (first.processor.empty() ? "" : ", " + first.processor) +
           (first.cached ? ", buffers left as they are" : "");
}

// One operation's at one size, with a curve for each series.
Figure figure_of(const std::string &operation, std::size_t bytes, const std::vector<Curve> &curves,
                 const std::string &file)
{
    Figure figure{file.substr(0, file.size() - 4) + "-" + operation + (bytes ? "-" + std::to_string(bytes) : "") +
                      ".svg",
                  name_of(operation, bytes) + ", ",
                  {}};
    std::size_t number = 0;
    for (const Curve &curve : curves) {
        const bool limit = curve.name == limit_name;
        figure.lines.push_back({curve, curves.size() > 1 ? curve.name : name_of(operation, bytes),
                                limit ? style_of_limit() : style_of(number), figure.lines.empty()});
        number += !limit;
    }
    return figure;
}

// Of figures with a curve each.
Figure together(const std::vector<Figure> &figures, const std::string &file)
{
    Figure all{file, "", {}};
    for (const Figure &figure : figures) {
        all.lines.push_back(figure.lines[0]);
        all.lines.back().style = style_of(all.lines.size() - 1);
    }
    return all;
}

// A figure for each operation and size, or one for all that were measured in one way only.
std::vector<Figure> figures_of(const Growth &growth, const std::string &file)
{
    std::vector<Figure> figures;
    bool compared = false;
    for (const std::string &operation : operations_in(growth))
        for (std::size_t bytes : sizes_in(growth, operation)) {
            const auto curves = drawn_curves(growth, operation, bytes);
            if (!curves.empty())
                figures.push_back(figure_of(operation, bytes, curves, file));
            compared |= curves.size() > 1;
        }
    if (!compared && figures.size() > 1)
        figures = {together(figures, file)};
    if (figures.size() == 1)
        figures[0].file = file;
    for (Figure &figure : figures)
        figure.title += std::to_string(growth.runs[0].ranks) + " to " + std::to_string(growth.runs.back().ranks) +
                        " ranks on " + std::to_string(growth.cores) + (growth.cores == 1 ? " core" : " cores") +
                        tail_of_title(growth);
    return figures;
}

// Where the line that grows like p log p begins: at the first number of ranks that share cores, for what a call costs
// where ranks have to wait for a core is another matter; where fewer than two numbers do, at the first one. Null where
// there is none.
const Step *anchor_of(const Curve &curve, int cores)
{
    const int most = curve.steps.back().ranks;
    for (const Step &step : curve.steps)
        if (step.ranks >= 2 && step.ranks < most && step.ranks > cores)
            return &step;
    for (const Step &step : curve.steps)
        if (step.ranks >= 2)
            return &step;
    return nullptr;
}

double p_log_p(int ranks) { return ranks * std::log2(ranks); }

// A block of data for each curve: ranks, time, work; and one for each reference.
void write_data(std::ostream &out, const Growth &growth, const std::vector<GrowthLine> &lines)
{
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Curve &curve = lines[i].curve;
        out << "$line" << i << " << END\n";
        for (const Step &step : curve.steps)
            out << step.ranks << " " << step.time << " " << step.work << "\n";
        out << "END\n$reference" << i << " << END\n";
        const Step *anchor = anchor_of(curve, growth.cores);
        for (const Step &step : curve.steps)
            if (anchor && step.ranks >= anchor->ranks) {
                const double time = anchor->time * p_log_p(step.ranks) / p_log_p(anchor->ranks);
                out << step.ranks << " " << time << " " << work_of(time, step.ranks, growth.cores) << "\n";
            }
        out << "END\n";
    }
}

void write_panel(std::ostream &out, const Growth &growth, const std::vector<GrowthLine> &lines, int column, bool titles)
{
    out << "plot ";
    bool titled = !titles;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].with_reference && anchor_of(lines[i].curve, growth.cores)) {
            out << "$reference" << i << " using 1:" << column << " with lines lw 1 lc rgb '#999999' "
                << (titled ? "notitle" : "title 'p log p'") << ", ";
            titled = true;
        }
    for (std::size_t i = 0; i < lines.size(); ++i)
        out << (i ? ", " : "") << "$line" << i << " using 1:" << column << " with " << lines[i].style << " "
            << (titles ? "title " + quoted(lines[i].title) : "notitle");
    out << "\n";
}

template <class Value>
void write_range_of(std::ostream &out, const std::vector<GrowthLine> &lines, Value value)
{
    double least = std::numeric_limits<double>::max(), greatest = 0;
    for (const GrowthLine &line : lines)
        for (const Step &step : line.curve.steps) {
            least = std::min(least, value(step));
            greatest = std::max(greatest, value(step));
        }
    write_range(out, least / 2, greatest * 2);
}

void write_script(std::ostream &out, const Growth &growth, const Figure &figure)
{
    std::vector<std::string> titles{"p log p"};
    std::vector<std::pair<std::size_t, std::string>> ranks;
    for (const GrowthLine &line : figure.lines)
        titles.push_back(line.title);
    for (const Results &run : growth.runs)
        ranks.push_back({std::size_t(run.ranks), std::to_string(run.ranks)});
    write_data(out, growth, figure.lines);
    write_title(out, figure.title);
    write_upper_frame(out, write_head(out, titles, double(ranks.front().first), double(ranks.back().first)));
    out << "set lmargin at screen 0.14\n"; // numbers are longer here
    write_range_of(out, figure.lines, [](const Step &step) { return step.time; });
    write_marks(out, ranks, false);
    out << "set ylabel 'time of a call" << (loops_in(growth) ? " in a loop" : "") << " (µs)' offset 1\n";
    write_panel(out, growth, figure.lines, 2, true);
    out << "unset label\n";
    write_range_of(out, figure.lines, [](const Step &step) { return step.work; });
    write_marks(out, ranks, true);
    write_lower_frame(out, "ranks p");
    out << "set ylabel 'work per rank (µs)' offset 1\n";
    write_panel(out, growth, figure.lines, 3, false);
}

} // namespace

std::vector<std::string> plot_growth(const Growth &growth, const std::string &file, const TemporaryFolder &folder)
{
    const auto figures = figures_of(growth, file);
    if (figures.empty())
        throw Complaint("there is nothing to draw: a curve needs more than one number of ranks");
    std::vector<std::string> drawn;
    for (const Figure &figure : figures) {
        draw_figure(figure.file, folder, [&](std::ostream &out) { write_script(out, growth, figure); });
        drawn.push_back(figure.file);
    }
    return drawn;
}

} // namespace bench
