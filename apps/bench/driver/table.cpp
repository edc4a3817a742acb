// SPDX-License-Identifier: BSD-3-Clause
// Tables of comparisons, and CSV.
#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <ostream>

#include "../../options.hpp"
#include "results.hpp"

namespace bench {
namespace {

void print_block(std::ostream& out, std::vector<const Column*> const& columns) {
    auto line = [&](auto text_of) {
        std::string text;
        for (const Column* column : columns) {
            const std::string cell = text_of(*column);
            text += std::string(text.empty() ? 0 : 2, ' ') + std::string(column->width() - cell.size(), ' ') + cell;
        }
        out << text.substr(0, text.find_last_not_of(' ') + 1) << "\n";
    };
    line([](Column const& c) { return c.head; });
    const std::size_t mean = columns[0]->cells.size() - 1;
    for (std::size_t row = 0; row < mean; ++row) line([row](Column const& c) { return c.cells[row]; });
    auto has_mean = [&](Column const* column) { return !column->cells[mean].empty(); };
    bool const means = std::any_of(columns.begin() + 1, columns.end(), has_mean);
    if (means && mean > 1) line([mean](Column const& c) { return c.cells[mean]; });
    out << "\n";
}

}   // namespace

std::size_t Column::width() const {
    std::size_t most = std::max(head.size(), least_width);
    for (auto& cell : cells) most = std::max(most, cell.size());
    return most;
}

std::string number(double value, char const* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

void print_columns(std::ostream& out, Column const& first, std::vector<Column> const& columns, std::size_t width) {
    std::vector<Column const*> block{&first};
    std::size_t used = first.width();
    for (Column const& column : columns) {
        if (width && used + 2 + column.width() > width && block.size() > 1) {
            print_block(out, block);
            block = {&first};
            used = first.width();
        }
        block.push_back(&column);
        used += 2 + column.width();
    }
    print_block(out, block);
}

namespace {

/// One operation of the results, for which a table is printed.
struct OperationView {
    Results const& results;
    std::string operation;
    std::vector<std::size_t> sizes;
    Series const& reference() const { return results.series[0]; }
    Point const* at(Series const& series, std::size_t bytes) const { return find(series, operation, bytes); }
    bool has(Series const& series) const {
        return std::any_of(sizes.begin(), sizes.end(), [&](auto bytes) { return at(series, bytes); });
    }
};

/// Adds a column for each series of this operation, with a cell for each size at which it was measured.
template <class Cell>
void add_points(OperationView const& view, std::string const& what, Cell cell, std::vector<Column>& columns) {
    for (Series const& series : view.results.series)
        if (view.has(series))
            columns.push_back(column_of(series.name + what, view.sizes, [&](std::size_t bytes) {
                Point const* point = view.at(series, bytes);
                return point ? cell(*point) : "";
            }));
}

/// The algorithm that ran, for series that are not a particular algorithm, if their library reports it.
void add_algorithms(OperationView const& view, std::vector<Column>& columns) {
    for (Series const& series : view.results.series)
        if (!is_algorithm(series) && !algorithms_in(series, view.operation).empty())
            columns.push_back(column_of(series.name + " ran", view.sizes, [&](std::size_t bytes) {
                Point const* point = view.at(series, bytes);
                return point ? point->algorithm : "";
            }));
}

using Pick = std::function<Point const*(std::size_t bytes)>;

/// Ratios of two times, and their geometric mean over the sizes that have both.
Column ratios(OperationView const& view, std::string const& head, Pick const& above, Pick const& below,
              double Point::*time = &Point::median) {
    Column column{head, {}};
    double logs = 0;
    int count = 0;
    for (std::size_t bytes : view.sizes) {
        Point const *a = above(bytes), *b = below(bytes);
        bool const both = a && b && a->*time > 0 && b->*time > 0;
        column.cells.push_back(both ? number(a->*time / b->*time) : "-");
        if (both) {
            logs += std::log(a->*time / b->*time);
            ++count;
        }
    }
    column.cells.push_back(count ? number(std::exp(logs / count)) : "-");
    return column;
}

/// Returns the fastest algorithm that `fits`, or `otherwise`, which is one of them, if none is faster.
Series const* best(OperationView const& view, std::size_t bytes, bool (*fits)(Series const&), Series const* otherwise) {
    Series const* winner = otherwise && view.at(*otherwise, bytes) ? otherwise : nullptr;
    for (Series const& series : view.results.series) {
        Point const* point = fits(series) ? view.at(series, bytes) : nullptr;
        if (point && (!winner || point->median < view.at(*winner, bytes)->median)) winner = &series;
    }
    return winner;
}

void add_best(OperationView const& view, std::string const& what, bool (*fits)(Series const&), Series const* otherwise,
              std::vector<Column>& columns) {
    columns.push_back(column_of(what, view.sizes, [&](std::size_t bytes) {
        Series const* series = best(view, bytes, fits, otherwise);
        return series ? series->name : "";
    }));
    for (Series const& series : view.results.series)
        if ((fits(series) && view.has(series)) || &series == otherwise)
            columns.back().least_width = std::max(columns.back().least_width, series.name.size());
    columns.push_back(ratios(
        view, view.reference().name + "/" + what, [&](auto bytes) { return view.at(view.reference(), bytes); },
        [&](auto bytes) {
            const Series* series = best(view, bytes, fits, otherwise);
            return series ? view.at(*series, bytes) : nullptr;
        }));
}

/// The ratio of the greatest to the least median over the roots.
std::string root_spread(Point const& point) {
    if (point.roots.empty()) return "";
    auto const [least, greatest] = std::minmax_element(point.roots.begin(), point.roots.end());
    return *least > 0 ? number(*greatest / *least) : "";
}

/// The times of single calls and of loops: the columns that there are for every series.
std::vector<Column> times_of(OperationView const& view) {
    std::vector<Column> columns;
    add_points(
        view, "", [](Point const& point) { return number(point.median); }, columns);
    if (view.results.loop)
        add_points(
            view, " loop", [](Point const& point) { return number(point.loop); }, columns);
    return columns;
}

/// For each series whose phases were timed at any size.
void add_phases(OperationView const& view, std::vector<Column>& columns) {
    for (Series const& series : view.results.series) {
        auto const timed = [&](std::size_t bytes) {
            Point const* const point = view.at(series, bytes);
            return point && point->between >= 0 ? point : nullptr;
        };
        if (std::none_of(view.sizes.begin(), view.sizes.end(), timed)) continue;
        auto const add = [&](std::string const& what, char const* format, auto value) {
            columns.push_back(column_of(series.name + what, view.sizes, [&](std::size_t bytes) {
                Point const* const point = timed(bytes);
                return point ? number(value(*point), format) : "";
            }));
        };
        add(" between %", "%.0f", between_percent);
        add(" ideal", "%.2f", ideal_time);
    }
}

/// The columns after the times: what ran, and the ratios of interest.
std::vector<Column> findings_of(OperationView const& view, bool by_root) {
    auto const& all = view.results.series;
    Series const& first = view.reference();
    auto by = [&view](Series const& series) { return [&](std::size_t bytes) { return view.at(series, bytes); }; };
    std::vector<Column> columns;
    add_algorithms(view, columns);
    auto const add_ratios = [&](std::string const& what, double Point::*time) {
        for (std::size_t i = 1; i < all.size(); ++i)
            if (view.has(all[i]) && !is_algorithm(all[i]) && !is_limit(all[i]) && !is_model(all[i]))
                columns.push_back(ratios(view, all[i].name + "/" + first.name + what, by(all[i]), by(first), time));
        for (const Series& series : all)
            if (is_limit(series) && view.has(series))
                columns.push_back(ratios(view, first.name + "/" + series.name + what, by(first), by(series), time));
    };
    add_ratios("", &Point::median);
    if (view.results.loop) add_ratios(" loop", &Point::loop);
    for (std::size_t i = 1; i < all.size(); ++i)   // a model follows its series
        if (is_model(all[i]) && view.has(all[i]))
            columns.push_back(ratios(view, all[i - 1].name + "/model", by(all[i - 1]), by(all[i])));
    auto any = [&](bool (*fits)(Series const&)) {
        return std::any_of(all.begin(), all.end(), [&](auto& series) { return fits(series) && view.has(series); });
    };
    if (any(is_algorithm)) add_best(view, "best", is_algorithm, &first, columns);
    if (any(is_published)) add_best(view, "best published", is_published, nullptr, columns);
    if (by_root) add_points(view, "'s roots", root_spread, columns);
    auto const hidden = [](Point const& point) { return point.hidden >= 0 ? number(point.hidden, "%.0f") : ""; };
    if (view.results.overlap) add_points(view, " hidden %", hidden, columns);
    add_phases(view, columns);
    return columns;
}

Column sizes_column(OperationView const& view) {
    Column column{"bytes", {}};
    for (std::size_t bytes : view.sizes) column.cells.push_back(std::to_string(bytes));
    column.cells.push_back("geometric mean");
    return column;
}

}   // namespace

namespace {

std::size_t width_of(Column const& first, std::vector<Column> const& columns) {
    std::size_t width = first.width();
    for (Column const& column : columns) width += 2 + column.width();
    return width;
}

/// Prints rows as columns and columns as rows, which are named in a column with this head.
void print_turned(std::ostream& out, std::string const& head, Column const& first, std::vector<Column> const& columns,
                  std::size_t width) {
    auto const name = [](Column const& column) { return column.head; };
    std::vector<Column> turned;
    for (std::size_t row = 0; row + 1 < first.cells.size(); ++row)
        turned.push_back(
            column_of(first.cells[row], columns, [row](Column const& column) { return column.cells[row]; }));
    print_columns(out, column_of(head, columns, name), turned, width);
}

/// Prints the table of one operation. If a comparison of algorithms is too wide, the findings follow in a second table;
/// if the times alone are, they are turned round: a row for each algorithm and a column for each size.
void print_operation(std::ostream& out, OperationView const& view, bool by_root, std::size_t width) {
    constexpr std::size_t default_width = 120;   // where there is no terminal
    auto const& all = view.results.series;
    const Column sizes = sizes_column(view);
    std::vector<Column> columns = times_of(view);
    std::vector<Column> const findings = findings_of(view, by_root);
    bool const algorithms = std::any_of(all.begin(), all.end(), [](auto& series) { return is_algorithm(series); });
    const std::size_t most = width ? width : default_width;
    if (algorithms && width_of(sizes, columns) + width_of(Column{}, findings) > most) {
        if (width_of(sizes, columns) > most) print_turned(out, "bytes", sizes, columns, most);
        else print_columns(out, sizes, columns, most);
        print_columns(out, sizes, findings, most);
        return;
    }
    columns.insert(columns.end(), findings.begin(), findings.end());
    print_columns(out, sizes, columns, width);
}

}   // namespace

void print_tables(std::ostream& out, Results const& results, bool by_root, std::size_t width) {
    if (!results.one_sided.empty()) out << "One-sided: " << results.one_sided << ".\n\n";
    for (std::string const& operation : operations_in(results)) {
        out << operation << ", " << results.ranks << " ranks, buffers "
            << (results.cached ? "left unchanged" : "altered before each call")
            << ":\nslowest rank's median time per call in microseconds, less the clock's "
            << number(results.clock, "%.3f") << (results.loop ? "; and in loops of calls" : "")
            << (results.overlap ? ", and how many percent of it a computation of the same length hides\n" : "\n");
        if (results.alpha > 0)
            out << "model: a message takes " << text_of(results.inside) << " inside a node, "
                << text_of(results.between) << " between nodes; alpha " << number(results.alpha) << "\n";
        for (Series const& series : results.series)
            if (std::find(series.lacks.begin(), series.lacks.end(), operation) != series.lacks.end())
                out << series.name << " does not have this call.\n";
        print_operation(out, {results, operation, sizes_in(results, operation)}, by_root, width);
    }
}

void print_csv(std::ostream& out, Results const& results) {
    for (Series const& series : results.series)
        for (Point const& point : series.points) out << as_csv(results.ranks, series.name, point) << "\n";
}

void print_legend(std::ostream& out, std::vector<Candidate> const& candidates) {
    std::size_t widest = 0;
    for (auto& c : candidates) widest = std::max(widest, c.name.size());
    std::string last;
    for (auto& c : candidates) {
        if (c.operation != last) out << "Algorithms for " << (last = c.operation) << ":\n";
        const std::string source = "[" + (c.family == c.source ? "" : c.family + ": ") + c.source + "]";
        bool const fits = widest + 5 + c.description.size() + source.size() <= apps::text_width();
        out << apps::help_entry(c.name, c.description + (fits ? " " + source : ""), widest + 4);
        if (!fits) out << std::string(6, ' ') << apps::wrapped(source, 6);
    }
}

}   // namespace bench
