// SPDX-License-Identifier: BSD-3-Clause
// The programs of a job as one node starts them: their files, the libraries that their loaders find first, and the MPI
// library that they are linked with.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/start/mpi_library.hpp"
#include "launcher/start/spawn.hpp"

namespace tutti::launcher {

struct PreparedProgram {
    std::string file;   ///< empty: the program has no rank on this node
    LibraryOverrides library;
    LinkedMpi mpi;

    /// True unless its ranks are known to use Tutti's library: they may be served by PMI and PMIx.
    bool may_be_foreign() const { return !file.empty() && mpi.kind != LinkedMpi::Kind::ours; }
};

class Programs {
public:
    static constexpr char our_library[] = "Tutti's library";

    /// `job` must stay valid as long as this object.
    explicit Programs(Job const& job) : job_(job) {}

    /// Looks up the files and libraries of the job's programs, except those that have no rank on this node. `notice` is
    /// called with messages for the user. Throws LaunchError if a program cannot be started, or if two are linked with
    /// different MPI libraries.
    void prepare(std::function<bool(std::size_t number)> const& is_wanted,
                 std::function<void(std::string const&)> const& notice);

    PreparedProgram const& operator[](std::size_t number) const { return programs_[number]; }
    std::vector<PreparedProgram> const& all() const { return programs_; }

    /// Returns the loader's message about why it cannot load the program's libraries; empty if it can.
    std::string loader_error_of(std::size_t number) const;
    /// Returns `our_library`, or the name of another MPI library such as libmpich.so.12; empty if no program of this
    /// node is linked with one.
    std::string mpi_library() const;

    /// The folders in which programs are searched.
    static char const* search_path();

private:
    PreparedProgram prepare(Program const& program, std::function<void(std::string const&)> const& notice) const;
    LoaderContext loader_context(Program const& program, LibraryOverrides const& library) const;
    bool arena_wanted(Program const& program) const;
    std::string arena_library() const;
    void check_mpi_libraries() const;

    Job const& job_;
    std::vector<PreparedProgram> programs_;   ///< those of the job
};

}   // namespace tutti::launcher
