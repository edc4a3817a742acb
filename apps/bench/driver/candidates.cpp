// SPDX-License-Identifier: BSD-3-Clause
// The algorithms and the other MPIs that the driver compares with.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "../program/operation.hpp"
#include "results.hpp"
#include "rounds.hpp"

namespace bench {
namespace {

using nlohmann::json;

json algorithms_from_info(std::string const& collective, int ranks, TemporaryFolder const& folder) {
    const std::string info = own_folder() / "tutti-info";
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

Candidate make_candidate(std::string const& operation, std::string const& parameters, json const& algorithm) {
    Candidate c;
    c.operation = operation;
    c.name = algorithm.at("name").get<std::string>() + parameters;
    c.hint = "tutti_coll=" + find_operation(operation)->collective() + "=" + c.name;
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
                all.push_back(make_candidate(operation, "", algorithm));
        return;
    }
    const std::string name = entry.substr(colon + 1, second == std::string::npos ? second : second - colon - 1);
    const std::string parameters = second == std::string::npos ? "" : entry.substr(second);
    std::vector<std::string> names;
    for (auto& algorithm : algorithms) {
        names.push_back(algorithm.at("name"));
        if (names.back() != name) continue;
        if (algorithm.at("two_groups")) throw BenchError(entry + " is for intercommunicators, which are not measured");
        check_parameters(entry, parameters, algorithm);
        all.push_back(make_candidate(operation, parameters, algorithm));
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

namespace {

struct KnownMpi {
    char const *word, *name, *packages;
};
constexpr KnownMpi known_mpis[] = {{"mpich", "MPICH", "mpich and libmpich-dev"},
                                   {"openmpi", "Open MPI", "openmpi-bin and libopenmpi-dev"}};

/// Returns the sources of the measuring program: those installed beside the executable, or those it was built from.
std::vector<std::string> sources() {
    const std::filesystem::path folders[] = {(own_folder() / TUTTI_SOURCES_FROM_PROGRAMS).lexically_normal(),
                                             TUTTI_BENCH_SOURCES};
    for (auto& folder : folders) {
        std::vector<std::string> files;
        std::error_code none;
        std::filesystem::recursive_directory_iterator entry(folder, none);
        for (; !none && entry != std::filesystem::recursive_directory_iterator(); entry.increment(none))
            if (entry->path().extension() == ".cpp") files.push_back(entry->path());
        std::sort(files.begin(), files.end());
        if (!files.empty()) return files;
    }
    throw BenchError("the benchmark's sources are neither installed nor at " TUTTI_BENCH_SOURCES
                     ", so it cannot be built with another MPI");
}

}   // namespace

OtherMpi find_mpi(std::string const& word) {
    if (word.find('/') != std::string::npos) {
        const std::filesystem::path wrapper = word;
        OtherMpi mpi{word, find_in_path(word), find_in_path(wrapper.parent_path() / "mpiexec")};
        if (mpi.wrapper.empty()) throw BenchError(word + " is no executable file");
        if (mpi.launcher.empty()) throw BenchError("there is no mpiexec beside " + word);
        return mpi;
    }
    OtherMpi mpi{word, find_in_path("mpicxx." + word), find_in_path("mpiexec." + word)};
    auto const found = std::find_if(std::begin(known_mpis), std::end(known_mpis),
                                    [&](KnownMpi const& known) { return word == known.word; });
    if (found != std::end(known_mpis)) mpi.name = found->name;
    if (!mpi.wrapper.empty() && !mpi.launcher.empty()) return mpi;
    const std::string missing = (mpi.wrapper.empty() ? "mpicxx." : "mpiexec.") + word;
    throw BenchError("there is no " + missing + " in PATH; " +
                     (found == std::end(known_mpis)
                          ? "name its mpicxx by the path"
                          : std::string("Debian's packages ") + found->packages + " have it"));
}

std::string build_with(OtherMpi const& mpi, std::string const& executable, TemporaryFolder const& folder) {
    const std::vector<std::string> files = sources();
    auto const program = std::filesystem::path(files[0]).parent_path();
    std::fprintf(stderr, "Building %s with %s ...\n", program.c_str(), mpi.wrapper.c_str());
    // Compiled as one file, which takes a third of the time.
    const std::string all = executable + ".cpp";
    {
        std::ofstream out(all);
        for (std::string const& file : files) out << "#include \"" << file << "\"\n";
    }
    const ProcessResult result = run({{mpi.wrapper, "-std=c++20", "-O2", all, "-o", executable}, {}}, 600, folder);
    if (result.timed_out) throw BenchError(mpi.wrapper + " had not built the benchmark after ten minutes");
    if (result.code != 0) {
        std::string needs;
        for (KnownMpi const& known : known_mpis)
            if (mpi.name == known.name) needs = std::string(" (it needs Debian's packages ") + known.packages + ")";
        throw BenchError(mpi.wrapper + " could not build the benchmark" + needs + ":\n" +
                         last_lines(result.errors, 10));
    }
    return executable;
}

std::vector<std::string> environment_for_any_mpi() {
    return {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
            "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"};
}

}   // namespace bench
