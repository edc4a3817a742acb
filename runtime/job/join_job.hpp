// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a job find each other and their node's segment.
//
// Ranks started by another launcher create what mpiexec would have prepared. Each announces itself and its arena; the
// lowest rank of each node creates the node's segment and publishes its location; the others map it through /proc.
// This takes three exchanges over the launcher's server, four if ranks of one machine cannot share memory. A rank gets
// two values; the first of a node gets the announcements of all ranks as well. Ranks started by mpiexec inherit the
// segment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory/segment.hpp"
#include "runtime/settings/variables.hpp"

// A launcher other than our mpiexec (Slurm's srun, Open MPI's mpirun, prterun, MPICH's Hydra, Flux) runs a server on
// each node; this is the part of it that we need. connect_pmix() and connect_pmi() connect to a real one
// (launcher_found.hpp decides which); tests have their own.

namespace tutti {

/// One rank's connection to the server of its job. Not thread-safe, except abort(), which any thread may call during
/// another call except finish().
class JobServer {
public:
    enum class Scope { node, job };   ///< which ranks may get a value: those of this node, or all

    virtual ~JobServer() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Returns the ranks that were started on this node, ascending, including this one.
    virtual std::vector<int> const& local_ranks() const = 0;
    /// Returns the server's name of this node, without blanks; empty if it has none.
    virtual std::string node_name() const { return {}; }

    /// Stores a value of at least one byte, visible to others from the next exchange on. A key must be put only once.
    virtual void put(Scope scope, std::string const& key, std::string const& value) = 0;
    /// Returns when every rank has called it. Collective over the job. Throws Error.
    virtual void exchange() = 0;
    /// Returns what `rank` has put before an exchange. Throws Error if it has put no such key.
    virtual std::string get(int rank, std::string const& key) = 0;

    /// Returns the threads of this process, by gettid(), that only serve the connection and never call MPI.
    virtual std::vector<pid_t> threads() const { return {}; }

    /// Requests that the server end the job. The server may receive the request after this function has returned.
    virtual void abort(int code, std::string const& message) = 0;
    /// Disconnects, so that this rank's exit is not a failure. No other call may follow.
    virtual void finish() = 0;
};

// Both throw Error with the reason if they fail.

/// Connects by PMIx. The client library (libpmix.so.2) is loaded at run time and only if there is a server, so programs
/// do not depend on it and start on one node without delay; it needs 10 to 20 ms.
std::unique_ptr<JobServer> connect_pmix();

/// Where a server of PMI is, and the place of this process in its job, from the launcher's variables.
struct PmiPlace {
    int descriptor = -1;   ///< PMI_FD, a connected socket, which is closed at the end; −1: none
    std::string port{};    ///< if there is no descriptor: PMI_PORT, "HOST:PORT"
    std::string id{};      ///< with it: PMI_ID, by which the server knows the process
    std::string job{};     ///< PMI_JOBID
    int rank = -1, size = -1;
    std::chrono::seconds patience{120};   ///< within which the server must answer the first command

    static PmiPlace of_this_process(std::chrono::seconds patience);
};

/// Connects by PMI, version 1.1, or 2.0 if the server refuses that.
std::unique_ptr<JobServer> connect_pmi(PmiPlace const& place);

struct JoinedJob {
    Segment segment;
    unsigned local_rank;
    std::vector<int> listeners;             ///< sockets that the caller closes; empty: all ranks are on one node
    std::vector<std::string> diagnostics;   ///< for rank 0 to print, without full stops
};

/// Collective over the job. Uses `tuning` and the network settings of `variables`; `arena` is this rank's own. Throws
/// Error.
JoinedJob join_job(JobServer& server, Variables const& variables, ArenaWindow const& arena);

// tutti-daemon as a helper of ranks whose job was not started by our mpiexec: it watches them (watchdog.hpp) and
// detects the machine with hwloc (node_machine.hpp); the MPI library itself is linked to nothing for either purpose.

/// Returns the path of the tutti-daemon of the installation that this library belongs to; the file may not exist.
/// Empty if the library's own path is unknown.
std::string daemon_program();

/// Returns this process's environment for posix_spawn, without LD_PRELOAD: preloaded libraries are for ranks alone.
/// Valid until the environment changes.
std::vector<char*> daemon_environment();

// A rank of mpiexec finds its node's segment by the descriptor that it has inherited, or, if a wrapper between
// mpiexec and the program has closed it (Python's subprocess.run, sudo, closefrom), through mpiexec's descriptor in
// /proc.

/// Returns a descriptor for the segment that has number `descriptor` in the launcher; the same number if that is
/// free. Variables of runtime/settings/launch.hpp identify the file, so the descriptor certainly denotes the segment;
/// it is returned unchecked only if they are missing. Throws Error, with what to do, if the segment can neither be
/// found nor be reopened.
int inherited_segment(int descriptor);

}   // namespace tutti
