// SPDX-License-Identifier: BSD-3-Clause
// Figures of time and work over the number of ranks.
#include "figure.hpp"

#include "results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

namespace bench {
namespace {

struct GrowthLine {
    Curve curve;
    std::string title, style;
    bool with_reference;   ///< the p log p line passes through this curve
};

struct Figure {
    std::string file, title;
    std::vector<GrowthLine> lines;
};

bool loops_in(Growth const& growth) { return growth.runs[0].loop; }

std::vector<Curve> drawn_curves(Growth const& growth, std::string const& operation, std::size_t bytes) {
    auto curves = curves_of(growth, operation, bytes, loops_in(growth) ? &Point::loop : &Point::median);
    std::erase_if(curves, [](Curve const& curve) { return curve.steps.size() < 2; });
    return curves;
}

std::string name_of(std::string const& operation, std::size_t bytes) {
    return operation + (bytes ? " " + size_name(bytes) : "");
}

std::string tail_of_title(Growth const& growth) {
    Results const& first = growth.runs[0];
    return (first.processor.empty() ? "" : ", " + first.processor) + (first.cached ? ", buffers left unchanged" : "");
}

/// Returns the figure of one operation at one size, with a curve for each series.
Figure figure_of(std::string const& operation, std::size_t bytes, std::vector<Curve> const& curves,
                 std::string const& file) {
    Figure figure{
        file.substr(0, file.size() - 4) + "-" + operation + (bytes ? "-" + std::to_string(bytes) : "") + ".svg",
        name_of(operation, bytes) + ", ",
        {}};
    std::size_t number = 0;
    for (Curve const& curve : curves) {
        bool const limit = curve.name == limit_name;
        figure.lines.push_back({curve, curves.size() > 1 ? curve.name : name_of(operation, bytes),
                                limit ? style_of_limit() : style_of(number), figure.lines.empty()});
        number += !limit;
    }
    return figure;
}

/// Joins figures with one curve each.
Figure combined(std::vector<Figure> const& figures, std::string const& file) {
    Figure all{file, "", {}};
    for (Figure const& figure : figures) {
        all.lines.push_back(figure.lines[0]);
        all.lines.back().style = style_of(all.lines.size() - 1);
    }
    return all;
}

/// Returns a figure for each operation and size, or a single one if everything was measured in one way only.
std::vector<Figure> figures_of(Growth const& growth, std::string const& file) {
    std::vector<Figure> figures;
    bool compared = false;
    for (std::string const& operation : operations_in(growth))
        for (std::size_t bytes : sizes_in(growth, operation)) {
            auto const curves = drawn_curves(growth, operation, bytes);
            if (!curves.empty()) figures.push_back(figure_of(operation, bytes, curves, file));
            compared |= curves.size() > 1;
        }
    if (!compared && figures.size() > 1) figures = {combined(figures, file)};
    if (figures.size() == 1) figures[0].file = file;
    for (Figure& figure : figures)
        figure.title += std::to_string(growth.runs[0].ranks) + " to " + std::to_string(growth.runs.back().ranks) +
                        " ranks on " + std::to_string(growth.cores) + (growth.cores == 1 ? " core" : " cores") +
                        tail_of_title(growth);
    return figures;
}

/// Returns the step at which the p log p line begins: the first number of ranks that share cores, because the cost of
/// a call is of a different kind where ranks wait for a core; or the first number of ranks if fewer than two share
/// cores. Null if the curve has no step with at least two ranks.
Step const* anchor_of(Curve const& curve, int cores) {
    int const most = curve.steps.back().ranks;
    for (Step const& step : curve.steps)
        if (step.ranks >= 2 && step.ranks < most && step.ranks > cores) return &step;
    for (Step const& step : curve.steps)
        if (step.ranks >= 2) return &step;
    return nullptr;
}

double p_log_p(int ranks) { return ranks * std::log2(ranks); }

/// Writes a data block for each curve (ranks, time, work), and one for each reference.
void write_data(std::ostream& out, Growth const& growth, std::vector<GrowthLine> const& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        Curve const& curve = lines[i].curve;
        out << "$line" << i << " << END\n";
        for (Step const& step : curve.steps) out << step.ranks << " " << step.time << " " << step.work << "\n";
        out << "END\n$reference" << i << " << END\n";
        Step const* anchor = anchor_of(curve, growth.cores);
        for (Step const& step : curve.steps)
            if (anchor && step.ranks >= anchor->ranks) {
                double const time = anchor->time * p_log_p(step.ranks) / p_log_p(anchor->ranks);
                out << step.ranks << " " << time << " " << work_of(time, step.ranks, growth.cores) << "\n";
            }
        out << "END\n";
    }
}

void write_panel(std::ostream& out, Growth const& growth, std::vector<GrowthLine> const& lines, int column,
                 bool titles) {
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
void write_range_of(std::ostream& out, std::vector<GrowthLine> const& lines, Value value) {
    double least = std::numeric_limits<double>::max(), greatest = 0;
    for (GrowthLine const& line : lines)
        for (Step const& step : line.curve.steps) {
            least = std::min(least, value(step));
            greatest = std::max(greatest, value(step));
        }
    write_range(out, least / 2, greatest * 2);
}

void write_script(std::ostream& out, Growth const& growth, Figure const& figure) {
    std::vector<std::string> titles{"p log p"};
    std::vector<std::pair<std::size_t, std::string>> ranks;
    for (GrowthLine const& line : figure.lines) titles.push_back(line.title);
    for (Results const& run : growth.runs) ranks.push_back({std::size_t(run.ranks), std::to_string(run.ranks)});
    write_data(out, growth, figure.lines);
    write_title(out, figure.title);
    write_upper_frame(out, write_head(out, titles, double(ranks.front().first), double(ranks.back().first)));
    out << "set lmargin at screen 0.14\n";   // numbers are longer here
    write_range_of(out, figure.lines, [](Step const& step) { return step.time; });
    write_marks(out, ranks, false);
    out << "set ylabel 'time of a call" << (loops_in(growth) ? " in a loop" : "") << " (µs)' offset 1\n";
    write_panel(out, growth, figure.lines, 2, true);
    out << "unset label\n";
    write_range_of(out, figure.lines, [](Step const& step) { return step.work; });
    write_marks(out, ranks, true);
    write_lower_frame(out, "ranks p");
    out << "set ylabel 'work per rank (µs)' offset 1\n";
    write_panel(out, growth, figure.lines, 3, false);
}

}   // namespace

std::vector<std::string> plot_growth(Growth const& growth, std::string const& file, TemporaryFolder const& folder) {
    auto const figures = figures_of(growth, file);
    if (figures.empty()) throw BenchError("there is nothing to draw: a curve needs more than one number of ranks");
    std::vector<std::string> drawn;
    for (Figure const& figure : figures) {
        draw_figure(figure.file, folder, [&](std::ostream& out) { write_script(out, growth, figure); });
        drawn.push_back(figure.file);
    }
    return drawn;
}

}   // namespace bench
