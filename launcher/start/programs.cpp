// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/programs.hpp"

#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "launcher/start/commands.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/setting_text.hpp"

namespace tutti::launcher {
namespace {

std::string described(LinkedMpi const& mpi) {
    switch (mpi.kind) {
    case LinkedMpi::Kind::ours: return Programs::our_library;
    case LinkedMpi::Kind::foreign: return mpi.library.name;
    case LinkedMpi::Kind::none: break;
    }
    return {};
}

}   // namespace

char const* Programs::search_path() {
    char const* path = std::getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

void Programs::prepare(std::function<bool(std::size_t)> const& is_wanted,
                       std::function<void(std::string const&)> const& notice) {
    for (std::size_t number = 0; number < job_.programs.size(); ++number)
        programs_.push_back(is_wanted(number) ? prepare(job_.programs[number], notice) : PreparedProgram{});
    check_mpi_libraries();
}

PreparedProgram Programs::prepare(Program const& program, std::function<void(std::string const&)> const& notice) const {
    bool in_folder = false;
    std::string const path = join(program.path, program.path.empty() ? "" : ":", search_path());
    PreparedProgram prepared;
    prepared.file = find_program(program.command[0], program.directory, path, &in_folder, program.ranks);
    if (in_folder)
        notice(join(program.command[0], " is not in PATH; using ", prepared.file, " in the folder ",
                    program.directory.empty() ? "in which mpiexec was started" : program.directory));
    std::string const binary = path_in(program.directory, prepared.file);
    LibraryOverrides& library = prepared.library;
    if (job_.drop_in) {
        library.folder = library_folder("libmpi.so.12");
        if (library.folder.empty()) throw LaunchError("--drop-in: there is no libmpi.so.12 beside mpiexec", 1);
        library.preload = needs_preload(binary);
        prepared.mpi.kind = LinkedMpi::Kind::ours;
    }
    if (job_.preload_arena.value_or(arena_wanted(program) && needs_arena(binary))) library.arena = arena_library();
    if (!job_.drop_in) prepared.mpi = linked_mpi(prepared.file, loader_context(program, library));
    return prepared;
}

/// True unless the environment of the program's ranks contains TUTTI_ARENA=no, from whatever source: such
/// programs run without the library.
bool Programs::arena_wanted(Program const& program) const {
    constexpr std::string_view prefix = "TUTTI_ARENA=";
    bool wanted = true;
    for (std::string const& entry : rank_environment(environ, job_.environment, program.environment, {}, {}))
        if (entry.starts_with(prefix)) parse_setting(std::string_view(entry).substr(prefix.size()), wanted);
    return wanted;
}

/// Returns the file name of the arena library, or an empty string if it cannot be used. Throws LaunchError in that
/// case only if the user asked for the library.
std::string Programs::arena_library() const {
    constexpr char name[] = "libtutti_malloc.so";
    std::string const folder = library_folder(name), file = folder + "/" + name;
    bool const is_usable = file.find_first_of(" :") == std::string::npos;   // LD_PRELOAD separates names by these
    if (!folder.empty() && is_usable) return file;
    if (job_.preload_arena.has_value())
        throw LaunchError(folder.empty()
                              ? join("--preload-arena: there is no ", name, " beside mpiexec")
                              : join("--preload-arena: the loader accepts no blank or colon in the name ", file),
                          1);
    return {};
}

LoaderContext Programs::loader_context(Program const& program, LibraryOverrides const& library) const {
    return {program.directory, rank_environment(environ, job_.environment, program.environment, {}, library)};
}

std::string Programs::loader_error_of(std::size_t number) const {
    PreparedProgram const& prepared = programs_[number];
    return loader_error(prepared.file, loader_context(job_.programs[number], prepared.library));
}

/// Libraries of different makers cannot exchange messages, although each could join the job.
void Programs::check_mpi_libraries() const {
    PreparedProgram const* first = nullptr;
    for (PreparedProgram const& one : programs_) {
        if (one.mpi.kind == LinkedMpi::Kind::none) continue;
        if (!first) first = &one;
        if (described(one.mpi) == described(first->mpi)) continue;
        throw LaunchError(join(first->file, " is linked with ", described(first->mpi), ", and ", one.file, " with ",
                               described(one.mpi), ": all ranks of a job must use one MPI library"),
                          126);
    }
}

std::string Programs::mpi_library() const {
    for (PreparedProgram const& one : programs_)
        if (one.mpi.kind != LinkedMpi::Kind::none) return described(one.mpi);
    return {};
}

}   // namespace tutti::launcher
