// SPDX-License-Identifier: BSD-3-Clause
// An adaptive-mesh stencil with the pattern of miniAMR: blocks in an octree that follows the surface of a moving
// sphere. Verified in three ways: heat is conserved, no cell becomes hotter than the hottest initial cell, and
// (--verify) every checksum has the same bits as in a run on one rank, which sends no message.
#include "../application.hpp"
#include "profile.hpp"
#include "world.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace stencil {
namespace {

/// Describes the program, whose options are stored in `o`.
apps::Application describe(Options& o) {
    using apps::number_option, apps::switch_option;
    return {"tutti-stencil",
            "Heat flows through a unit cube of blocks; the mesh follows the surface of a moving sphere. "
            "The heat of each variable must be conserved, and every checksum must be the same for any number of "
            "ranks.",
            {
                number_option("--cells", "N", o.cells, 2, 64, "cells per block and direction, even"),
                number_option("--roots", "N", o.roots, 1, 64, "coarsest blocks per direction"),
                number_option("--levels", "N", o.levels, 0, 8, "levels of refinement above the coarsest"),
                number_option("--variables", "N", o.variables, 1, 1000, "variables per cell"),
                number_option("--together", "N", o.together, 0, 1000, "variables sent in one message; 0: all"),
                number_option("--steps", "N", o.steps, 1, 1000000, "time steps"),
                number_option("--stages", "N", o.stages, 1, 1000, "ghost exchanges and updates per time step"),
                number_option("--refine-every", "N", o.refine_every, 0, 1000000,
                              "time steps between refinements; 0: only at the start"),
                number_option("--check-every", "N", o.check_every, 1, 1000000, "time steps between checksums"),
                number_option("--radius", "X", o.radius, 0, 2, "radius of the moving sphere in the unit cube"),
                number_option("--speed", "X", o.speed, 0, 1, "distance that the sphere's centre moves per time step"),
                switch_option("--verify", o.verify,
                              "repeat the run serially on rank 0 and compare all checksums bit for bit"),
                switch_option("--quiet", o.quiet, "print only the result"),
            },
            "",
            [&o] { return std::string(o.cells % 2 ? "--cells must be even" : ""); }};
}

/// The results of a run; the same on every rank.
struct History {
    std::vector<std::vector<std::uint64_t>> checksums;   ///< one row per check
    double worst_loss = 0;                               ///< largest relative change of a variable's heat
    bool hotter = false;                                 ///< a cell became hotter than all cells were at the start
    std::size_t final_leaves = 0, most_leaves = 0;
};

double reflected(double x) {
    x = std::fmod(std::fabs(x), 2.0);
    return x > 1.0 ? 2.0 - x : x;
}

/// The sphere's centre moves along a line and is reflected by the walls.
Centre centre_at(Options const& options, int step) {
    double distance = options.speed * step;
    return {reflected(0.3 + 0.80 * distance), reflected(0.3 + 0.53 * distance), reflected(0.4 + 0.27 * distance)};
}

void check(World const& world, std::vector<double> const& start, double hottest, History& history) {
    history.checksums.push_back(world.checksums());
    auto heat = world.heat();
    for (std::size_t v = 0; v < heat.size(); ++v)
        history.worst_loss = std::max(history.worst_loss, std::fabs(heat[v] - start[v]) / start[v]);
    history.hotter |= world.largest() > hottest * (1 + 1e-12);
}

History run(Options const& options, MPI_Comm comm, bool report) {
    History history;
    World world(options, comm);
    for (int level = 0; level < options.levels; ++level) world.remesh(centre_at(options, 0));
    auto const start = world.heat();
    double const hottest = world.largest();
    for (int step = 1; step <= options.steps; ++step) {
        bool refine = options.refine_every && step % options.refine_every == 0;
        if (refine) world.remesh(centre_at(options, step));
        for (int stage = 0; stage < options.stages; ++stage) world.advance();
        history.final_leaves = world.mesh().leaves().size();
        history.most_leaves = std::max(history.most_leaves, history.final_leaves);
        if (step % options.check_every == 0 || step == options.steps) check(world, start, hottest, history);
        if (report && refine)
            std::printf("  step %4d  %6zu blocks  checksum %016llx  heat kept to %.1e\n", step, history.final_leaves,
                        static_cast<unsigned long long>(history.checksums.empty() ? 0 : history.checksums.back()[0]),
                        history.worst_loss);
    }
    long moved = world.moved(), all = 0;
    MPI_Reduce(&moved, &all, 1, MPI_LONG, MPI_SUM, 0, comm);
    if (report) std::printf("\n  %zu blocks at most, %ld moved between ranks for balance\n", history.most_leaves, all);
    return history;
}

unsigned long long digest(History const& history) {
    unsigned long long value = 14695981039346656037ull;
    for (auto& row : history.checksums)
        for (std::uint64_t sum : row) value = (value ^ sum) * 1099511628211ull;
    return value;
}

/// Rank 0 repeats the run alone, without messages. Returns whether the checksums are the same.
bool same_as_serial(Options const& options, History const& history, int rank) {
    int same = 1;
    profile_pause(true);
    if (rank == 0) {
        History serial = run(options, MPI_COMM_SELF, false);
        same = serial.checksums == history.checksums;
    }
    MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    profile_pause(false);
    return same;
}

int simulate(Options const& options) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool verbose = rank == 0 && !options.quiet;
    if (verbose)
        std::printf(
            "Heat in a cube: %d ranks, %d^3 blocks of %d^3 cells, up to %d levels finer, %d variables,\n"
            "%d steps of %d stages\n",
            size, options.roots, options.cells, options.levels, options.variables, options.steps, options.stages);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    History history = run(options, MPI_COMM_WORLD, verbose);
    double seconds = MPI_Wtime() - begin, slowest = 0;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!options.quiet) profile_report(MPI_COMM_WORLD, seconds);

    bool conserved = history.worst_loss < 1e-11, no_hotter_cell = !history.hotter;
    bool same = !options.verify || same_as_serial(options, history, rank);
    if (rank == 0) {
        std::printf("\n  run              %.3f s on the slowest rank\n", slowest);
        std::printf("  heat conserved   %s (largest relative change %.1e)\n", conserved ? "yes" : "NO",
                    history.worst_loss);
        std::printf("  no cell hotter   %s\n", no_hotter_cell ? "yes" : "NO");
        if (options.verify)
            std::printf("  as a serial run  %s\n", same ? "yes, every checksum bit for bit" : "NO, checksums differ");
        std::printf("  checksum         %016llx (%zu checks of %d variables, %zu blocks at the end)\n", digest(history),
                    history.checksums.size(), options.variables, history.final_leaves);
        std::printf("%s\n", conserved && no_hotter_cell && same ? "PASSED" : "FAILED");
    }
    return conserved && no_hotter_cell && same ? 0 : 1;
}

}   // namespace
}   // namespace stencil

int main(int argc, char** argv) {
    stencil::Options options;
    return apps::run_application(argc, argv, stencil::describe(options), [&] { return stencil::simulate(options); });
}
