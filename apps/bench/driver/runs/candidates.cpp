// SPDX-License-Identifier: BSD-3-Clause
#include "candidates.hpp"

#include "../../program/operations/operation.hpp"
#include "../complaint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace bench {
namespace {

using nlohmann::json;

json algorithms_from_info(const std::string &collective, int ranks, const TemporaryFolder &folder)
{
    const std::string info = own_folder() / "tutti-info";
    const Ending ending = run(
        {{info, "--algorithms", collective, "--json", "--ranks", std::to_string(ranks)}, {}}, 60, folder);
    if (ending.code != 0)
        throw Complaint("no list of algorithms from " + info + ": " + last_lines(ending.errors, 1));
    return json::parse(ending.output).at("algorithms");
}

std::string joined(const std::vector<std::string> &words)
{
    std::string all;
    for (auto &word : words)
        all += (all.empty() ? "" : ", ") + word;
    return all;
}

Candidate make_candidate(const std::string &operation, const std::string &parameters, const json &algorithm)
{
    Candidate c;
    c.operation = operation;
    c.name = algorithm.at("name").get<std::string>() + parameters;
    c.hint = "tutti_coll=" + find_operation(operation)->collective() + "=" + c.name;
    c.family = algorithm.at("family");
    c.sentence = algorithm.at("sentence");
    c.source = algorithm.at("source");
    return c;
}

// ":chunk=16K:share=4K" of an algorithm that has such parameters.
void check_parameters(const std::string &entry, const std::string &parameters, const json &algorithm)
{
    std::vector<std::string> names;
    for (auto &parameter : algorithm.at("parameters"))
        names.push_back(parameter.at("name"));
    const std::string algorithm_name = algorithm.at("name");
    std::istringstream words(parameters.empty() ? "" : parameters.substr(1));
    for (std::string word; std::getline(words, word, ':');) {
        const std::size_t equals = word.find('=');
        if (std::find(names.begin(), names.end(), word.substr(0, equals)) == names.end())
            throw Complaint("in " + entry + ", " + algorithm_name + " has no parameter " + word.substr(0, equals) +
                            (names.empty() ? "" : "; it has " + joined(names)));
        if (equals == std::string::npos || equals + 1 == word.size())
            throw Complaint("in " + entry + ", " + word + " lacks its value, such as " + word + "=16K");
    }
}

void add_candidates(const std::string &entry, int ranks, const TemporaryFolder &folder, std::vector<Candidate> &all)
{
    const std::size_t colon = entry.find(':'), second = entry.find(':', colon + 1);
    const std::string operation = entry.substr(0, colon);
    const Operation *const known = find_operation(operation);
    if (!known)
        throw Complaint("there is no operation " + operation + "; --help lists them");
    if (operation == "pingpong" || operation == "sendrecv" || known->examine)
        throw Complaint(operation + " has no algorithms to choose from; --with compares settings such as "
                                    "TUTTI_EAGER=4K");
    const json algorithms = algorithms_from_info(known->collective(), ranks, folder);
    if (colon == std::string::npos) {
        for (auto &algorithm : algorithms)
            // The benchmark has no intercommunicators, and compares on one node.
            if (!algorithm.at("two_groups") && algorithm.at("one_node"))
                all.push_back(make_candidate(operation, "", algorithm));
        return;
    }
    const std::string name = entry.substr(colon + 1, second == std::string::npos ? second : second - colon - 1);
    const std::string parameters = second == std::string::npos ? "" : entry.substr(second);
    std::vector<std::string> names;
    for (auto &algorithm : algorithms) {
        names.push_back(algorithm.at("name"));
        if (names.back() != name)
            continue;
        if (algorithm.at("two_groups"))
            throw Complaint(entry + " is for intercommunicators, which are not measured");
        check_parameters(entry, parameters, algorithm);
        all.push_back(make_candidate(operation, parameters, algorithm));
        return;
    }
    throw Complaint(operation + " has no algorithm " + name + "; it has " + joined(names));
}

} // namespace

std::vector<Candidate> candidates_of(const std::vector<std::string> &entries, int ranks, const TemporaryFolder &folder)
{
    std::vector<Candidate> all;
    for (const std::string &entry : entries)
        add_candidates(entry, ranks, folder, all);
    return all;
}

} // namespace bench
