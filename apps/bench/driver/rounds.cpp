// SPDX-License-Identifier: BSD-3-Clause
// Measures contestants alternately, round by round.
#include "rounds.hpp"

#include "../../terminal.hpp"
#include "figure.hpp"
#include "results.hpp"
#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <set>
#include <sstream>

namespace bench {
namespace {

using Words = std::vector<std::string>;

/// The operations, and the hints, that one run of the measuring program measures.
struct Part {
    Words operations, hints;
    bool limit, model;
};

struct Configuration {
    std::string name;
    std::string launcher, program;
    Words environment;   ///< settings
    std::vector<Part> parts;
    bool dropped = false;   ///< it exceeded its time or failed, and is not run again
};

void append(Words& words, Words const& more) { words.insert(words.end(), more.begin(), more.end()); }

/// Returns the command line that stands for these settings.
Words measuring_words(Settings const& s) {
    auto text = [](double number) {
        std::ostringstream out;
        out << number;
        return out.str();
    };
    Words words{"--sizes",      std::to_string(s.smallest) + ":" + std::to_string(s.largest),
                "--iterations", std::to_string(s.iterations),
                "--warmup",     std::to_string(s.warmup),
                "--seconds",    text(s.seconds),
                "--root",       s.root_by_root ? "each" : s.root == every_root ? "every" : std::to_string(s.root)};
    if (s.cached) words.push_back("--cached");
    if (!s.check) words.push_back("--no-check");
    if (s.blocks) append(words, {"--blocks", std::to_string(s.blocks)});
    if (s.loop) words.push_back("--loop");
    if (s.bytes_per_call) words.push_back("--bytes-per-call");
    if (s.phases) words.push_back("--phases");
    append(words, {"--window", name_of(s.window), "--sync", name_of(s.sync), "--per-sync", std::to_string(s.per_sync)});
    if (s.overlap)
        append(words, {"--overlap", "--tests", std::to_string(s.tests), "--length", std::to_string(s.length),
                       "--computes", s.computes == every_rank ? "all" : std::to_string(s.computes)});
    return words;
}

Words words_of(Part const& part, Settings const& settings) {
    Words words = measuring_words(settings);
    for (std::string const& hint : part.hints) append(words, {"--hint", hint});
    if (part.limit) words.push_back("--limit");
    if (part.model) words.push_back("--model");
    append(words, part.operations);
    return words;
}

/// Returns the operations in the order in which the measuring program measures them.
Words operations_of(Plan const& plan, std::vector<Candidate> const& candidates) {
    Words wanted = plan.measuring.operations, all;
    for (auto& candidate : candidates) wanted.push_back(candidate.operation);
    for (Operation const* operation : chosen_operations(wanted, plan.measuring)) all.push_back(operation->name);
    return all;
}

/// Returns one run for the operations without candidates, and one for each other operation, so that each is measured
/// with its own hints only.
std::vector<Part> our_parts(Plan const& plan, std::vector<Candidate> const& candidates, Words const& operations) {
    bool const limit = plan.measuring.limit, model = plan.measuring.model;
    Part plain{{}, plan.measuring.hints, limit, model};
    std::vector<Part> parts;
    for (std::string const& operation : operations) {
        Part part{{operation}, plan.measuring.hints, limit, model};
        for (auto& candidate : candidates)
            if (candidate.operation == operation) part.hints.push_back(candidate.hint);
        if (part.hints.size() == plain.hints.size()) plain.operations.push_back(operation);
        else parts.push_back(part);
    }
    if (!plain.operations.empty()) parts.insert(parts.begin(), plain);
    return parts;
}

/// Throws BenchError if mpiexec refuses the settings (TUTTI_STRICT), so that nothing is measured.
void check_settings(Configuration const& configuration, TemporaryFolder const& folder) {
    const ProcessResult result =
        run({{configuration.launcher, "-n", "1", "true"}, configuration.environment}, 60, folder);
    constexpr int refused = 2;
    if (result.code != refused) return;
    const std::string reason = result.errors.substr(0, result.errors.find('\n')), prefix = "mpiexec: ";
    throw BenchError("--with '" + configuration.name +
                     "': " + (reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason));
}

std::vector<Configuration> configurations_of(Plan const& plan, std::vector<Candidate> const& candidates,
                                             std::vector<OtherMpi> const& others, TemporaryFolder const& folder) {
    const Words operations = operations_of(plan, candidates);
    const std::string mpiexec = own_folder() / "mpiexec", program = own_folder() / "tutti-bench";
    if (find_in_path(mpiexec).empty()) throw BenchError("there is no mpiexec beside this tutti-bench, at " + mpiexec);
    std::vector<Configuration> all{
        {plan.against.empty() ? "default" : "Tutti", mpiexec, program, {}, our_parts(plan, candidates, operations)}};
    for (std::string const& setting : plan.settings) {
        std::istringstream words(setting);
        Configuration configuration{setting, mpiexec, program, {}, {{operations, {}, false, false}}};
        for (std::string word; words >> word;) configuration.environment.push_back(word);
        check_settings(configuration, folder);
        all.push_back(configuration);
    }
    for (OtherMpi const& mpi : others)
        all.push_back(
            {mpi.name, mpi.launcher, mpi.program, environment_for_any_mpi(), {{operations, {}, false, false}}});
    return all;
}

/// Returns how many operations and sizes a run measures.
std::size_t measurements_in(Part const& part, Settings const& settings) {
    std::size_t all = 0;
    for (std::string const& operation : part.operations) all += sizes_of(*find_operation(operation), settings).size();
    return all;
}

/// Returns the longest time that the run should take, in seconds: --seconds for each series; the limit has several
/// kernels.
double expected_time(Part const& part, Settings const& s) {
    return 0.3 + double(measurements_in(part, s)) * double(1 + part.hints.size() + (part.limit ? 7 : 0)) *
                     (s.loop ? 2 : 1) * s.seconds;
}

/// The default time limit: twenty seconds, 0.25 seconds per rank (some launchers take that long if ranks share cores),
/// and five times the expected time.
double time_for(Part const& part, Plan const& plan, int ranks) {
    return plan.timeout > 0 ? plan.timeout : 20 + 0.25 * ranks + 5 * expected_time(part, plan.measuring);
}

/// Returns the expected time of all runs, in seconds.
double expected_time(Plan const& plan, std::vector<Configuration> const& configurations) {
    double round = 0;
    for (Configuration const& configuration : configurations)
        for (Part const& part : configuration.parts) round += expected_time(part, plan.measuring);
    return round * plan.rounds * double(plan.numbers_of_ranks().size());
}

/// Prints the program's messages about wrong results.
bool report_wrong_results(std::string const& name, std::string const& output) {
    std::istringstream lines(output);
    bool wrong = false;
    for (std::string line; std::getline(lines, line);)
        if (line.find(" is WRONG: ") != std::string::npos) {
            std::fprintf(stderr, "%s: %s\n", name.c_str(), line.c_str());
            wrong = true;
        }
    return wrong;
}

/// Prints the messages of the ranks, each one once, however many runs there are.
void report_messages(std::string const& errors, std::set<std::string>& reported) {
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);)
        if (reported.insert(line).second) std::fprintf(stderr, "%s\n", line.c_str());
}

/// Returns "MPICH", or "MPICH, 64 ranks" if there are several numbers of ranks.
std::string name_at(Configuration const& configuration, Plan const& plan, int ranks) {
    return configuration.name + (plan.growing() ? ", " + std::to_string(ranks) + " ranks" : "");
}

void report_failure(std::string const& name, ProcessResult const& result, double seconds, bool has_part,
                    bool more_ranks) {
    if (result.timed_out)
        std::fprintf(stderr, "%s: no result within %.0f s%s.\n", name.c_str(), seconds,
                     has_part ? "; its results until then are shown" : "");
    else
        std::fprintf(stderr, "%s: ended with exit code %d.\n%s\n", name.c_str(), result.code,
                     last_lines(result.errors, 10).c_str());
    if (more_ranks) std::fprintf(stderr, "%s: more ranks are not tried.\n", name.c_str());
}

/// State of all runs.
struct Comparison {
    Plan const& plan;
    std::vector<Candidate> const& candidates;
    TemporaryFolder const& folder;
    std::vector<Configuration> configurations;
    bool failed = false;
    apps::Progress& progress;
    double expected = 0, done = 0;   ///< seconds of all runs, and of those before the current one
    std::set<std::string> reported{};
};

/// Returns what the run has measured, also if it was ended early.
Results run_part(Comparison& comparison, Configuration& configuration, Part const& part, int round, int ranks) {
    Plan const& plan = comparison.plan;
    const std::string name = name_at(configuration, plan, ranks);
    auto const show = [&] {
        double const lines = double(measurements_in(part, plan.measuring) * (1 + part.hints.size() + part.limit));
        double const here = std::clamp((lines_printed(comparison.folder) - 1) / lines, 0.0, 1.0);
        comparison.progress.show(
            (comparison.done + here * expected_time(part, plan.measuring)) / comparison.expected,
            "round " + std::to_string(round + 1) + " of " + std::to_string(plan.rounds) + ", " + name);
    };
    const std::filesystem::path file = comparison.folder.path() / "results.json";
    std::error_code absent;
    std::filesystem::remove(file, absent);
    Command command{{configuration.launcher, "-n", std::to_string(ranks), "-bind-to", plan.binding_of(ranks),
                     configuration.program},
                    configuration.environment};
    append(command.arguments, words_of(part, plan.measuring));
    append(command.arguments, {"--csv", "--quiet", "--json", file});
    double const seconds = time_for(part, plan, ranks);
    std::filesystem::remove(comparison.folder.path() / "output", absent);   // of the previous run
    show();
    const ProcessResult result = run(command, seconds, comparison.folder, show);
    comparison.progress.clear();   // messages may follow
    if (report_wrong_results(name, result.output)) {
        comparison.failed = true;
    } else if (result.timed_out || result.code != 0) {
        report_failure(name, result, seconds, std::filesystem::exists(file, absent), ranks * 2 <= plan.max_ranks);
        configuration.dropped = true;
        comparison.failed |= !result.timed_out;
    } else if (auto const at = result.errors.find(": info key tutti_coll"); at != std::string::npos) {
        // The algorithm has rejected a value of --algorithms, which is passed by the info key, or of --hint.
        std::string message = result.errors.substr(at + 2, result.errors.find('\n', at) - at - 2);
        if (!plan.algorithms.empty()) message.replace(0, message.find(':'), "--algorithms");
        throw BenchError(message);
    } else {
        report_messages(result.errors, comparison.reported);
    }
    return std::filesystem::exists(file, absent) ? read_results(file) : Results{};
}

/// Renames the series of a run to their names in the comparison, and sets the families of candidates.
void rename(Results& results, Configuration const& configuration, std::vector<Candidate> const& candidates) {
    for (Series& series : results.series) {
        if (series.name == "default") series.name = configuration.name;
        for (auto& candidate : candidates)
            if (candidate.hint == "tutti_coll=" + series.name) {
                series.name = candidate.name;
                series.family = candidate.family;
                break;
            }
    }
}

/// Removes points that another algorithm has measured: an algorithm that does not support a call leaves it to another
/// one, whose time would appear under its name.
void drop_substituted_points(Results& results, std::vector<Candidate> const& candidates) {
    for (Series& series : results.series)
        for (auto& candidate : candidates)
            if (series.name == candidate.name)
                std::erase_if(series.points, [&](Point const& point) {
                    return point.operation == candidate.operation && point.algorithm != candidate.algorithm;
                });
}

/// Executes all rounds with this number of ranks.
Results run_rounds(Comparison& comparison, int ranks) {
    std::vector<Results> runs;
    for (int round = 0; round < comparison.plan.rounds; ++round)
        for (Configuration& configuration : comparison.configurations)
            for (Part const& part : configuration.parts) {
                if (!configuration.dropped) {
                    Results results = run_part(comparison, configuration, part, round, ranks);
                    rename(results, configuration, comparison.candidates);
                    runs.push_back(std::move(results));
                }
                comparison.done += expected_time(part, comparison.plan.measuring);
            }
    Results all = merge(runs);
    drop_substituted_points(all, comparison.candidates);
    return all;
}

bool has_points(Results const& results) {
    return std::any_of(results.series.begin(), results.series.end(), [](auto& s) { return !s.points.empty(); });
}

std::string counted(std::size_t number, std::string const& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

/// Returns up to four names, or how many there are.
std::string listed(Words const& names, std::string const& noun) {
    if (names.size() > 4) return counted(names.size(), noun);
    std::string all;
    for (std::string const& name : names) all += (all.empty() ? "" : ", ") + name;
    return all;
}

/// Prints what is measured, with how many ranks, what is compared, and how long it takes at most.
void introduce(std::ostream& out, Plan const& plan, std::vector<Candidate> const& candidates,
               std::vector<Configuration> const& configurations) {
    const Words operations = operations_of(plan, candidates);
    Words ranks, compared;
    for (int const number : plan.numbers_of_ranks()) ranks.push_back(std::to_string(number));
    for (Configuration const& configuration : configurations) compared.push_back(configuration.name);
    if (!candidates.empty()) compared.insert(compared.begin() + 1, counted(candidates.size(), "algorithm"));
    out << "Measures " << listed(operations, "operation") << " with "
        << (plan.growing() ? ranks.front() + " to " + ranks.back() : ranks[0])
        << (ranks[0] == "1" && !plan.growing() ? " rank" : " ranks") << " on "
        << counted(std::size_t(plan.cores), "core");
    std::set<std::size_t> sizes;
    for (std::string const& operation : operations)
        for (std::size_t const bytes : sizes_of(*find_operation(operation), plan.measuring)) sizes.insert(bytes);
    sizes.erase(0);   // operations without a size
    if (!sizes.empty()) out << ", " << size_name(*sizes.begin());
    if (sizes.size() > 1) out << " to " << size_name(*sizes.rbegin());
    out << ".\nMeasured in turn, in " << counted(std::size_t(plan.rounds), "round") << ": ";
    for (std::string const& name : compared) out << (&name == &compared[0] ? "" : ", ") << name;
    out << ".\nThis takes at most about " << apps::duration_text(expected_time(plan, configurations)) << ".\n";
}

/// Finds the other MPIs. Their programs are built later.
std::vector<OtherMpi> other_mpis(Plan const& plan, TemporaryFolder const& folder) {
    std::vector<OtherMpi> all;
    for (std::string const& word : plan.against) all.push_back(find_mpi(word));
    for (OtherMpi& mpi : all) mpi.program = folder.path() / ("bench" + std::to_string(&mpi - &all[0]));
    return all;
}

}   // namespace

Measured measure_rounds(Plan const& plan, std::vector<Candidate> const& candidates, std::ostream& introduction,
                        TemporaryFolder const& folder) {
    const std::vector<OtherMpi> others = other_mpis(plan, folder);
    const std::vector<Configuration> configurations = configurations_of(plan, candidates, others, folder);
    introduce(introduction, plan, candidates, configurations);
    for (OtherMpi const& mpi : others)
        introduction << mpi.name << ": " << build_with(mpi, mpi.program, folder) << std::endl;
    if (!candidates.empty()) print_legend(introduction, candidates);
    introduction << std::endl;
    double const expected = expected_time(plan, configurations);
    apps::Progress progress("tutti-bench", expected, plan.measuring.quiet);
    Comparison comparison{plan, candidates, folder, configurations, false, progress, expected};
    Measured measured;
    measured.growth.cores = plan.growing() ? plan.cores : 0;
    for (int ranks : plan.numbers_of_ranks())
        if (Results results = run_rounds(comparison, ranks); has_points(results))
            measured.growth.runs.push_back(std::move(results));
    if (measured.growth.runs.empty() || measured.growth.runs[0].series[0].points.empty())
        throw BenchError("nothing was measured");
    measured.failed = comparison.failed;
    return measured;
}

}   // namespace bench
