// SPDX-License-Identifier: BSD-3-Clause
#include "table.hpp"

#include "../columns.hpp"
#include "../merge.hpp"
#include "../figure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

namespace bench {
namespace {

using Cell = std::function<std::string(const Step &)>;

const Step *at(const Curve &curve, int ranks)
{
    const auto found = std::find_if(curve.steps.begin(), curve.steps.end(), [&](auto &s) { return s.ranks == ranks; });
    return found == curve.steps.end() ? nullptr : &*found;
}

Column column_of(const Growth &growth, const Curve &curve, const std::string &head, const Cell &cell)
{
    Column column{head, {}};
    for (const Results &run : growth.runs) {
        const Step *step = at(curve, run.ranks);
        column.cells.push_back(step ? cell(*step) : "-");
    }
    column.cells.push_back("");
    return column;
}

// Time, work and slope; `what` is empty, or " loop".
void add_times(const Growth &growth, const std::vector<Curve> &curves, const std::string &what,
               std::vector<Column> &columns)
{
    for (const Curve &curve : curves) {
        columns.push_back(column_of(growth, curve, curve.name + what, [](auto &step) { return number(step.time); }));
        columns.push_back(column_of(growth, curve, "work", [](auto &step) { return number(step.work); }));
        columns.push_back(column_of(growth, curve, "slope", [](auto &step) {
            return std::isnan(step.slope) ? "-" : number(step.slope);
        }));
    }
}

void add_ratios(const Growth &growth, const std::vector<Curve> &curves, const std::string &what,
                std::vector<Column> &columns)
{
    for (std::size_t i = 1; i < curves.size(); ++i)
        columns.push_back(column_of(growth, curves[i], curves[i].name + "/" + curves[0].name + what,
                                    [&](const Step &step) {
                                        const Step *first = at(curves[0], step.ranks);
                                        return first ? number(step.time / first->time) : "-";
                                    }));
}

void add_algorithms(const Growth &growth, const std::vector<Curve> &curves, std::vector<Column> &columns)
{
    for (const Curve &curve : curves) {
        const auto told = [](const Step &step) { return !step.point->algorithm.empty(); };
        if (std::any_of(curve.steps.begin(), curve.steps.end(), told))
            columns.push_back(column_of(growth, curve, curve.name + " ran", [&](auto &step) {
                return told(step) ? step.point->algorithm : "-";
            }));
    }
}

Column reference_column(const Growth &growth)
{
    Column column{"p log p", {}};
    for (std::size_t i = 0; i < growth.runs.size(); ++i) {
        const int from = i ? growth.runs[i - 1].ranks : 1;
        column.cells.push_back(from > 1 ? number(slope_of_p_log_p(from, growth.runs[i].ranks)) : "-");
    }
    column.cells.push_back("");
    return column;
}

Column ranks_column(const Growth &growth)
{
    Column column{"ranks", {}};
    for (const Results &run : growth.runs)
        column.cells.push_back(std::to_string(run.ranks));
    column.cells.push_back("");
    return column;
}

std::vector<Column> columns_of(const Growth &growth, const std::string &operation, std::size_t bytes)
{
    const auto single = curves_of(growth, operation, bytes, &Point::median);
    const auto loops = curves_of(growth, operation, bytes, &Point::loop);
    std::vector<Column> columns;
    add_times(growth, single, "", columns);
    add_times(growth, loops, " loop", columns);
    columns.push_back(reference_column(growth));
    add_algorithms(growth, single, columns);
    add_ratios(growth, single, "", columns);
    add_ratios(growth, loops, " loop", columns);
    return columns;
}

void print_what_is_lacking(std::ostream &out, const Growth &growth, const std::string &operation)
{
    std::vector<std::string> told;
    for (const Results &run : growth.runs)
        for (const Series &series : run.series)
            if (std::find(series.lacks.begin(), series.lacks.end(), operation) != series.lacks.end() &&
                std::find(told.begin(), told.end(), series.name) == told.end()) {
                told.push_back(series.name);
                out << series.name << " does not have this call.\n";
            }
}

} // namespace

void print_growth(std::ostream &out, const Growth &growth, std::size_t width)
{
    const Results &first = growth.runs[0], &last = growth.runs.back();
    out << "Slowest rank's median time per call in microseconds, less the clock's " << number(first.clock, "%.3f")
        << (first.loop ? "; and in loops of calls" : "") << "; buffers "
        << (first.cached ? "left as they are" : "altered before each call")
        << ".\nwork: a core's time per rank and call, time x min(ranks, cores) / ranks. Constant where time is "
           "proportional to the\nranks p; where it is to p log p, each doubling adds the same amount. slope: the power "
           "of p with which time has grown\nsince the line before; 'p log p' is what that would be.\n\n";
    for (const std::string &operation : operations_in(growth))
        for (std::size_t bytes : sizes_in(growth, operation)) {
            out << operation << (bytes ? " of " + size_name(bytes) : "") << ", " << first.ranks << " to " << last.ranks
                << " ranks on " << growth.cores << (growth.cores == 1 ? " core\n" : " cores\n");
            print_what_is_lacking(out, growth, operation);
            print_columns(out, ranks_column(growth), columns_of(growth, operation, bytes), width);
        }
}

} // namespace bench
