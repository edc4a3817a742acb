// SPDX-License-Identifier: BSD-3-Clause
// Libraries that the loader must find before those of the program: with --drop-in, our MPI library instead of the one
// the program was linked with; and our allocation functions before those of the C library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::launcher {

/// Returns the folder of our libraries that contains `library`, located relative to mpiexec; empty if no such
/// folder exists.
std::string library_folder(std::string const& library);

/// A file mapped into memory, so that only the pages used are read; empty if it cannot be read.
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

/// The data that the loader reads from a program's file: the names of its libraries and its search paths. Empty for
/// anything but a 64-bit ELF file, such as a script.
struct Linkage {
    bool elf = false, dynamic = false;
    std::string loader;   ///< empty in a static program
    std::vector<std::string> libraries;
    std::string rpath;
    std::string runpath;   ///< searched after LD_LIBRARY_PATH, unlike rpath
};
Linkage read_linkage(std::string const& file);

/// Returns true if the program has a search path that precedes LD_LIBRARY_PATH, so that our library must be
/// preloaded. Throws LaunchError if the program cannot use our library: it is linked statically, or with another ABI.
bool needs_preload(std::string const& file);

/// Returns true if our allocation functions must be preloaded for this program. Our MPI library provides them if the
/// loader finds it before the C library. That is not so for an interpreter, which opens MPI with dlopen, for a
/// script, or if another library is what loads MPI. Returns false also for programs that cannot use them: static
/// programs, those of another loader (32 bits, another C library), and those whose sanitizer must be loaded first.
bool needs_arena(std::string const& file);

}   // namespace tutti::launcher
