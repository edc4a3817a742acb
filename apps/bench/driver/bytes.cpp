// SPDX-License-Identifier: BSD-3-Clause
// The bytes and the times of calls beside the formulas in the records of their algorithms, which tutti-info evaluates.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ostream>

#include "../program/operation.hpp"
#include "table.hpp"

namespace bench {
namespace {

using nlohmann::json;

/// Returns what tutti-info says about the call; null if it cannot say anything. `request`: the value of TUTTI_COLL;
/// `more`: further arguments.
json explained(Point const& point, int ranks, int root, std::string const& request, TemporaryFolder const& folder,
               std::vector<std::string> const& more = {}) {
    Operation const* const operation = find_operation(point.operation);
    const std::string collective = operation ? operation->collective() : "";
    if (point.operation != collective && point.operation != "reduce_scatter_block") return nullptr;
    bool const per_rank = collective == "reduce_scatter";   // the size is that of a part, s that of the vector
    Command command{{own_folder() / "tutti-info", "--json", "--why", collective, "--bytes",
                     std::to_string(per_rank ? point.bytes * std::size_t(ranks) : point.bytes), "-n",
                     std::to_string(ranks), "--root", std::to_string(root)},
                    {}};
    command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    if (!request.empty()) command.environment.push_back("TUTTI_COLL=" + request);
    const ProcessResult result = run(command, 60, folder);
    if (result.code != 0) throw BenchError("no explanation by tutti-info: " + last_lines(result.errors, 1));
    json const why = json::parse(result.output);
    return why.at("algorithm") == point.algorithm ? why : json(nullptr);
}

/// Returns the value of TUTTI_COLL for which a series of algorithms stands: one of --algorithms, or of --hint.
std::string request_of(Series const& series, std::string const& operation) {
    if (is_algorithm(series)) return find_operation(operation)->collective() + "=" + series.name;
    return find_operation(series.name.substr(0, series.name.find('='))) ? series.name : "";
}

}   // namespace

void add_models(Results& results, double alpha, int root, TemporaryFolder const& folder) {
    std::erase_if(results.series, is_model);
    if (results.inside.latency < 0) return;
    results.alpha = alpha;
    auto const text = [](MessageTime const& time) {
        return number(time.latency, "%.9g") + ":" + number(time.per_byte, "%.9g");
    };
    const std::vector<std::string> messages{
        "--nodes", std::to_string(results.nodes), "--message-times",
        text(results.inside) + "," + text(results.between) + "," + number(alpha, "%.9g")};
    std::string const library = results.series.empty() ? "" : results.series[0].library;
    std::vector<Series> all;
    for (Series const& series : results.series) {
        all.push_back(series);
        Series model{series.name + model_ending, "", "", {}, {}};
        // Messages of other MPIs, and with the settings of --with, may take other times.
        bool const ours = series.library == library && series.name.find("TUTTI_") == std::string::npos;
        for (Point const& point : series.points) {
            if (!ours || point.algorithm.empty()) continue;
            json const why =
                explained(point, results.ranks, root, request_of(series, point.operation), folder, messages);
            if (why.is_null() || why.at("time").is_null()) continue;
            double const time = why.at("time");
            model.points.push_back({point.operation, point.bytes, 0, time, time, time, time, time});
        }
        if (!model.points.empty()) all.push_back(model);
    }
    results.series = std::move(all);
}

void print_bytes(std::ostream& out, Results const& results, int root, TemporaryFolder const& folder) {
    for (std::string const& operation : operations_in(results)) {
        out << "\n"
            << operation << ", " << results.ranks << " ranks: bytes that all ranks load and store in one call\n";
        char line[256];
        std::snprintf(line, sizeof line, "%-24s %10s %14s %14s\n", "algorithm", "bytes", "counted", "formula");
        out << line;
        for (Series const& series : results.series)
            for (Point const& point : series.points) {
                if (point.operation != operation || is_model(series)) continue;
                json const why = explained(point, results.ranks, root, request_of(series, operation), folder);
                auto const states = [&why](char const* field) { return !why.is_null() && !why.at(field).is_null(); };
                const std::string value =
                                      states("bytes") ? std::to_string(why.at("bytes").get<unsigned long long>()) : "-",
                                  formula = states("formula") ? why.at("formula").get<std::string>() : "not stated",
                                  counted = point.moved >= 0 ? number(point.moved, "%.0f") : "-";
                std::snprintf(line, sizeof line, "%-24s %10zu %14s %14s  ", series.name.c_str(), point.bytes,
                              counted.c_str(), value.c_str());
                out << line << formula << "\n";   // a formula may have any length
            }
    }
}

}   // namespace bench
