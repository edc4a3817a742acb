// SPDX-License-Identifier: BSD-3-Clause
// Determines which MPI library a program uses: as the loader resolves it before the start, or as a process has mapped
// it; and why the loader failed to start a program. The functions inspect files and processes rather than guess from
// names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// One line of the loader's list.
struct ResolvedLibrary {
    std::string name;
    std::string file;
};

/// The folder and environment in which a program is started; the loader's result depends on them.
struct LoaderContext {
    std::string folder;                     ///< empty: mpiexec's current folder
    std::vector<std::string> environment;   ///< "NAME=VALUE"
};

/// Returns the libraries that the program's own loader finds for it, without running the program. Empty for scripts
/// and static programs, and if the loader does not answer.
std::vector<ResolvedLibrary> resolved_libraries(std::string const& program, LoaderContext const& context);

/// Returns the loader's message about why it cannot load the program's libraries, such as "libx.so.1: cannot open …";
/// empty if it can.
std::string loader_error(std::string const& program, LoaderContext const& context);

/// True if ranks that have loaded this file can join a job of this launcher, that is, for every build of Tutti, in
/// any folder.
bool is_our_library(std::string const& file);

/// True if this is the file name of an MPI library, ours or another: libmpi.so.40, libmpich.so.12.
bool is_mpi_library(std::string_view name);

/// True if this is the name of an MPI library with our ABI, so that ours can replace it.
bool has_our_abi(std::string_view name);

/// The MPI library that a program is linked with directly.
struct LinkedMpi {
    /// `none`: an interpreter, a script or another program without MPI, or the loader finds no library; it may load one
    /// later, or start a program that does.
    enum class Kind { none, ours, foreign };
    Kind kind = Kind::none;
    ResolvedLibrary library{};   ///< set if it is foreign
    bool needs_pmix = false;     ///< the foreign library joins its job by PMIx rather than by PMI
};
LinkedMpi linked_mpi(std::string const& program, LoaderContext const& context);

/// Returns true if a library with this name joins its job by PMIx: Open MPI's. Those with MPICH's ABI use PMI.
bool uses_pmix(std::string_view name);

/// Returns the MPI library that this process or one of its children has mapped, if none of them has mapped ours.
/// Empty otherwise, also if the process cannot be inspected. Ranks of other launchers are ignored.
struct MappedLibrary {
    std::string file;
    bool by_mpi4py = false;   ///< a module of Python's mpi4py is mapped, too, and has probably loaded it
};
MappedLibrary mapped_foreign_library(pid_t process);

// Libraries that the loader must find before those of the program: with --drop-in, our MPI library instead of the one
// the program was linked with; and our allocation functions before those of the C library.

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
