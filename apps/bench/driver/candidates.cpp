// SPDX-License-Identifier: BSD-3-Clause
// The algorithms that the driver compares.
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <sstream>

#include "../program/operation.hpp"
#include "results.hpp"
#include "rounds.hpp"

namespace bench {
namespace {

using nlohmann::json;

json algorithms_from_info(std::string const& collective, int ranks, TemporaryFolder const& folder) {
    const std::string info = own_folder() / "tutti-info";
    if (access(info.c_str(), X_OK) != 0)
        throw BenchError(info + " is missing, which lists the algorithms; ninja -C build tutti-info builds it");
    const ProcessResult result =
        run({{info, "--algorithms", collective, "--json", "--ranks", std::to_string(ranks)}, {}}, 60, folder);
    if (result.code != 0) throw BenchError("no list of algorithms from " + info + ": " + last_lines(result.errors, 1));
    return json::parse(result.output).at("algorithms");
}

std::string joined(std::vector<std::string> const& words) {
    std::string all;
    for (auto& word : words) all += (all.empty() ? "" : ", ") + word;
    return all;
}

/// `name`: of the algorithm or one of its presets.
Candidate make_candidate(std::string const& operation, std::string const& name, std::string const& parameters,
                         json const& algorithm) {
    Candidate c;
    c.operation = operation;
    c.name = name + parameters;
    c.hint = "tutti_coll=" + find_operation(operation)->collective() + "=" + c.name;
    c.algorithm = algorithm.at("name");
    c.family = algorithm.at("family");
    c.description = algorithm.at("description");
    c.source = algorithm.at("source");
    return c;
}

/// Checks parameters such as ":chunk=16K:share=4K" against those of the algorithm. Throws BenchError.
void check_parameters(std::string const& entry, std::string const& parameters, json const& algorithm) {
    std::vector<std::string> names;
    for (auto& parameter : algorithm.at("parameters")) names.push_back(parameter.at("name"));
    const std::string algorithm_name = algorithm.at("name");
    std::istringstream words(parameters.empty() ? "" : parameters.substr(1));
    for (std::string word; std::getline(words, word, ':');) {
        const std::size_t equals = word.find('=');
        if (std::find(names.begin(), names.end(), word.substr(0, equals)) == names.end())
            throw BenchError("in " + entry + ", " + algorithm_name + " has no parameter " + word.substr(0, equals) +
                             (names.empty() ? "" : "; it has " + joined(names)));
        if (equals == std::string::npos || equals + 1 == word.size())
            throw BenchError("in " + entry + ", " + word + " lacks its value, such as " + word + "=16K");
    }
}

void add_candidates(std::string const& entry, int ranks, TemporaryFolder const& folder, std::vector<Candidate>& all) {
    const std::size_t colon = entry.find(':'), second = entry.find(':', colon + 1);
    const std::string operation = entry.substr(0, colon);
    Operation const* const known = find_operation(operation);
    if (!known) throw BenchError(unknown_operation(operation));
    if (operation == "pingpong" || operation == "sendrecv" || known->check_result)
        throw BenchError(operation +
                         " has no algorithms to choose from; --with compares settings such as "
                         "TUTTI_EAGER=4K");
    const json algorithms = algorithms_from_info(known->collective(), ranks, folder);
    if (colon == std::string::npos) {
        for (auto& algorithm : algorithms)
            // The benchmark does not measure intercommunicators, and compares algorithms on one node.
            if (!algorithm.at("two_groups") && algorithm.at("one_node"))
                all.push_back(make_candidate(operation, algorithm.at("name"), "", algorithm));
        return;
    }
    const std::string name = entry.substr(colon + 1, second == std::string::npos ? second : second - colon - 1);
    const std::string parameters = second == std::string::npos ? "" : entry.substr(second);
    std::vector<std::string> names;
    for (auto& algorithm : algorithms) {
        const std::size_t first = names.size();
        names.push_back(algorithm.at("name"));
        for (auto& preset : algorithm.at("presets")) names.push_back(preset.at("name"));
        if (std::find(names.begin() + std::ptrdiff_t(first), names.end(), name) == names.end()) continue;
        if (algorithm.at("two_groups")) throw BenchError(entry + " is for intercommunicators, which are not measured");
        check_parameters(entry, parameters, algorithm);
        all.push_back(make_candidate(operation, name, parameters, algorithm));
        return;
    }
    const std::string hint = tutti::topo::nearest_hint(name, names);
    throw BenchError(operation + " has no algorithm " + name + (hint.empty() ? "; it has " + joined(names) : hint));
}

}   // namespace

std::vector<Candidate> candidates_of(std::vector<std::string> const& entries, int ranks,
                                     TemporaryFolder const& folder) {
    std::vector<Candidate> all;
    for (std::string const& entry : entries) add_candidates(entry, ranks, folder, all);
    return all;
}

}   // namespace bench
