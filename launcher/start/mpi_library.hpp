// SPDX-License-Identifier: BSD-3-Clause
// Which MPI library a program gets: as the loader resolves it before the start, as a process has mapped it, and why
// the loader could not start a program. Everything here looks; nothing is concluded from names alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// One line of the loader's list.
struct Resolved {
    std::string name;
    std::string file;
};

/// Where a program is started: what the loader's answer depends on.
struct Surroundings {
    std::string folder;                     ///< empty: that of mpiexec
    std::vector<std::string> environment;   ///< "NAME=VALUE"
};

/// What the program's own loader finds for it and its libraries; the program itself does not run. Empty for scripts
/// and static programs, and when the loader gives no answer.
std::vector<Resolved> resolved_libraries(std::string const& program, Surroundings const& where);

/// Why the loader cannot load the program's libraries, in its words: "libx.so.1: cannot open …"; empty when it can.
std::string loader_error(std::string const& program, Surroundings const& where);

/// Can ranks that have loaded this file join a job of this launcher? True for any build of Tutti, wherever it lies.
bool is_our_library(std::string const& file);

/// A file's name is that of an MPI library, ours or another one's: libmpi.so.40, libmpich.so.12.
bool is_mpi_library(std::string_view name);

/// By its name an MPI library whose ABI is ours, so that ours may take its place.
bool has_our_abi(std::string_view name);

/// The program is linked with an MPI library by itself, and the loader finds another one than ours for it: name and
/// file. Empty otherwise, also when it finds none.
Resolved foreign_library(std::string const& program, Surroundings const& where);

/// The MPI library that this process, or one that it has started, has mapped, when none of them has mapped ours. Empty
/// otherwise, also when the process cannot be looked at.
std::string mapped_foreign_library(pid_t process);

}   // namespace tutti::launcher
