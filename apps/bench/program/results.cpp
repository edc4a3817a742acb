// SPDX-License-Identifier: BSD-3-Clause
// Writes results as JSON, and computes medians and rates. Uses no JSON library, so that any MPI's wrapper alone can
// build the measuring program.
#include "results.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace bench {
namespace {

std::string quoted(std::string const& text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + '"';
}

std::string decimal(double time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", time);
    return text;
}

std::string as_json(MessageTime const& time) {
    char text[80];
    std::snprintf(text, sizeof text, "{\"latency\": %.6g, \"per_byte\": %.6g}", time.latency, time.per_byte);
    return text;
}

std::string as_json(Point const& point) {
    std::string out = "{\"operation\": " + quoted(point.operation) + ", \"bytes\": " + std::to_string(point.bytes) +
                      ", \"iterations\": " + std::to_string(point.iterations) +
                      ", \"median\": " + decimal(point.median) + ", \"least\": " + decimal(point.least) +
                      ", \"greatest\": " + decimal(point.greatest) + ", \"tenth\": " + decimal(point.tenth) +
                      ", \"ninetieth\": " + decimal(point.ninetieth);
    if (!point.roots.empty()) {
        out += ", \"roots\": [";
        for (std::size_t i = 0; i < point.roots.size(); ++i) out += (i ? ", " : "") + decimal(point.roots[i]);
        out += "]";
    }
    if (point.hidden >= 0)
        out += ", \"computation\": " + decimal(point.computation) + ", \"both\": " + decimal(point.both) +
               ", \"hidden\": " + decimal(point.hidden);
    if (point.loop >= 0) out += ", \"loop\": " + decimal(point.loop);
    if (point.moved >= 0) out += ", \"moved\": " + decimal(point.moved);
    if (point.between >= 0)
        out += ", \"before\": " + decimal(point.before) + ", \"between\": " + decimal(point.between) +
               ", \"after\": " + decimal(point.after);
    for (auto [name, kernel] : {std::pair{"kernel", &point.kernel}, {"loop_kernel", &point.loop_kernel}})
        if (!kernel->empty()) out += std::string(", \"") + name + "\": " + quoted(*kernel);
    if (!point.algorithm.empty()) out += ", \"algorithm\": " + quoted(point.algorithm);
    return out + "}";
}

std::string as_json(Series const& series) {
    std::string out = "    {\"name\": " + quoted(series.name) + ", \"library\": " + quoted(series.library) +
                      ", \"family\": " + quoted(series.family);
    if (!series.lacks.empty()) {
        out += ", \"lacks\": [";
        for (std::size_t i = 0; i < series.lacks.size(); ++i) out += (i ? ", " : "") + quoted(series.lacks[i]);
        out += "]";
    }
    out += ",\n     \"points\": [";
    for (std::size_t i = 0; i < series.points.size(); ++i)
        out += (i ? ",\n      " : "\n      ") + as_json(series.points[i]);
    return out + "]}";
}

}   // namespace

std::string as_json(Results const& results) {
    std::string out =
        "{\n  \"program\": \"tutti-bench\",\n  \"unit\": \"microseconds, slowest rank\",\n  \"ranks\": " +
        std::to_string(results.ranks) + ",\n  \"cached\": " + (results.cached ? "true" : "false") +
        ",\n  \"overlap\": " + (results.overlap ? "true" : "false") +
        ",\n  \"loop\": " + (results.loop ? "true" : "false") + ",\n  \"clock\": " + decimal(results.clock) +
        (results.one_sided.empty() ? ""
                                   : ",\n  \"one_sided\": " + quoted(results.one_sided) +
                                         ",\n  \"per_sync\": " + std::to_string(results.per_sync)) +
        (results.inside.latency < 0 ? ""
                                    : ",\n  \"nodes\": " + std::to_string(results.nodes) + ",\n  \"inside\": " +
                                          as_json(results.inside) + ",\n  \"between\": " + as_json(results.between)) +
        (results.alpha > 0 ? ",\n  \"alpha\": " + decimal(results.alpha) : "") +
        ",\n  \"processor\": " + quoted(results.processor) + ",\n  \"series\": [";
    for (std::size_t i = 0; i < results.series.size(); ++i) out += (i ? ",\n" : "\n") + as_json(results.series[i]);
    return out + "\n  ]\n}\n";
}

namespace {

struct CsvRow {
    int ranks;
    std::string const& series;
    Point const& point;
};

/// Empty if the time was not measured.
std::string measured(double time) { return time < 0 ? "" : decimal(time); }

/// Returns a time of the roots, if every rank was one.
std::string of_roots(CsvRow const& row, double (*choose)(std::vector<double> const&)) {
    return row.point.roots.empty() ? "" : decimal(choose(row.point.roots));
}

struct CsvColumn {
    char const* name;
    std::string (*cell)(CsvRow const&);
};
constexpr CsvColumn csv_columns[] = {
    {"operation", [](CsvRow const& row) { return row.point.operation; }},
    {"ranks", [](CsvRow const& row) { return std::to_string(row.ranks); }},
    {"bytes", [](CsvRow const& row) { return std::to_string(row.point.bytes); }},
    {"series", [](CsvRow const& row) { return row.series; }},
    {"algorithm", [](CsvRow const& row) { return row.point.algorithm; }},
    {"iterations", [](CsvRow const& row) { return std::to_string(row.point.iterations); }},
    {"median", [](CsvRow const& row) { return decimal(row.point.median); }},
    {"least", [](CsvRow const& row) { return decimal(row.point.least); }},
    {"greatest", [](CsvRow const& row) { return decimal(row.point.greatest); }},
    {"tenth", [](CsvRow const& row) { return decimal(row.point.tenth); }},
    {"ninetieth", [](CsvRow const& row) { return decimal(row.point.ninetieth); }},
    {"loop", [](CsvRow const& row) { return measured(row.point.loop); }},
    {"roots_median", [](CsvRow const& row) { return of_roots(row, [](auto& all) { return median_of(all); }); }},
    {"roots_least", [](CsvRow const& row) { return of_roots(row, [](auto& all) { return std::ranges::min(all); }); }},
    {"roots_greatest",
     [](CsvRow const& row) { return of_roots(row, [](auto& all) { return std::ranges::max(all); }); }},
    {"computation", [](CsvRow const& row) { return measured(row.point.computation); }},
    {"both", [](CsvRow const& row) { return measured(row.point.both); }},
    {"hidden", [](CsvRow const& row) { return measured(row.point.hidden); }},
    {"before", [](CsvRow const& row) { return measured(row.point.before); }},
    {"between", [](CsvRow const& row) { return measured(row.point.between); }},
    {"after", [](CsvRow const& row) { return measured(row.point.after); }},
    {"ideal", [](CsvRow const& row) { return measured(ideal_time(row.point)); }}};

std::string csv_cell(std::string const& text) {
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string cell = "\"";
    for (char c : text) cell += c == '"' ? std::string(2, c) : std::string(1, c);
    return cell + '"';
}

}   // namespace

std::string csv_header() {
    std::string line;
    for (CsvColumn const& column : csv_columns) line += (line.empty() ? "" : ",") + std::string(column.name);
    return line;
}

std::string as_csv(int ranks, std::string const& series, Point const& point) {
    std::string line;
    for (CsvColumn const& column : csv_columns)
        line += (line.empty() ? "" : ",") + csv_cell(column.cell({ranks, series, point}));
    return line;
}

std::string text_of(MessageTime const& time) {
    char text[80];
    std::snprintf(text, sizeof text, "%.2f us + %.3f ns per byte", time.latency, time.per_byte * 1e3);
    return text;
}

double between_percent(Point const& point) {
    double const all = point.before + point.between + point.after;
    return point.between < 0 ? -1 : all > 0 ? 100 * point.between / all : 0;
}
double ideal_time(Point const& point) { return point.between < 0 ? -1 : point.median * between_percent(point) / 100; }

double hidden_percent(Point const& point) {
    if (point.median <= 0) return 0;
    return 100 * std::clamp(1 - (point.both - point.computation) / point.median, 0.0, 1.0);
}

double millions_per_second(Point const& point) { return point.median > 0 ? 1 / point.median : 0; }
double gigabytes_per_second(Point const& point) {
    return point.median > 0 ? double(point.bytes) / point.median * 1e-3 : 0;
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t count = values.size();
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

}   // namespace bench
