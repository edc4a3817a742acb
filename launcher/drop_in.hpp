// SPDX-License-Identifier: BSD-3-Clause
// --drop-in: our library in the place of the MPI library that a program was linked with.
#pragma once

#include <string>
#include <vector>

namespace tutti::launcher {

/// The folder of our libmpi.so.12, from where mpiexec itself lies. Throws Complaint when there is none.
std::string library_folder();

/// What the loader will read in a program's file: the names of its libraries and the old search path that comes before
/// LD_LIBRARY_PATH. Empty for whatever is no 64-bit ELF file (a script).
struct Linkage {
    bool elf = false, dynamic = false;
    std::vector<std::string> libraries;
    std::string rpath;
};
Linkage read_linkage(std::string const& file);

/// Throws a Complaint when the program cannot run on our library: linked statically, or with another ABI. True when it
/// has a search path of its own that the loader prefers, so that our library must be loaded before.
bool needs_preload(std::string const& file);

/// The MPI library that the program names by itself, if it names one.
std::string mpi_library_of(std::string const& file);

}  // namespace tutti::launcher
