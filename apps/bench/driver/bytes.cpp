// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a call beside the formula in the record of its algorithm, which tutti-info evaluates.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ostream>

#include "../program/operation.hpp"
#include "table.hpp"

namespace bench {
namespace {

using nlohmann::json;

/// Returns what tutti-info says about the call; null if it cannot say anything. `request`: the value of TUTTI_COLL.
json explained(Point const& point, int ranks, int root, std::string const& request, TemporaryFolder const& folder) {
    Operation const* const operation = find_operation(point.operation);
    const std::string collective = operation ? operation->collective() : "";
    if (point.operation != collective && point.operation != "reduce_scatter_block") return nullptr;
    bool const per_rank = collective == "reduce_scatter";   // the size is that of a part, s that of the vector
    Command command{{own_folder() / "tutti-info", "--json", "--why", collective, "--bytes",
                     std::to_string(per_rank ? point.bytes * std::size_t(ranks) : point.bytes), "-n",
                     std::to_string(ranks), "--root", std::to_string(root)},
                    {}};
    if (!request.empty()) command.environment.push_back("TUTTI_COLL=" + request);
    const ProcessResult result = run(command, 60, folder);
    if (result.code != 0) throw BenchError("no explanation by tutti-info: " + last_lines(result.errors, 1));
    json const why = json::parse(result.output);
    return why.at("algorithm") == point.algorithm ? why : json(nullptr);
}

std::string request_of(Series const& series, std::string const& operation, std::vector<Candidate> const& candidates) {
    for (Candidate const& candidate : candidates)
        if (candidate.operation == operation && candidate.name == series.name)
            return candidate.hint.substr(candidate.hint.find('=') + 1);
    return "";
}

}   // namespace

void print_bytes(std::ostream& out, Results const& results, int root, std::vector<Candidate> const& candidates,
                 TemporaryFolder const& folder) {
    for (std::string const& operation : operations_in(results)) {
        out << "\n"
            << operation << ", " << results.ranks << " ranks: bytes that all ranks load and store in one call\n";
        char line[256];
        std::snprintf(line, sizeof line, "%-24s %10s %14s %14s\n", "algorithm", "bytes", "counted", "formula");
        out << line;
        for (Series const& series : results.series)
            for (Point const& point : series.points) {
                if (point.operation != operation) continue;
                json const why =
                    explained(point, results.ranks, root, request_of(series, operation, candidates), folder);
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
