// SPDX-License-Identifier: BSD-3-Clause
// tutti-bench. Started by a launcher, it is one rank of the measuring program; started by hand, it is the driver,
// which starts the ranks itself.
#include "../../output_file.hpp"
#include "../../terminal.hpp"
#include "../program/settings.hpp"
#include "figure.hpp"
#include "results.hpp"
#include "rounds.hpp"
#include "table.hpp"

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>

namespace bench {

// The command line of the driver.

namespace {

using apps::read_number;

constexpr double not_given = -1;
constexpr int rank_limit = 4096;

/// Counts cores rather than hardware threads: measurements of ranks that share a core are meaningless.
int usable_cores() {
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
    std::set<std::string> cores;
    for (int unit = 0; unit < CPU_SETSIZE; ++unit) {
        if (!CPU_ISSET(unit, &mine)) continue;
        const std::string name = std::to_string(unit);
        std::ifstream file("/sys/devices/system/cpu/cpu" + name + "/topology/thread_siblings_list");
        std::string siblings;
        cores.insert(std::getline(file, siblings) ? siblings : name);
    }
    return int(cores.size());
}

/// Adds the words of "a,b" to a list.
auto parse_list(std::vector<std::string>& list) {
    return [&list](std::string const& text) {
        std::istringstream words(text);
        for (std::string word; std::getline(words, word, ',');) list.push_back(word);
        return !text.empty() && std::find(list.begin(), list.end(), "") == list.end();
    };
}

bool parse_settings(std::string const& text, std::vector<std::string>& list) {
    list.push_back(text);
    std::istringstream words(text);
    int number = 0;
    for (std::string word; words >> word; ++number)
        if (word.find('=') == std::string::npos || word[0] == '=') return false;
    return number > 0;
}

/// Parses "4" or "2:256".
bool read_ranks(std::string const& text, Plan& plan) {
    auto const colon = text.find(':');
    return read_number(text.substr(0, colon), 1, rank_limit, plan.ranks) &&
           read_number(colon == std::string::npos ? text : text.substr(colon + 1), plan.ranks, rank_limit,
                       plan.max_ranks);
}

}   // namespace

std::vector<Option> driver_options(Plan& plan) {
    return {
        {"-n", "N|FROM:TO",
         "a number of ranks such as 4, or numbers such as 2:256, up to " + std::to_string(rank_limit),
         "number of ranks (default: the number of cores, at least 2). FROM:TO measures at FROM ranks, at twice as "
         "many, and so on up to TO (8 bytes unless --sizes is given), and prints how the time grows: 'work', a core's "
         "time per rank and call, is time x min(ranks, cores) / ranks. It is constant if the time is proportional to "
         "the number of ranks p, and grows by a constant with each doubling if the time is proportional to p log p. "
         "'slope' is the power of p with which the time has grown since the previous line; the last column shows that "
         "of p log p",
         [&plan](auto& text) { return read_ranks(text, plan); }, "number of ranks"},
        {"--bind-to", "WHAT", "a word such as core",
         "how every launcher binds its ranks (core if there is one per rank, otherwise none)",
         [&plan](auto& text) {
             plan.binding = text;
             return !text.empty();
         }},
        {"--algorithms", "ALGORITHMS", "a list such as allreduce,bcast:slots",
         "compare algorithms. Each entry is an operation, for all its algorithms, or one algorithm with optional "
         "parameters: bcast:hierarchical:chunk=16K. All are measured in one run, alternately; '-' marks calls that the "
         "algorithm does not support, so that another one ran",
         parse_list(plan.algorithms), "compare algorithms"},
        {"--with", "SETTINGS", "settings such as TUTTI_EAGER=4K",
         "also measure with these variables, separated by blanks; may be repeated",
         [&plan](auto& text) { return parse_settings(text, plan.settings); },
         "compare settings, such as TUTTI_EAGER=4K"},
        {"--against", "LIST", "a list such as mpich,openmpi",
         "compare with other MPIs: mpich, openmpi (Debian's), or the path of any mpicxx. The benchmark is built with "
         "each, all are run in turn, and the ratios of their times to Tutti's are printed",
         parse_list(plan.against), "compare with mpich, openmpi or an mpicxx"},
        apps::number_option("--rounds", "N", plan.rounds, 1, 1000,
                            "how often all are run in turn; the median of the rounds is reported"),
        {"--timeout", "S", "a number of seconds",
         "end a run that takes longer, and report it (default: twenty seconds, 0.25 seconds per rank, and five times "
         "the expected time). With -n FROM:TO, more ranks are then not tried with the configuration that took too long",
         [&plan](auto& text) { return read_number(text, 0.1, 1e6, plan.timeout); }},
        {"--plot", "FILE.svg", "the name of an SVG file",
         "draw time and ratio over size; with several operations, one file each: FILE-bcast.svg. With -n FROM:TO, draw "
         "time (with --loop, that of loops) and work over the number of ranks, with a thin line that grows like p log "
         "p; all operations in one figure if nothing is compared",
         [&plan](auto& text) {
             plan.plot = text;
             return text.size() > 4 && text.ends_with(".svg");
         },
         "draw the times"},
        {"--alpha", "X", "a number from 0.01 to 1",
         "with --model: the time of the second of two messages from the same rank as a part of that of the first (1/3, "
         "the paper's value)",
         [&plan](auto& text) { return read_number(text, 0.01, 1.0, plan.alpha); }},
        {"--from", "FILES", "a list such as a.json,b.json",
         "measure nothing; compare and draw results that --json has written", parse_list(plan.result_files)},
    };
}

namespace {

/// Throws BenchError if options exclude each other.
void check(Plan const& plan) {
    bool measuring = !plan.algorithms.empty() || !plan.settings.empty() || !plan.against.empty();
    for (std::string const& word : plan.arguments)
        measuring |= word != "--csv" && word != "--quiet" && !word.starts_with("--json") && word != plan.measuring.json;
    if (!plan.result_files.empty() && measuring)
        throw BenchError(
            "--from shows existing results and can be combined only with --plot, --json, --csv and --quiet");
    if (const std::string error = check(plan.measuring); !error.empty()) throw BenchError(error);
    if (const std::string error = check_ranks(plan.measuring, plan.ranks); !error.empty()) throw BenchError(error);
}

}   // namespace

Plan read_plan(std::vector<std::string> const& words) {
    Plan plan;
    plan.cores = usable_cores();
    plan.ranks = plan.max_ranks = std::max(2, plan.cores);
    plan.measuring.seconds = not_given;
    plan.measuring.largest = 0;   // not given
    auto const own = driver_options(plan), passed_on = options_of(plan.measuring);
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t first = at;
        bool known = false;
        std::string error;
        if (words[at].empty() || (words[at][0] != '-' && !apps::typographic_dash(words[at]))) {
            known = true;
            error = add_operation(words[at++], plan.measuring);
        } else {
            error = apps::parse_option(own, words, at, known);
            if (known && error.empty()) continue;
            if (!known) error = apps::parse_option(passed_on, words, at, known);
        }
        if (!known) {
            auto names = names_of(own);
            for (apps::OptionName const& name : names_of(passed_on)) names.push_back(name);
            throw BenchError(apps::unknown_option(words[at], names));
        }
        if (!error.empty()) throw BenchError(error);
        plan.arguments.insert(plan.arguments.end(), words.begin() + long(first), words.begin() + long(at));
    }
    if (plan.measuring.information.requested()) return plan;
    check(plan);
    if (plan.measuring.seconds == not_given)
        plan.measuring.seconds = plan.in_rounds() ? seconds_in_rounds : Settings().seconds;
    if (plan.measuring.largest == 0)
        plan.measuring.largest = plan.growing() ? plan.measuring.smallest : Settings().largest;
    return plan;
}

std::vector<int> Plan::numbers_of_ranks() const {
    std::vector<int> numbers;
    for (int number = ranks; number <= max_ranks; number *= 2) numbers.push_back(number);
    return numbers;
}

std::string Plan::binding_of(int number_of_ranks) const {
    return !binding.empty() ? binding : number_of_ranks <= cores ? "core" : "none";
}

std::string first_driver_option(std::vector<std::string> const& words) {
    Plan plan;
    auto const options = driver_options(plan);
    for (std::string const& word : words)
        for (Option const& option : options)
            if (word.substr(0, word.find('=')) == option.name) return option.name;
    return "";
}

// The driver, which runs when tutti-bench is started by hand.

namespace {

/// Throws BenchError if a file cannot be written, or is no earlier output of tutti-bench.
void check_output(std::string const& file, std::vector<std::string> const& beginnings) {
    const std::string error = apps::output_error(file, "tutti-bench", apps::beginning_with(beginnings));
    if (!error.empty()) throw BenchError(error);
}

/// Checks the files that will be written, before anything is measured. Throws BenchError.
void check_outputs(Plan const& plan) {
    if (!plan.measuring.json.empty()) check_output(plan.measuring.json, {json_beginning});
    if (plan.plot.empty()) return;
    check_plotter();
    check_output(plan.plot, figure_beginnings);
    for (Group const& group : groups())
        for (Operation const& operation : group.operations)
            for (std::size_t const bytes : {std::size_t(0), plan.measuring.smallest}) {
                const std::string name = figure_name(plan.plot, operation.name, bytes);
                if (access(name.c_str(), F_OK) == 0) check_output(name, figure_beginnings);
            }
}

bool at_several_numbers(Growth const& growth) { return growth.cores > 0; }

void write_json(Plan const& plan, Growth const& growth) {
    std::string const& file = plan.measuring.json;
    if (file.empty()) return;
    const std::string error =
        apps::replace_file(file, at_several_numbers(growth) ? as_json(growth) : as_json(growth.runs[0]));
    if (!error.empty()) throw BenchError(error);
    if (!plan.measuring.quiet) std::cerr << "Written: " << file << "\n";
}

void draw_figures(Plan const& plan, Growth const& growth, TemporaryFolder const& folder) {
    if (plan.plot.empty()) return;
    for (std::string const& file :
         at_several_numbers(growth) ? plot_growth(growth, plan.plot, folder) : plot(growth.runs[0], plan.plot, folder))
        if (!plan.measuring.quiet) std::cerr << "Drawn: " << file << "\n";
}

/// Executes a single run; the measuring program prints its own table.
int measure_alone(Plan const& plan, TemporaryFolder const& folder) {
    const std::string mpiexec = own_folder() / "mpiexec", program = own_folder() / "tutti-bench";
    Command command{
        {mpiexec, "-n", std::to_string(plan.ranks), "-bind-to", plan.binding_of(plan.ranks), program}, {}, true};
    command.arguments.insert(command.arguments.end(), plan.arguments.begin(), plan.arguments.end());
    double const seconds = plan.timeout > 0 ? plan.timeout : std::numeric_limits<int>::max();
    const ProcessResult result = run(command, seconds, folder);
    if (result.timed_out) std::cerr << "tutti-bench: ended after " << plan.timeout << " s.\n";
    return result.timed_out ? 1 : result.code;
}

void print_results(Plan const& plan, Growth const& growth) {
    if (plan.measuring.csv) {
        std::cout << csv_header() << "\n";
        for (Results const& results : growth.runs) print_csv(std::cout, results);
        return;
    }
    auto const& all = growth.runs[0].series;
    for (Series const& series : all)
        if (!series.library.empty() && (&series == &all[0] || series.library != all[0].library))
            std::cout << series.name << ": " << series.library << "\n";
    std::cout << "\n";
    std::size_t const width = apps::terminal_columns(STDOUT_FILENO);
    if (at_several_numbers(growth)) print_growth(std::cout, growth, width);
    else print_tables(std::cout, growth.runs[0], plan.measuring.root_by_root, width);
}

int compare(Plan const& plan, TemporaryFolder const& folder) {
    Measured measured;
    std::vector<Candidate> candidates;
    if (!plan.result_files.empty()) {
        measured.growth = read_all(plan.result_files);
    } else {
        candidates = candidates_of(plan.algorithms, plan.ranks, folder);
        std::ostream nowhere(nullptr);
        std::ostream& introduction = plan.measuring.quiet ? nowhere : plan.measuring.csv ? std::cerr : std::cout;
        measured = measure_rounds(plan, candidates, introduction, folder);
    }
    for (Results& results : measured.growth.runs)
        add_models(results, plan.alpha, std::max(0, plan.measuring.root), folder);
    print_results(plan, measured.growth);
    if (plan.measuring.bytes_per_call && !plan.measuring.csv)
        for (Results const& results : measured.growth.runs)
            print_bytes(std::cout, results, std::max(0, plan.measuring.root), folder);
    write_json(plan, measured.growth);
    draw_figures(plan, measured.growth, folder);
    return measured.failed ? 1 : 0;
}

/// Returns the exit code: 0, or 1 if a result was wrong or a run failed. Throws BenchError.
int drive(Plan const& plan) {
    if (plan.measuring.information.requested()) {
        std::cout << information_text(plan.measuring.information);
        return 0;
    }
    check_outputs(plan);
    const TemporaryFolder folder;
    return plan.in_rounds() ? compare(plan, folder) : measure_alone(plan, folder);
}

bool started_by_a_launcher() {
    for (char const* name : {"TUTTI_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
        if (std::getenv(name)) return true;
    return false;
}

int run_driver(std::vector<std::string> const& words) {
    // With a misspelt setting, the figures would be those of another setting.
    setenv("TUTTI_STRICT", "yes", 0);
    try {
        const HeldPipeSignal held_signal;
        return drive(read_plan(words));
    } catch (BenchError const& error) {
        return apps::print_error("tutti-bench", error.what(), 2);
    } catch (std::invalid_argument const& error) {
        return apps::print_error("tutti-bench", error.what(), 2);
    } catch (std::exception const& error) { return apps::print_error("tutti-bench", error.what(), 1); }
}

}   // namespace

}   // namespace bench

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (!bench::started_by_a_launcher()) return bench::run_driver(words);
    const std::string option = bench::first_driver_option(words);
    if (!option.empty())
        return bench::reject_arguments(argc, argv,
                                       option +
                                           " is for a tutti-bench that starts the ranks itself: 'tutti-bench "
                                           "-n N ...', without mpiexec");
    return bench::program(argc, argv, bench::information_text);
}
