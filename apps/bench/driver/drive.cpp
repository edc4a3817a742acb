// SPDX-License-Identifier: BSD-3-Clause
#include "drive.hpp"

#include "runs/candidates.hpp"
#include "complaint.hpp"
#include "runs/contest.hpp"
#include "figure.hpp"
#include "growth/plot.hpp"
#include "growth/table.hpp"
#include "plot.hpp"
#include "read.hpp"
#include "table.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

namespace bench {
namespace {

std::size_t screen_width()
{
    winsize size{};
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool at_several_numbers(const Growth &growth) { return growth.cores > 0; }

void write_json(const Growth &growth, const std::string &file)
{
    std::ofstream out(file);
    out << (at_several_numbers(growth) ? as_json(growth) : as_json(growth.runs[0]));
    out.close();
    if (out.fail())
        throw Complaint("cannot write " + file);
}

void draw(const Plan &plan, const Growth &growth, const TemporaryFolder &folder)
{
    if (plan.plot.empty())
        return;
    for (const std::string &file : at_several_numbers(growth) ? plot_growth(growth, plan.plot, folder)
                                                              : plot(growth.runs[0], plan.plot, folder))
        std::cerr << "Drawn: " << file << "\n";
}

// One run, whose table is the measuring program's own.
int measure_alone(const Plan &plan, const TemporaryFolder &folder)
{
    const std::string mpiexec = own_folder() / "mpiexec", program = own_folder() / "tutti-bench";
    const std::string file = plan.measuring.json.empty() ? (folder.path() / "results.json").string()
                                                         : plan.measuring.json;
    Command command{{mpiexec, "-n", std::to_string(plan.ranks), "-bind-to", plan.binding_of(plan.ranks), program},
                    {},
                    true};
    command.words.insert(command.words.end(), plan.words.begin(), plan.words.end());
    if (plan.measuring.json.empty())
        command.words.insert(command.words.end(), {"--json", file});
    const double seconds = plan.timeout > 0 ? plan.timeout : std::numeric_limits<int>::max();
    const Ending ending = run(command, seconds, folder);
    if (ending.late)
        std::cerr << "tutti-bench: ended after " << plan.timeout << " s.\n";
    if (ending.code == 0 && !plan.plot.empty())
        draw(plan, {0, {read_results(file)}}, folder);
    return ending.late ? 1 : ending.code;
}

void show(const Plan &plan, const Growth &growth)
{
    if (plan.measuring.csv) {
        for (const Results &results : growth.runs)
            print_csv(std::cout, results);
        return;
    }
    const auto &all = growth.runs[0].series;
    for (const Series &series : all)
        if (!series.library.empty() && (&series == &all[0] || series.library != all[0].library))
            std::cout << series.name << ": " << series.library << "\n";
    std::cout << "\n";
    if (at_several_numbers(growth))
        print_growth(std::cout, growth, screen_width());
    else
        print_tables(std::cout, growth.runs[0], plan.measuring.root_by_root, screen_width());
}

int compare(const Plan &plan, const TemporaryFolder &folder)
{
    Measured measured;
    if (!plan.from.empty()) {
        measured.growth = read_all(plan.from);
    } else {
        const auto candidates = candidates_of(plan.algorithms, plan.ranks, folder);
        if (!candidates.empty() && !plan.measuring.csv)
            print_legend(std::cout, candidates);
        std::cout.flush();
        measured = hold_contest(plan, candidates, folder);
    }
    show(plan, measured.growth);
    if (!plan.measuring.json.empty())
        write_json(measured.growth, plan.measuring.json);
    draw(plan, measured.growth, folder);
    return measured.failed ? 1 : 0;
}

} // namespace

int drive(const Plan &plan)
{
    if (plan.measuring.help) {
        std::cout << full_help();
        return 0;
    }
    if (!plan.plot.empty())
        check_plotter();
    const TemporaryFolder folder;
    return plan.comparing() || plan.growing() ? compare(plan, folder) : measure_alone(plan, folder);
}

} // namespace bench
