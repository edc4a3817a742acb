// SPDX-License-Identifier: BSD-3-Clause
// What the loader is to find in front of a program's own libraries: with --drop-in our MPI library in the place of the
// one it was linked with, and our allocation functions where the C library's would come first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::launcher {

/// The folder of our libraries, which holds `library`, from where mpiexec itself lies; empty when there is none.
std::string library_folder(std::string const& library);

/// A file's bytes without reading them all; none when it cannot be read.
class MappedFile {
public:
    explicit MappedFile(std::string const& file);
    ~MappedFile();
    MappedFile(MappedFile const&) = delete;
    MappedFile& operator=(MappedFile const&) = delete;

    std::string_view bytes() const { return bytes_; }

private:
    std::string_view bytes_;
};

/// What the loader will read in a program's file: the names of its libraries and the old search path that comes before
/// LD_LIBRARY_PATH. Empty for whatever is no 64-bit ELF file (a script).
struct Linkage {
    bool elf = false, dynamic = false;
    std::string loader;   ///< empty in a static program
    std::vector<std::string> libraries;
    std::string rpath;
    std::string runpath;   ///< the new one, which comes behind it
};
Linkage read_linkage(std::string const& file);

/// Throws a Complaint when the program cannot run on our library: linked statically, or with another ABI. True when it
/// has a search path of its own that the loader prefers, so that our library must be loaded before.
bool needs_preload(std::string const& file);

/// Does a program have to be given our allocation functions? Those of our MPI library do it when the loader finds them
/// before the C library's. It does not for an interpreter, which opens MPI with dlopen, for a script, or where another
/// library is what brings MPI. False also for programs that cannot take them: static ones, those of another loader
/// (32 bits, another C library), those whose sanitizer must come first.
bool needs_arena(std::string const& file);

}   // namespace tutti::launcher
