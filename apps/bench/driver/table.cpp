// SPDX-License-Identifier: BSD-3-Clause
#include "table.hpp"

#include "columns.hpp"
#include "merge.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

namespace bench {
namespace {

// One operation of the results, for which a table is printed.
struct ShownOperation {
    const Results &results;
    std::string operation;
    std::vector<std::size_t> sizes;
    const Series &reference() const { return results.series[0]; }
    const Point *at(const Series &series, std::size_t bytes) const { return find(series, operation, bytes); }
    bool has(const Series &series) const
    {
        return std::any_of(sizes.begin(), sizes.end(), [&](auto bytes) { return at(series, bytes); });
    }
};

Column medians(const ShownOperation &shown, const Series &series)
{
    Column column{series.name, {}};
    for (std::size_t bytes : shown.sizes) {
        const Point *point = shown.at(series, bytes);
        column.cells.push_back(point ? number(point->median) : "-");
    }
    column.cells.push_back("");
    return column;
}

Column loops(const ShownOperation &shown, const Series &series)
{
    Column column{series.name + " loop", {}};
    for (std::size_t bytes : shown.sizes) {
        const Point *point = shown.at(series, bytes);
        column.cells.push_back(point ? number(point->loop) : "-");
    }
    column.cells.push_back("");
    return column;
}

// What ran, where the series is no certain algorithm and its library tells.
Column algorithms(const ShownOperation &shown, const Series &series)
{
    Column column{series.name + " ran", {}};
    for (std::size_t bytes : shown.sizes) {
        const Point *point = shown.at(series, bytes);
        column.cells.push_back(point && !point->algorithm.empty() ? point->algorithm : "-");
    }
    column.cells.push_back("");
    return column;
}

using Pick = std::function<const Point *(std::size_t bytes)>;

// One time divided by another one, and the geometric mean over the sizes that have both.
Column ratios(const ShownOperation &shown, const std::string &head, const Pick &above, const Pick &below,
              double Point::*time = &Point::median)
{
    Column column{head, {}};
    double logs = 0;
    int count = 0;
    for (std::size_t bytes : shown.sizes) {
        const Point *a = above(bytes), *b = below(bytes);
        const bool both = a && b && a->*time > 0 && b->*time > 0;
        column.cells.push_back(both ? number(a->*time / b->*time) : "-");
        if (both) {
            logs += std::log(a->*time / b->*time);
            ++count;
        }
    }
    column.cells.push_back(count ? number(std::exp(logs / count)) : "-");
    return column;
}

// The fastest algorithm that `fits`; the reference, which is one of them, stands in where nothing is faster.
const Series *best(const ShownOperation &shown, std::size_t bytes, bool (*fits)(const Series &),
                   const Series *otherwise)
{
    const Series *winner = otherwise && shown.at(*otherwise, bytes) ? otherwise : nullptr;
    for (const Series &series : shown.results.series) {
        const Point *point = fits(series) ? shown.at(series, bytes) : nullptr;
        if (point && (!winner || point->median < shown.at(*winner, bytes)->median))
            winner = &series;
    }
    return winner;
}

void add_best(const ShownOperation &shown, const std::string &what, bool (*fits)(const Series &),
              const Series *otherwise, std::vector<Column> &columns)
{
    Column names{what, {}};
    for (std::size_t bytes : shown.sizes) {
        const Series *series = best(shown, bytes, fits, otherwise);
        names.cells.push_back(series ? series->name : "-");
    }
    names.cells.push_back("");
    columns.push_back(names);
    columns.push_back(ratios(
        shown, shown.reference().name + "/" + what, [&](auto bytes) { return shown.at(shown.reference(), bytes); },
        [&](auto bytes) {
            const Series *series = best(shown, bytes, fits, otherwise);
            return series ? shown.at(*series, bytes) : nullptr;
        }));
}

// How much the cost depends on the root.
Column root_spread(const ShownOperation &shown, const Series &series)
{
    Column column{series.name + "'s roots", {}};
    for (std::size_t bytes : shown.sizes) {
        const Point *point = shown.at(series, bytes);
        if (!point || point->roots.empty()) {
            column.cells.push_back("-");
            continue;
        }
        const auto [least, greatest] = std::minmax_element(point->roots.begin(), point->roots.end());
        column.cells.push_back(*least > 0 ? number(*greatest / *least) : "-");
    }
    column.cells.push_back("");
    return column;
}

// How many percent of the communication a computation hides.
Column hidden(const ShownOperation &shown, const Series &series)
{
    Column column{series.name + " hidden %", {}};
    for (std::size_t bytes : shown.sizes) {
        const Point *point = shown.at(series, bytes);
        column.cells.push_back(point && point->hidden >= 0 ? number(point->hidden, "%.0f") : "-");
    }
    column.cells.push_back("");
    return column;
}

std::vector<Column> columns_of(const ShownOperation &shown, bool by_root)
{
    const auto &all = shown.results.series;
    const Series &first = shown.reference();
    auto by = [&shown](const Series &series) { return [&](std::size_t bytes) { return shown.at(series, bytes); }; };
    std::vector<Column> columns;
    for (const Series &series : all)
        if (shown.has(series))
            columns.push_back(medians(shown, series));
    for (const Series &series : all)
        if (shown.results.loop && shown.has(series))
            columns.push_back(loops(shown, series));
    for (const Series &series : all)
        if (!is_algorithm(series) && !algorithms_in(series, shown.operation).empty())
            columns.push_back(algorithms(shown, series));
    const auto add_ratios = [&](const std::string &what, double Point::*time) {
        for (std::size_t i = 1; i < all.size(); ++i)
            if (shown.has(all[i]) && !is_algorithm(all[i]) && !is_limit(all[i]))
                columns.push_back(ratios(shown, all[i].name + "/" + first.name + what, by(all[i]), by(first), time));
        for (const Series &series : all)
            if (is_limit(series) && shown.has(series))
                columns.push_back(ratios(shown, first.name + "/" + series.name + what, by(first), by(series), time));
    };
    add_ratios("", &Point::median);
    if (shown.results.loop)
        add_ratios(" loop", &Point::loop);
    auto any = [&](bool (*fits)(const Series &)) {
        return std::any_of(all.begin(), all.end(), [&](auto &series) { return fits(series) && shown.has(series); });
    };
    if (any(is_algorithm))
        add_best(shown, "best", is_algorithm, &first, columns);
    if (any(is_published))
        add_best(shown, "best published", is_published, nullptr, columns);
    for (const Series &series : all)
        if (by_root && shown.has(series))
            columns.push_back(root_spread(shown, series));
    for (const Series &series : all)
        if (shown.results.overlap && shown.has(series))
            columns.push_back(hidden(shown, series));
    return columns;
}

Column sizes_column(const ShownOperation &shown)
{
    Column column{"bytes", {}};
    for (std::size_t bytes : shown.sizes)
        column.cells.push_back(std::to_string(bytes));
    column.cells.push_back("geometric mean");
    return column;
}

} // namespace

void print_tables(std::ostream &out, const Results &results, bool by_root, std::size_t width)
{
    if (!results.one_sided.empty())
        out << "One-sided: " << results.one_sided << ".\n\n";
    for (const std::string &operation : operations_in(results)) {
        out << operation << ", " << results.ranks << " ranks, buffers "
            << (results.cached ? "left as they are" : "altered before each call")
            << ": slowest rank's median time per call in microseconds, less the clock's "
            << number(results.clock, "%.3f") << (results.loop ? "; and in loops of calls" : "")
            << (results.overlap ? ", and how many percent of it a computation of the same length hides\n" : "\n");
        for (const Series &series : results.series)
            if (std::find(series.lacks.begin(), series.lacks.end(), operation) != series.lacks.end())
                out << series.name << " does not have this call.\n";
        const ShownOperation shown{results, operation, sizes_in(results, operation)};
        print_columns(out, sizes_column(shown), columns_of(shown, by_root), width);
    }
}

void print_csv(std::ostream &out, const Results &results)
{
    for (const Series &series : results.series)
        for (const Point &p : series.points) {
            out << p.operation << "," << results.ranks << "," << p.bytes << "," << series.name << "," << p.iterations
                << "," << number(p.median, "%.3f") << "," << number(p.least, "%.3f") << ","
                << number(p.greatest, "%.3f");
            if (results.loop)
                out << "," << number(p.loop, "%.3f");
            if (results.overlap)
                out << "," << number(p.computation, "%.3f") << "," << number(p.both, "%.3f") << ","
                    << number(p.hidden, "%.1f");
            out << "," << p.algorithm << "\n";
        }
}

void print_legend(std::ostream &out, const std::vector<Candidate> &candidates)
{
    std::size_t widest = 0;
    for (auto &c : candidates)
        widest = std::max(widest, c.name.size());
    std::string last;
    for (auto &c : candidates) {
        if (c.operation != last)
            out << "Algorithms for " << (last = c.operation) << ":\n";
        out << "  " << c.name << std::string(widest - c.name.size() + 2, ' ') << c.sentence << " ["
            << (c.family == c.source ? "" : c.family + ": ") << c.source << "]\n";
    }
    out << "\n";
}

} // namespace bench
