// SPDX-License-Identifier: BSD-3-Clause
// Who starts the ranks of a job when it is not our mpiexec (Slurm's srun, Open MPI's mpirun, prterun) has a server on
// each node, of which this is all that we need. runtime/job/pmix.hpp speaks to a real one; tests have their own.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti {

/// One rank's connection to the server of its job. Of one thread, except abort, which any thread may call.
class JobServer {
public:
    enum class Reach { node, job };   ///< who may ask for what was put: ranks of this node, all

    virtual ~JobServer() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The ranks that were started on this node, ascending; this one is among them.
    virtual std::vector<int> const& local_ranks() const = 0;
    /// The server's own name of this node, without blanks; empty: it tells none.
    virtual std::string const& node_name() const = 0;

    /// Keeps a value, one byte or more, to be seen by others from the next exchange on. A key is put once.
    virtual void put(Reach reach, std::string const& key, std::string const& value) = 0;
    /// Returns when every rank has called it. Collective over the job. Throws Error.
    virtual void exchange() = 0;
    /// What `rank` has put before an exchange. Throws Error when there is no such thing.
    virtual std::string get(int rank, std::string const& key) = 0;

    /// The threads of this process, by gettid(), that serve the connection alone and never call MPI.
    virtual std::vector<pid_t> threads() const { return {}; }

    /// Lets the server end the job; returns when it knows.
    virtual void abort(int code, std::string const& sentence) = 0;
    /// Says goodbye, so that this rank's exit is not a failure. Nothing may follow.
    virtual void finish() = 0;
};

}   // namespace tutti
