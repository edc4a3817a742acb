// SPDX-License-Identifier: BSD-3-Clause
// The parser of the driver's command line.
#include "plan.hpp"

#include "../program/settings.hpp"
#include "results.hpp"

#include <sched.h>
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace bench {
namespace {

using apps::read_number;

constexpr double seconds_when_comparing = 0.2, not_given = -1;
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

std::vector<Option> driver_options(Plan& plan) {
    return {
        {"-n", "N or FROM:TO", "a number of ranks such as 4, or numbers such as 2:256",
         "number of ranks (default: the number of cores, at least 2). FROM:TO measures at FROM ranks, at twice as "
         "many, and so on up to TO (8 bytes unless --sizes is given), and prints how the time grows: 'work', a core's "
         "time per rank and call, is time x min(ranks, cores) / ranks. It is constant if the time is proportional to "
         "the number of ranks p, and grows by a constant with each doubling if the time is proportional to p log p. "
         "'slope' is the power of p with which the time has grown since the previous line; the last column shows that "
         "of p log p",
         [&plan](auto& text) { return read_ranks(text, plan); }},
        {"--bind-to", "WHAT", "a word such as core",
         "how every launcher binds its ranks (core if there is one per rank, otherwise none)",
         [&plan](auto& text) {
             plan.binding = text;
             return !text.empty();
         }},
        {"--algorithms", "LIST", "a list such as allreduce,bcast:slots",
         "compare algorithms. Each entry is an operation, for all its algorithms, or one algorithm with optional "
         "parameters: bcast:hierarchical:chunk=16K. All are measured in one run, alternately; '-' marks calls that the "
         "algorithm does not support, so that another one ran",
         parse_list(plan.algorithms)},
        {"--with", "SETTINGS", "settings such as TUTTI_EAGER=4K",
         "also measure with these variables, separated by blanks; may be repeated",
         [&plan](auto& text) { return parse_settings(text, plan.settings); }},
        {"--against", "LIST", "a list such as mpich,openmpi",
         "compare with other MPIs: mpich, openmpi (Debian's), or the path of any mpicxx. The benchmark is built with "
         "each, all are run in turn, and the ratios of their times to Tutti's are printed",
         parse_list(plan.against)},
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
         }},
        {"--from", "FILES", "a list such as a.json,b.json",
         "measure nothing; compare and draw results that --json has written", parse_list(plan.result_files)},
    };
}

/// Throws BenchError if options exclude each other.
void check(Plan const& plan) {
    bool measuring = !plan.algorithms.empty() || !plan.settings.empty() || !plan.against.empty();
    for (std::string const& word : plan.arguments)
        measuring |= word != "--csv" && !word.starts_with("--json") && word != plan.measuring.json;
    if (!plan.result_files.empty() && measuring && !plan.measuring.help)
        throw BenchError("--from shows existing results and can be combined only with --plot, --json and --csv");
    if (const std::string error = check(plan.measuring); !error.empty()) throw BenchError(error);
    if (plan.measuring.root >= plan.ranks)
        throw BenchError("--root must be a rank below " + std::to_string(plan.ranks) + ", 'every' or 'each'");
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
        if (words[at].empty() || words[at][0] != '-') {
            known = true;
            error = add_operation(words[at++], plan.measuring);
        } else {
            error = apps::parse_option(own, words, at, known);
            if (known && error.empty()) continue;
            if (!known) error = apps::parse_option(passed_on, words, at, known);
        }
        if (!known) throw BenchError("there is no option " + words[at] + "; --help lists them");
        if (!error.empty()) throw BenchError(error);
        plan.arguments.insert(plan.arguments.end(), words.begin() + long(first), words.begin() + long(at));
    }
    check(plan);
    if (plan.measuring.seconds == not_given)
        plan.measuring.seconds = plan.comparing() || plan.growing() ? seconds_when_comparing : Settings().seconds;
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

std::string full_help() {
    std::ostringstream out;
    out << "tutti-bench measures MPI's operations on one node, and compares algorithms and MPI libraries.\n\n"
           "    tutti-bench -n 4 bcast allreduce                    two operations on four ranks\n"
           "    tutti-bench -n 4 --algorithms allreduce             all algorithms of one operation\n"
           "    tutti-bench -n 2 --against mpich,openmpi --plot out.svg bcast      comparison with other MPIs, drawn\n"
           "    tutti-bench -n 2:256 --loop --plot growth.svg barrier comm_dup      growth with the number of ranks\n"
           "    tutti-bench -n 2 --against mpich,openmpi --overlap iallreduce      overlap with a computation\n"
           "    mpiexec -n 4 -map-by socket tutti-bench bcast       started by hand, with any launcher's options\n\n";
    out << description();
    out << "\nWithout mpiexec, tutti-bench starts the ranks itself, and can compare:\n\n";
    Plan plan;
    out << apps::help_text(driver_options(plan));
    out << "\nComparisons, and measurements at several numbers of ranks, take " << seconds_when_comparing
        << " seconds per line and round, unless --seconds is given. --json and --csv also apply\n"
           "to comparisons; a line of --csv is then operation,ranks,bytes,series,iterations,median,least,greatest,\n"
           "with --loop also loop, with --overlap also computation,both,hidden; then the algorithm that ran, if the\n"
           "library reports it.\n";
    return out.str();
}

}   // namespace bench
