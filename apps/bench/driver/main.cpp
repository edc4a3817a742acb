// SPDX-License-Identifier: BSD-3-Clause
// tutti-bench. Started by a launcher, it is one rank of the measuring program; started by hand, it is the driver,
// which starts the ranks itself.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>

#include "../program/settings.hpp"
#include "figure.hpp"
#include "plan.hpp"
#include "results.hpp"
#include "rounds.hpp"
#include "table.hpp"

// The driver, which runs when tutti-bench is started by hand.

namespace bench {

/// Returns the exit code: 0, or 1 if a result was wrong or a run failed. Throws BenchError.
int drive(Plan const& plan);

namespace {

std::size_t screen_width() {
    winsize size{};
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool at_several_numbers(Growth const& growth) { return growth.cores > 0; }

void write_json(Growth const& growth, std::string const& file) {
    std::ofstream out(file);
    out << (at_several_numbers(growth) ? as_json(growth) : as_json(growth.runs[0]));
    out.close();
    if (out.fail()) throw BenchError("cannot write " + file);
}

void draw_figures(Plan const& plan, Growth const& growth, TemporaryFolder const& folder) {
    if (plan.plot.empty()) return;
    for (std::string const& file :
         at_several_numbers(growth) ? plot_growth(growth, plan.plot, folder) : plot(growth.runs[0], plan.plot, folder))
        std::cerr << "Drawn: " << file << "\n";
}

/// Executes a single run; the measuring program prints its own table.
int measure_alone(Plan const& plan, TemporaryFolder const& folder) {
    const std::string mpiexec = own_folder() / "mpiexec", program = own_folder() / "tutti-bench";
    const std::string file =
        plan.measuring.json.empty() ? (folder.path() / "results.json").string() : plan.measuring.json;
    Command command{
        {mpiexec, "-n", std::to_string(plan.ranks), "-bind-to", plan.binding_of(plan.ranks), program}, {}, true};
    command.arguments.insert(command.arguments.end(), plan.arguments.begin(), plan.arguments.end());
    if (plan.measuring.json.empty()) command.arguments.insert(command.arguments.end(), {"--json", file});
    double const seconds = plan.timeout > 0 ? plan.timeout : std::numeric_limits<int>::max();
    const ProcessResult result = run(command, seconds, folder);
    if (result.timed_out) std::cerr << "tutti-bench: ended after " << plan.timeout << " s.\n";
    if (result.code == 0 && !plan.plot.empty()) draw_figures(plan, {0, {read_results(file)}}, folder);
    return result.timed_out ? 1 : result.code;
}

void print_results(Plan const& plan, Growth const& growth) {
    if (plan.measuring.csv) {
        for (Results const& results : growth.runs) print_csv(std::cout, results);
        return;
    }
    auto const& all = growth.runs[0].series;
    for (Series const& series : all)
        if (!series.library.empty() && (&series == &all[0] || series.library != all[0].library))
            std::cout << series.name << ": " << series.library << "\n";
    std::cout << "\n";
    if (at_several_numbers(growth)) print_growth(std::cout, growth, screen_width());
    else print_tables(std::cout, growth.runs[0], plan.measuring.root_by_root, screen_width());
}

int compare(Plan const& plan, TemporaryFolder const& folder) {
    Measured measured;
    if (!plan.result_files.empty()) {
        measured.growth = read_all(plan.result_files);
    } else {
        auto const candidates = candidates_of(plan.algorithms, plan.ranks, folder);
        if (!candidates.empty() && !plan.measuring.csv) print_legend(std::cout, candidates);
        std::cout.flush();
        measured = measure_rounds(plan, candidates, folder);
    }
    print_results(plan, measured.growth);
    if (!plan.measuring.json.empty()) write_json(measured.growth, plan.measuring.json);
    draw_figures(plan, measured.growth, folder);
    return measured.failed ? 1 : 0;
}

}   // namespace

int drive(Plan const& plan) {
    if (plan.measuring.help) {
        std::cout << full_help();
        return 0;
    }
    if (!plan.plot.empty()) check_plotter();
    const TemporaryFolder folder;
    return plan.comparing() || plan.growing() ? compare(plan, folder) : measure_alone(plan, folder);
}

namespace {

bool started_by_a_launcher() {
    for (char const* name : {"TUTTI_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
        if (std::getenv(name)) return true;
    return false;
}

int run_driver(std::vector<std::string> const& words) {
    // With a misspelt setting, the figures would be those of another setting.
    setenv("TUTTI_STRICT", "yes", 0);
    try {
        return drive(read_plan(words));
    } catch (BenchError const& error) {
        std::fprintf(stderr, "tutti-bench: %s.\n", error.what());
        return 2;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "tutti-bench: %s.\n", error.what());
        return 1;
    }
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
    return bench::program(argc, argv, bench::full_help());
}
