// SPDX-License-Identifier: BSD-3-Clause
#include "contest.hpp"

#include "../complaint.hpp"
#include "../merge.hpp"
#include "other_mpi.hpp"
#include "../read.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <unistd.h>

namespace bench {
namespace {

using Words = std::vector<std::string>;

// What one run of the measuring program measures: some operations, with some hints.
struct Part {
    Words operations, hints;
    bool limit;
};

struct Contestant {
    std::string name;
    std::string launcher, program;
    Words environment; // settings
    std::vector<Part> parts;
    bool out = false;  // it took too long or failed, and is not asked again
};

void append(Words &words, const Words &more) { words.insert(words.end(), more.begin(), more.end()); }

// The command line that means these settings.
Words measuring_words(const Settings &s)
{
    auto text = [](double number) {
        std::ostringstream out;
        out << number;
        return out.str();
    };
    Words words{"--sizes", std::to_string(s.smallest) + ":" + std::to_string(s.largest), "--iterations",
                std::to_string(s.iterations), "--warmup", std::to_string(s.warmup), "--seconds", text(s.seconds),
                "--root", s.root_by_root ? "each" : s.root == every_root ? "every" : std::to_string(s.root)};
    if (s.cached)
        words.push_back("--cached");
    if (!s.check)
        words.push_back("--no-check");
    if (s.blocks)
        append(words, {"--blocks", std::to_string(s.blocks)});
    if (s.loop)
        words.push_back("--loop");
    append(words, {"--window", name_of(s.window), "--sync", name_of(s.sync), "--per-sync", std::to_string(s.per_sync)});
    if (s.overlap)
        append(words, {"--overlap", "--tests", std::to_string(s.tests), "--length", std::to_string(s.length),
                       "--computes", s.computes == every_rank ? "all" : std::to_string(s.computes)});
    return words;
}

Words words_of(const Part &part, const Settings &settings)
{
    Words words = measuring_words(settings);
    for (const std::string &hint : part.hints)
        append(words, {"--hint", hint});
    if (part.limit)
        words.push_back("--limit");
    append(words, part.operations);
    return words;
}

// The operations in the order in which the measuring program takes them.
Words operations_of(const Plan &plan, const std::vector<Candidate> &candidates)
{
    Words wanted = plan.measuring.operations, all;
    for (auto &candidate : candidates)
        wanted.push_back(candidate.operation);
    for (const Operation *operation : chosen_operations(wanted, plan.measuring))
        all.push_back(operation->name);
    return all;
}

// One run for the operations without candidates, and one for each other, so that each meets its own hints only.
std::vector<Part> our_parts(const Plan &plan, const std::vector<Candidate> &candidates, const Words &operations)
{
    Part plain{{}, plan.measuring.hints, plan.measuring.limit};
    std::vector<Part> parts;
    for (const std::string &operation : operations) {
        Part part{{operation}, plan.measuring.hints, plan.measuring.limit};
        for (auto &candidate : candidates)
            if (candidate.operation == operation)
                part.hints.push_back(candidate.hint);
        if (part.hints.size() == plain.hints.size())
            plain.operations.push_back(operation);
        else
            parts.push_back(part);
    }
    if (!plain.operations.empty())
        parts.insert(parts.begin(), plain);
    return parts;
}

std::vector<Contestant> contestants_of(const Plan &plan, const std::vector<Candidate> &candidates,
                                       const TemporaryFolder &folder)
{
    const Words operations = operations_of(plan, candidates);
    const std::string mpiexec = own_folder() / "mpiexec", program = own_folder() / "tutti-bench";
    if (find_in_path(mpiexec).empty())
        throw Complaint("there is no mpiexec beside this tutti-bench, at " + mpiexec);
    std::vector<Contestant> all{{plan.against.empty() ? "default" : "Tutti", mpiexec, program, {},
                                 our_parts(plan, candidates, operations)}};
    for (const std::string &setting : plan.settings) {
        std::istringstream words(setting);
        Contestant contestant{setting, mpiexec, program, {}, {{operations, {}, false}}};
        for (std::string word; words >> word;)
            contestant.environment.push_back(word);
        all.push_back(contestant);
    }
    std::vector<OtherMpi> others;
    for (const std::string &word : plan.against)
        others.push_back(find_mpi(word));
    for (const OtherMpi &mpi : others) {
        const std::string executable = folder.path() / ("bench" + std::to_string(all.size()));
        all.push_back({mpi.name, mpi.launcher, build_with(mpi, executable, folder), environment_for_any_mpi(),
                       {{operations, {}, false}}});
    }
    return all;
}

// Twenty seconds, a quarter of one for each rank (some launchers take that long where ranks share cores), and five
// times what the run should take at most.
double time_for(const Part &part, const Plan &plan, int ranks)
{
    if (plan.timeout > 0)
        return plan.timeout;
    const Settings &s = plan.measuring;
    int sizes = 1;
    for (std::size_t bytes = s.smallest; bytes > 0 && bytes * 2 <= s.largest; bytes *= 2)
        ++sizes;
    const double lines = double(part.operations.size()) * sizes;
    return 20 + 0.25 * ranks +
           5 * lines * double(1 + part.hints.size() + (part.limit ? 7 : 0)) * (s.loop ? 2 : 1) * s.seconds;
}

// What the program says of wrong results.
bool tell_wrong_results(const std::string &name, const std::string &output)
{
    std::istringstream lines(output);
    bool wrong = false;
    for (std::string line; std::getline(lines, line);)
        if (line.find(" is WRONG: ") != std::string::npos) {
            std::fprintf(stderr, "%s: %s\n", name.c_str(), line.c_str());
            wrong = true;
        }
    return wrong;
}

// What the ranks have said, each sentence once, however many runs there are.
void tell(const std::string &errors, std::set<std::string> &told)
{
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);)
        if (told.insert(line).second)
            std::fprintf(stderr, "%s\n", line.c_str());
}

// "MPICH", or "MPICH, 64 ranks" where there are several numbers of them.
std::string name_at(const Contestant &contestant, const Plan &plan, int ranks)
{
    return contestant.name + (plan.growing() ? ", " + std::to_string(ranks) + " ranks" : "");
}

void tell_failure(const std::string &name, const Ending &ending, double seconds, bool has_part, bool more_ranks)
{
    if (ending.late)
        std::fprintf(stderr, "%s: no result within %.0f s%s.\n", name.c_str(), seconds,
                     has_part ? "; what it had until then is shown" : "");
    else
        std::fprintf(stderr, "%s: ended with exit code %d.\n%s\n", name.c_str(), ending.code,
                     last_lines(ending.errors, 10).c_str());
    if (more_ranks)
        std::fprintf(stderr, "%s: more ranks are not tried.\n", name.c_str());
}

// What takes part in all runs.
struct Contest {
    const Plan &plan;
    const std::vector<Candidate> &candidates;
    const TemporaryFolder &folder;
    std::vector<Contestant> contestants;
    bool failed = false;
    std::set<std::string> told;
};

// What the run has measured, all of it or what it had before it was ended.
Results run_part(Contest &contest, Contestant &contestant, const Part &part, int ranks)
{
    const Plan &plan = contest.plan;
    const std::filesystem::path file = contest.folder.path() / "results.json";
    std::error_code absent;
    std::filesystem::remove(file, absent);
    Command command{{contestant.launcher, "-n", std::to_string(ranks), "-bind-to", plan.binding_of(ranks),
                     contestant.program},
                    contestant.environment};
    append(command.words, words_of(part, plan.measuring));
    append(command.words, {"--json", file});
    const double seconds = time_for(part, plan, ranks);
    const Ending ending = run(command, seconds, contest.folder);
    const std::string name = name_at(contestant, plan, ranks);
    if (tell_wrong_results(name, ending.output)) {
        contest.failed = true;
    } else if (ending.late || ending.code != 0) {
        tell_failure(name, ending, seconds, std::filesystem::exists(file, absent), ranks * 2 <= plan.most_ranks);
        contestant.out = true;
        contest.failed |= !ending.late;
    } else if (const auto at = ending.errors.find(": info key tutti_coll"); at != std::string::npos) {
        // A value that the algorithm does not understand.
        throw Complaint(ending.errors.substr(at + 2, ending.errors.find('\n', at) - at - 2));
    } else {
        tell(ending.errors, contest.told);
    }
    return std::filesystem::exists(file, absent) ? read_results(file) : Results{};
}

void show_progress(const std::string &text)
{
    if (isatty(STDERR_FILENO))
        std::fprintf(stderr, "\r%-70s%s", text.c_str(), text.empty() ? "\r" : "");
}

// What a run calls its series, as the comparison calls them; and the candidates' families.
void rename(Results &results, const Contestant &contestant, const std::vector<Candidate> &candidates)
{
    for (Series &series : results.series) {
        if (series.name == "default")
            series.name = contestant.name;
        for (auto &candidate : candidates)
            if (candidate.hint == "tutti_coll=" + series.name) {
                series.name = candidate.name;
                series.family = candidate.family;
                break;
            }
    }
}

// An algorithm that cannot do a call leaves it to another one, whose time would stand under its name.
void drop_what_another_did(Results &results, const std::vector<Candidate> &candidates)
{
    for (Series &series : results.series)
        for (auto &candidate : candidates)
            if (series.name == candidate.name)
                std::erase_if(series.points, [&](const Point &point) {
                    return point.operation == candidate.operation &&
                           point.algorithm != candidate.name.substr(0, candidate.name.find(':'));
                });
}

// All rounds with this number of ranks.
Results hold_rounds(Contest &contest, int ranks)
{
    std::vector<Results> runs;
    for (int round = 0; round < contest.plan.rounds; ++round)
        for (Contestant &contestant : contest.contestants)
            for (const Part &part : contestant.parts) {
                if (contestant.out)
                    continue;
                show_progress("Round " + std::to_string(round + 1) + " of " + std::to_string(contest.plan.rounds) +
                              ": " + name_at(contestant, contest.plan, ranks) + " ...");
                Results results = run_part(contest, contestant, part, ranks);
                rename(results, contestant, contest.candidates);
                runs.push_back(std::move(results));
            }
    show_progress("");
    Results all = merge(runs);
    drop_what_another_did(all, contest.candidates);
    return all;
}

bool has_points(const Results &results)
{
    return std::any_of(results.series.begin(), results.series.end(), [](auto &s) { return !s.points.empty(); });
}

} // namespace

Measured hold_contest(const Plan &plan, const std::vector<Candidate> &candidates, const TemporaryFolder &folder)
{
    Contest contest{plan, candidates, folder, contestants_of(plan, candidates, folder), false, {}};
    Measured measured;
    measured.growth.cores = plan.growing() ? plan.cores : 0;
    for (int ranks : plan.numbers_of_ranks())
        if (Results results = hold_rounds(contest, ranks); has_points(results))
            measured.growth.runs.push_back(std::move(results));
    if (measured.growth.runs.empty() || measured.growth.runs[0].series[0].points.empty())
        throw Complaint("nothing was measured");
    measured.failed = contest.failed;
    return measured;
}

} // namespace bench
