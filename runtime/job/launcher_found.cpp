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

/// One launcher: `mark` is a variable that only its processes have; `size`: the variable with the number of processes;
/// `remedy`: how else to start the program, if it cannot join the others.
struct Known {
    char const *name, *mark, *size, *remedy;
};

// Where several have left their marks, the one nearest to the program usually comes first. A batch script of Slurm is
// not a step, so programs in it run alone; srun's processes are steps.
constexpr Known known_launchers[] = {
    {"Tutti's mpiexec", launch::segment_variable, "", ""},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", ""},
    {"prterun", "PRTE_LAUNCHED", "", ""},
    {"Flux", "FLUX_JOB_SIZE", "FLUX_JOB_SIZE", "start it with flux run -o pmi=simple, "},
    {"MPICH's mpiexec (Hydra)", "HYDI_CONTROL_FD", "PMI_SIZE", ""},
    {"Slurm's srun", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "start it with srun --mpi=pmix or srun --mpi=pmi2, "},
    {"a PMI launcher", "PMI_SIZE", "PMI_SIZE", ""},
    {"a PMI launcher", "PMI_PORT", "", ""},
    {"a PMIx launcher", "PMIX_NAMESPACE", "", ""},
    {"MVAPICH's launcher", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", ""},
};

bool is_socket(int descriptor) {
    int kind = 0;
    socklen_t length = sizeof kind;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0;
}

/// Sets the number of processes and the variables of all launchers that have left their marks. Returns the one that a
/// message names: the first, or, if there is no interface, the one that has started other processes.
template <class Number, class Note>
Known const* name_launcher(LauncherFound& found, Number const& number, Note const& note) {
    Known const *first = nullptr, *largest = nullptr, *unknown = nullptr;
    for (Known const& one : known_launchers) {
        if (!note(one.mark)) continue;
        if (*one.size) note(one.size);
        int const size = *one.size ? number(one.size) : -1;
        if (!first) first = &one;
        if (size > found.processes) found.processes = size, largest = &one;
        if (size < 1 && !unknown) unknown = &one;
    }
    found.has_unknown_size = unknown != nullptr;
    if (found.chosen != JobInterface::none) return first;
    return found.processes > 1 ? largest : unknown ? unknown : first;
}

/// Returns what to do if the interface fails, or if there is none. `has_descriptor`: PMI_FD is set.
std::string advice_for(LauncherFound const& found, Known const& launcher, bool has_descriptor) {
    constexpr char ours[] = "use Tutti's mpiexec";
    std::string const name = launcher.name, remedy = launcher.remedy;
    bool const is_slurm = name == "Slurm's srun";
    std::string const last = is_slurm ? join("or ", ours, " inside the allocation") : join("or ", ours);
    switch (found.chosen) {
    case JobInterface::segment: return {};
    case JobInterface::pmi: return ours;
    case JobInterface::pmix:
        return join("install PMIx (libpmix2) where it runs, ", is_slurm ? "start it with srun --mpi=pmi2, " : "", last);
    case JobInterface::none: break;
    }
    if (has_descriptor)
        return join("keep the descriptor that PMI_FD names open in the command that starts the program, ", last);
    if (!remedy.empty()) return remedy + last;
    return join("keep the launcher's environment variables in the command that starts the program, ", last);
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
    auto const number = [&](char const* name) { return topo::variable_number(process.variable(name)); };
    auto const note = [&](char const* name) {
        char const* const text = process.variable(name);
        bool const is_new = (", " + found.variables).find(join(", ", name, "=")) == std::string::npos;
        if (text && is_new) found.variables += join(found.variables.empty() ? "" : ", ", name, "=", text);
        return text != nullptr;
    };
    if (note(launch::segment_variable) & note(launch::rank_variable)) found.offered.push_back(JobInterface::segment);
    int const descriptor = number("PMI_FD");
    note("PMI_FD");
    if (descriptor >= 0 && process.is_socket(descriptor)) found.offered.push_back(JobInterface::pmi);
    bool const is_inherited = !found.offered.empty() && found.offered.front() == JobInterface::pmi;
    bool const has_name = note("PMIX_NAMESPACE"), has_rank = note("PMIX_RANK");
    if (has_name && has_rank) found.offered.push_back(JobInterface::pmix);
    bool const has_port = note("PMI_PORT"), has_id = note("PMI_ID");
    if (descriptor < 0 && has_port && has_id) found.offered.push_back(JobInterface::pmi);
    if (!found.offered.empty()) found.chosen = found.offered.front();
    found.is_alone = is_inherited && number("PMI_SIZE") == 1;   // set with PMI_FD
    if (Known const* const launcher = name_launcher(found, number, note)) {
        found.name = launcher->name;
        found.advice = advice_for(found, *launcher, process.variable("PMI_FD") != nullptr);
    }
    return found;
}

LauncherFound find_launcher() {
    return find_launcher({[](char const* name) { return std::getenv(name); }, is_socket});
}

void forget_servers() {
    if (int const descriptor = topo::variable_number(std::getenv("PMI_FD")); is_socket(descriptor))
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    for (char const* variable : {"PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_NAMESPACE", "PMIX_RANK"}) unsetenv(variable);
}

std::string describe_start(LauncherFound const& found) {
    if (found.chosen == JobInterface::segment)
        return "A program joins the job through the memory that mpiexec has prepared.";
    if (found.is_alone) return "A program runs alone, as rank 0 of 1, without the server of this job of one process.";
    if (found.chosen != JobInterface::none) return join("A program joins the job by ", name_of(found.chosen), ".");
    if (found.is_lost())
        return join("A program ends in MPI_Init with an error, because the ",
                    found.processes > 1 ? join(found.processes, " ") : "",
                    "processes of this job cannot find each other: ", found.advice, ".");
    return "A program runs alone, as rank 0 of 1.";
}

}   // namespace tutti
