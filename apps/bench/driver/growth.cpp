// SPDX-License-Identifier: BSD-3-Clause
// Tables of growth: time, work and slope by number of ranks.
#include "growth.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <utility>

#include "figure.hpp"
#include "results.hpp"
#include "table.hpp"

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

}   // namespace bench
