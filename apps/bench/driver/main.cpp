// SPDX-License-Identifier: BSD-3-Clause
// tutti-bench. Started by a launcher, it is one rank of the measuring program; started by hand, it is the driver, which
// starts the ranks itself.
#include "../program/start/program.hpp"
#include "complaint.hpp"
#include "drive.hpp"
#include "runs/plan.hpp"

#include <cstdio>
#include <cstdlib>

namespace bench {
namespace {

bool started_by_a_launcher()
{
    for (const char *name : {"TUTTI_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
        if (std::getenv(name))
            return true;
    return false;
}

int as_driver(const std::vector<std::string> &words)
{
    // Figures under a setting that is misspelt would be those of another one.
    setenv("TUTTI_STRICT", "yes", 0);
    try {
        return drive(read_plan(words));
    } catch (const Complaint &complaint) {
        std::fprintf(stderr, "tutti-bench: %s.\n", complaint.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "tutti-bench: %s.\n", error.what());
        return 1;
    }
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (!bench::started_by_a_launcher())
        return bench::as_driver(words);
    const std::string option = bench::first_driver_option(words);
    if (!option.empty())
        return bench::refuse(argc, argv, option + " is for a tutti-bench that starts the ranks itself: 'tutti-bench "
                                                  "-n N ...', without mpiexec");
    return bench::program(argc, argv, bench::full_help());
}
