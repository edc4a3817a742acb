// SPDX-License-Identifier: BSD-3-Clause
// Recognises the launcher of this process by the environment. A process that a launcher has started as one of several
// joins the others or fails: it is never silently rank 0 of 1.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tutti {

/// How the processes of a job find each other. `segment`: by the memory that our mpiexec has prepared.
enum class JobInterface { none, segment, pmix, pmi };

struct LauncherFound {
    std::string name;                           ///< "Slurm's srun"; empty: no launcher is visible
    JobInterface chosen = JobInterface::none;   ///< what MPI_Init uses
    std::vector<JobInterface> offered;          ///< all that are present, the chosen one first
    int processes = 0;                          ///< that it has started, the most that any variable states; 0: unknown
    bool has_unknown_size = false;              ///< a launcher is visible, but not how many processes it has started
    bool is_alone = false;                      ///< `chosen` is the interface of a job of one process
    std::string variables;                      ///< by which it was recognised, as "NAME=VALUE, NAME=VALUE"
    std::string advice;                         ///< what to do if the process cannot join, without its full stop

    /// Returns true if this process is one of several that cannot find each other, or may be because nothing states
    /// the number.
    bool is_lost() const { return chosen == JobInterface::none && (processes > 1 || has_unknown_size); }
};

/// The state of the process that find_launcher() reads; tests have their own.
struct ProcessView {
    std::function<char const*(char const*)> variable;   ///< as getenv
    std::function<bool(int)> is_socket;                 ///< whether a descriptor is one
};

/// Where several interfaces are present, our mpiexec's is chosen, otherwise the nearest launcher's: first an open
/// PMI_FD, which was inherited from a parent that speaks PMI, because PMIx launchers close the descriptors of their
/// processes; then PMIx; then PMI_PORT, a variable that a process may have from a launcher further up.
LauncherFound find_launcher(ProcessView const& process);
/// The same for this process.
LauncherFound find_launcher();

/// Removes what names a server of PMI or PMIx from the environment, and keeps the descriptor of PMI_FD from programs
/// that this process starts: these are not ranks of its job.
void forget_servers();

/// The name of an interface, as in "PMIx".
char const* name_of(JobInterface interface);

/// Describes what a program does here in MPI_Init.
std::string describe_start(LauncherFound const& found);

}   // namespace tutti
