// SPDX-License-Identifier: BSD-3-Clause
// How the time of a call grows with the number of ranks: computed from the results, as tables, and as figures.
#include "figure.hpp"
#include "results.hpp"
#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <utility>

namespace bench {
namespace {

bool same_name(Series const& a, Series const& b) { return a.name == b.name && a.family == b.family; }

bool has(Series const& series, std::string const& operation, std::size_t bytes) {
    return find(series, operation, bytes) != nullptr;
}

/// Returns the first series of each name that has the operation at this size.
std::vector<Series const*> distinct_series(Growth const& growth, std::string const& operation, std::size_t bytes) {
    std::vector<Series const*> all;
    for (Results const& run : growth.runs)
        for (Series const& series : run.series)
            if (has(series, operation, bytes) &&
                std::none_of(all.begin(), all.end(), [&](Series const* s) { return same_name(*s, series); }))
                all.push_back(&series);
    return all;
}

template <class Item>
void add_new(std::vector<Item>& all, std::vector<Item> const& more) {
    for (Item const& item : more)
        if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
}

}   // namespace

std::string as_json(Growth const& growth) {
    std::string out = "{\n\"program\": \"tutti-bench\",\n\"cores\": " + std::to_string(growth.cores) + ",\n\"runs\": [";
    for (std::size_t i = 0; i < growth.runs.size(); ++i) out += (i ? ",\n" : "\n") + as_json(growth.runs[i]);
    return out + "]\n}\n";
}

double work_of(double time, int ranks, int cores) { return time * std::min(ranks, cores) / ranks; }

double slope_of_p_log_p(int from, int to) {
    return 1 + std::log(std::log2(to) / std::log2(from)) / std::log(double(to) / from);
}

std::vector<Curve> curves_of(Growth const& growth, std::string const& operation, std::size_t bytes,
                             double Point::*time) {
    std::vector<Curve> curves;
    for (Series const* like : distinct_series(growth, operation, bytes)) {
        Curve curve{like->name, {}};
        for (Results const& run : growth.runs)
            for (Series const& series : run.series) {
                Point const* point = same_name(series, *like) ? find(series, operation, bytes) : nullptr;
                if (!point || point->*time <= 0) continue;
                Step step{run.ranks, point, point->*time, work_of(point->*time, run.ranks, growth.cores),
                          std::numeric_limits<double>::quiet_NaN()};
                if (!curve.steps.empty()) {
                    Step const& before = curve.steps.back();
                    step.slope = std::log(step.time / before.time) / std::log(double(step.ranks) / before.ranks);
                }
                curve.steps.push_back(step);
            }
        if (!curve.steps.empty()) curves.push_back(curve);
    }
    return curves;
}

std::vector<std::string> operations_in(Growth const& growth) {
    std::vector<std::string> all;
    for (Results const& run : growth.runs) add_new(all, operations_in(run));
    return all;
}

std::vector<std::size_t> sizes_in(Growth const& growth, std::string const& operation) {
    std::vector<std::size_t> all;
    for (Results const& run : growth.runs) add_new(all, sizes_in(run, operation));
    std::sort(all.begin(), all.end());
    return all;
}

namespace {

using Cell = std::function<std::string(Step const&)>;

Step const* at(Curve const& curve, int ranks) {
    auto const found = std::find_if(curve.steps.begin(), curve.steps.end(), [&](auto& s) { return s.ranks == ranks; });
    return found == curve.steps.end() ? nullptr : &*found;
}

Column curve_column(Growth const& growth, Curve const& curve, std::string const& head, Cell const& cell) {
    return column_of(head, growth.runs, [&](Results const& run) {
        Step const* step = at(curve, run.ranks);
        return step ? cell(*step) : "";
    });
}

/// Adds the columns time, work and slope; `what` is empty, or " loop".
void add_times(Growth const& growth, std::vector<Curve> const& curves, std::string const& what,
               std::vector<Column>& columns) {
    for (Curve const& curve : curves) {
        columns.push_back(curve_column(growth, curve, curve.name + what, [](auto& step) { return number(step.time); }));
        columns.push_back(curve_column(growth, curve, "work", [](auto& step) { return number(step.work); }));
        columns.push_back(curve_column(growth, curve, "slope",
                                       [](auto& step) { return std::isnan(step.slope) ? "" : number(step.slope); }));
    }
}

void add_ratios(Growth const& growth, std::vector<Curve> const& curves, std::string const& what,
                std::vector<Column>& columns) {
    for (std::size_t i = 1; i < curves.size(); ++i)
        columns.push_back(
            curve_column(growth, curves[i], curves[i].name + "/" + curves[0].name + what, [&](Step const& step) {
                const Step* first = at(curves[0], step.ranks);
                return first ? number(step.time / first->time) : "";
            }));
}

void add_algorithms(Growth const& growth, std::vector<Curve> const& curves, std::vector<Column>& columns) {
    for (Curve const& curve : curves) {
        auto const reported = [](Step const& step) { return !step.point->algorithm.empty(); };
        if (std::any_of(curve.steps.begin(), curve.steps.end(), reported))
            columns.push_back(curve_column(growth, curve, curve.name + " ran",
                                           [](Step const& step) { return step.point->algorithm; }));
    }
}

/// The slope of p log p since the previous number of ranks.
Column reference_column(Growth const& growth) {
    int from = 1;
    return column_of("p log p", growth.runs, [&from](Results const& run) {
        int const previous = std::exchange(from, run.ranks);
        return previous > 1 ? number(slope_of_p_log_p(previous, run.ranks)) : "";
    });
}

std::vector<Column> columns_of(Growth const& growth, std::string const& operation, std::size_t bytes) {
    auto const single = curves_of(growth, operation, bytes, &Point::median);
    auto const loops = curves_of(growth, operation, bytes, &Point::loop);
    std::vector<Column> columns;
    add_times(growth, single, "", columns);
    add_times(growth, loops, " loop", columns);
    columns.push_back(reference_column(growth));
    add_algorithms(growth, single, columns);
    add_ratios(growth, single, "", columns);
    add_ratios(growth, loops, " loop", columns);
    return columns;
}

void print_unsupported(std::ostream& out, Growth const& growth, std::string const& operation) {
    std::vector<std::string> reported;
    for (Results const& run : growth.runs)
        for (Series const& series : run.series)
            if (std::find(series.lacks.begin(), series.lacks.end(), operation) != series.lacks.end() &&
                std::find(reported.begin(), reported.end(), series.name) == reported.end()) {
                reported.push_back(series.name);
                out << series.name << " does not have this call.\n";
            }
}

}   // namespace

void print_growth(std::ostream& out, Growth const& growth, std::size_t width) {
    Results const &first = growth.runs[0], &last = growth.runs.back();
    out << "Slowest rank's median time per call in microseconds, less the clock's " << number(first.clock, "%.3f")
        << (first.loop ? "; and in loops of calls" : "") << "; buffers "
        << (first.cached ? "left unchanged" : "altered before each call")
        << ".\n"
           "work: a core's time per rank and call, time x min(ranks, cores) / ranks. Constant if the time is\n"
           "proportional to the number of ranks p; grows by a constant with each doubling if it is proportional to\n"
           "p log p. slope: the power of p with which the time has grown since the previous line; 'p log p' is the\n"
           "slope of p log p.\n\n";
    const Column ranks = column_of("ranks", growth.runs, [](Results const& run) { return std::to_string(run.ranks); });
    for (std::string const& operation : operations_in(growth))
        for (std::size_t bytes : sizes_in(growth, operation)) {
            out << operation << (bytes ? " of " + size_name(bytes) : "") << ", " << first.ranks << " to " << last.ranks
                << " ranks on " << growth.cores << (growth.cores == 1 ? " core\n" : " cores\n");
            print_unsupported(out, growth, operation);
            print_columns(out, ranks, columns_of(growth, operation, bytes), width);
        }
}

// The figures: time and work over the number of ranks.

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
    Figure figure{figure_name(file, operation, bytes), name_of(operation, bytes) + ", ", {}};
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
