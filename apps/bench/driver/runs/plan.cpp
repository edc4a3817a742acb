// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include "../../program/start/program.hpp"
#include "../complaint.hpp"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>
#include <sstream>

namespace bench {
namespace {

constexpr double seconds_when_comparing = 0.2, unsaid = -1;

// Cores, not their hardware threads: ranks that share a core are no measure of anything.
int usable_cores()
{
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        return 1;
    std::set<std::string> cores;
    for (int unit = 0; unit < CPU_SETSIZE; ++unit) {
        if (!CPU_ISSET(unit, &mine))
            continue;
        const std::string name = std::to_string(unit);
        std::ifstream file("/sys/devices/system/cpu/cpu" + name + "/topology/thread_siblings_list");
        std::string siblings;
        cores.insert(std::getline(file, siblings) ? siblings : name);
    }
    return int(cores.size());
}

// Adds the words of "a,b" to a list.
auto take_list(std::vector<std::string> &list)
{
    return [&list](const std::string &text) {
        std::istringstream words(text);
        for (std::string word; std::getline(words, word, ',');)
            list.push_back(word);
        return !text.empty() && std::find(list.begin(), list.end(), "") == list.end();
    };
}

bool take_settings(const std::string &text, std::vector<std::string> &list)
{
    list.push_back(text);
    std::istringstream words(text);
    int number = 0;
    for (std::string word; words >> word; ++number)
        if (word.find('=') == std::string::npos || word[0] == '=')
            return false;
    return number > 0;
}

std::vector<Option> driver_options(Plan &plan)
{
    return {
        {"-n", "N", "a number of ranks", "ranks (as many as there are cores, at least 2)",
         [&plan](auto &text) { return read_number(text, 1, 4096, plan.ranks); }},
        {"--bind-to", "WHAT", "a word such as core",
         "how every launcher binds its ranks (core where there is one for each rank, else none)",
         [&plan](auto &text) {
             plan.binding = text;
             return !text.empty();
         }},
        {"--algorithms", "LIST", "a list such as allreduce,bcast:slots",
         "compare algorithms. Each entry is an operation, for all its algorithms, or one of them with what parameters "
         "one likes: bcast:hierarchical:chunk=16K. All are measured in one run, alternating; '-' is a call that the "
         "algorithm cannot do, so that another one ran",
         take_list(plan.algorithms)},
        {"--with", "SETTINGS", "settings such as TUTTI_EAGER=4K",
         "measure under these variables as well, several of them separated by blanks; may be repeated",
         [&plan](auto &text) { return take_settings(text, plan.settings); }},
        {"--against", "LIST", "a list such as mpich,openmpi",
         "compare with other MPIs: mpich, openmpi (Debian's), or the path of any mpicxx. The benchmark is built with "
         "each, all run in turn, and the ratio of their times to ours is printed",
         take_list(plan.against)},
        {"--rounds", "N", "a whole number from 1 to 1000",
         "how often all are run in turn; the median of the rounds counts (3)",
         [&plan](auto &text) { return read_number(text, 1, 1000, plan.rounds); }},
        {"--timeout", "S", "a number of seconds",
         "end a run that takes longer, and say so (twenty seconds and five times what it should take)",
         [&plan](auto &text) { return read_number(text, 0.1, 1e6, plan.timeout); }},
        {"--plot", "FILE.svg", "the name of an SVG file",
         "draw time and ratio over size; with several operations, one file for each: FILE-bcast.svg",
         [&plan](auto &text) {
             plan.plot = text;
             return text.size() > 4 && text.ends_with(".svg");
         }},
        {"--from", "FILES", "a list such as a.json,b.json",
         "measure nothing; compare and draw what --json has written before", take_list(plan.from)},
    };
}

// What cannot be asked for together.
void check(const Plan &plan)
{
    bool measuring = !plan.algorithms.empty() || !plan.settings.empty() || !plan.against.empty();
    for (const std::string &word : plan.words)
        measuring |= word != "--csv" && !word.starts_with("--json") && word != plan.measuring.json;
    if (!plan.from.empty() && measuring && !plan.measuring.help)
        throw Complaint("--from shows what has been measured: with --plot, --json and --csv, and with nothing else");
    if (const std::string complaint = check(plan.measuring); !complaint.empty())
        throw Complaint(complaint);
    if (plan.measuring.root >= plan.ranks)
        throw Complaint("--root must be a rank below " + std::to_string(plan.ranks) + ", 'every' or 'each'");
}

} // namespace

Plan read_plan(const std::vector<std::string> &words)
{
    Plan plan;
    plan.ranks = std::max(2, usable_cores());
    plan.measuring.seconds = unsaid;
    const auto own = driver_options(plan), passed_on = options_of(plan.measuring);
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t first = at;
        bool known = false;
        std::string complaint;
        if (words[at].empty() || words[at][0] != '-') {
            known = true;
            complaint = take_operation(words[at++], plan.measuring);
        } else {
            complaint = take_option(own, words, at, known);
            if (known && complaint.empty())
                continue;
            if (!known)
                complaint = take_option(passed_on, words, at, known);
        }
        if (!known)
            throw Complaint("there is no option " + words[at] + "; --help lists them");
        if (!complaint.empty())
            throw Complaint(complaint);
        plan.words.insert(plan.words.end(), words.begin() + long(first), words.begin() + long(at));
    }
    check(plan);
    if (plan.binding.empty())
        plan.binding = plan.ranks <= usable_cores() ? "core" : "none";
    if (plan.measuring.seconds == unsaid)
        plan.measuring.seconds = plan.comparing() ? seconds_when_comparing : Settings().seconds;
    return plan;
}

std::string first_driver_option(const std::vector<std::string> &words)
{
    Plan plan;
    const auto options = driver_options(plan);
    for (const std::string &word : words)
        for (const Option &option : options)
            if (word.substr(0, word.find('=')) == option.name)
                return option.name;
    return "";
}

std::string full_help()
{
    std::ostringstream out;
    out << "tutti-bench measures MPI's operations on one node, and compares algorithms and MPI libraries.\n\n"
           "    tutti-bench -n 4 bcast allreduce                    two operations on four ranks\n"
           "    tutti-bench -n 4 --algorithms allreduce             all algorithms of one operation\n"
           "    tutti-bench -n 2 --against mpich,openmpi --plot out.svg bcast      the same under other MPIs, drawn\n"
           "    tutti-bench -n 2 --against mpich,openmpi --overlap iallreduce      how much of it a computation hides\n"
           "    mpiexec -n 4 -map-by socket tutti-bench bcast       started by hand, with any launcher's options\n\n";
    out << description();
    out << "\nWithout mpiexec, tutti-bench starts the ranks itself, and can compare:\n\n";
    Plan plan;
    print_options(out, driver_options(plan));
    out << "\nWhat is compared gets " << seconds_when_comparing
        << " seconds per line and round, unless --seconds says otherwise. --json and --csv hold\nfor comparisons too; "
           "there each line of --csv is operation,ranks,bytes,series,iterations,median,least,greatest, with --loop\n"
           "also loop, with --overlap also computation,both,hidden; then the algorithm that ran, where the library\n"
           "tells.\n";
    return out.str();
}

} // namespace bench
