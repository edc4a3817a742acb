// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/job/launcher_found.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/socket.h>

#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

/// One launcher: `mark` is a variable that only its processes have; `size`: the variable with the number of processes.
struct Known {
    char const *name, *mark, *size, *advice;
};

// The first whose mark is set is named: Hydra before Slurm, because inside an allocation it starts its agents by srun.
// A batch script of Slurm is not a step, so programs in it run alone; srun's processes are steps.
constexpr Known known_launchers[] = {
    {"Tutti's mpiexec", launch::segment_variable, "", ""},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
     "install PMIx (libpmix2), by which mpirun and its processes communicate, or use Tutti's mpiexec"},
    {"prterun", "PRTE_LAUNCHED", "", "install PMIx (libpmix2), or use Tutti's mpiexec"},
    {"Flux", "FLUX_JOB_SIZE", "FLUX_JOB_SIZE", "start it with flux run -o pmi=simple, or use Tutti's mpiexec"},
    {"MPICH's mpiexec (Hydra)", "HYDI_CONTROL_FD", "PMI_SIZE",
     "keep the descriptor that PMI_FD names open in the command that starts the program, or use Tutti's mpiexec"},
    {"Slurm's srun", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
     "start it with srun --mpi=pmix or srun --mpi=pmi2, or use Tutti's mpiexec inside the allocation"},
    {"a PMI launcher", "PMI_SIZE", "PMI_SIZE",
     "keep the descriptor that PMI_FD names open in the command that starts the program, or use Tutti's mpiexec"},
    {"a PMI launcher", "PMI_PORT", "", "use Tutti's mpiexec"},
    {"a PMIx launcher", "PMIX_NAMESPACE", "", "use Tutti's mpiexec"},
    {"MVAPICH's launcher", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "use Tutti's mpiexec"},
};

bool is_socket(int descriptor) {
    int kind = 0;
    socklen_t length = sizeof kind;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0;
}

}   // namespace

char const* name_of(JobInterface interface) {
    switch (interface) {
    case JobInterface::segment: return "shared memory";
    case JobInterface::pmix: return "PMIx";
    case JobInterface::pmi: return "PMI";
    case JobInterface::none: break;
    }
    return "none";
}

LauncherFound find_launcher(ProcessView const& process) {
    LauncherFound found;
    auto const number = [&](char const* name) {
        char const* const text = process.variable(name);
        return text ? topo::whole_number(text).value_or(-1) : -1;
    };
    auto const note = [&](char const* name) {
        char const* const text = process.variable(name);
        if (text) found.variables += join(found.variables.empty() ? "" : ", ", name, "=", text);
        return text != nullptr;
    };
    if (note(launch::segment_variable) & note(launch::rank_variable)) found.offered.push_back(JobInterface::segment);
    int const descriptor = number("PMI_FD");
    note("PMI_FD");
    if (descriptor >= 0 && process.is_socket(descriptor)) found.offered.push_back(JobInterface::pmi);
    bool const has_name = note("PMIX_NAMESPACE"), has_rank = note("PMIX_RANK");
    if (has_name && has_rank) found.offered.push_back(JobInterface::pmix);
    bool const has_port = note("PMI_PORT"), has_id = note("PMI_ID");
    if (descriptor < 0 && has_port && has_id) found.offered.push_back(JobInterface::pmi);
    if (!found.offered.empty()) found.chosen = found.offered.front();
    for (Known const& one : known_launchers) {
        if (!process.variable(one.mark)) continue;
        if (found.variables.find(join(one.mark, "=")) == std::string::npos) note(one.mark);
        found.name = one.name;
        found.advice = found.chosen == JobInterface::pmi ? "use Tutti's mpiexec" : one.advice;
        if (*one.size) found.processes = std::max(0, number(one.size));
        if (*one.size && std::string_view(one.size) != one.mark) note(one.size);
        break;
    }
    return found;
}

LauncherFound find_launcher() {
    return find_launcher({[](char const* name) { return std::getenv(name); }, is_socket});
}

void forget_servers() {
    if (char const* const text = std::getenv("PMI_FD"))
        if (int const descriptor = topo::whole_number(text).value_or(-1); is_socket(descriptor))
            fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    for (char const* variable : {"PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_NAMESPACE", "PMIX_RANK"}) unsetenv(variable);
}

std::string describe_start(LauncherFound const& found) {
    if (found.chosen == JobInterface::segment)
        return "A program joins the job through the memory that mpiexec has prepared.";
    if (found.chosen != JobInterface::none) return join("A program joins the job by ", name_of(found.chosen), ".");
    if (found.is_lost())
        return join("A program ends in MPI_Init with an error, because the ", found.processes,
                    " processes of this job cannot find each other: ", found.advice, ".");
    return "A program runs alone, as rank 0 of 1.";
}

}   // namespace tutti
