// SPDX-License-Identifier: BSD-3-Clause
// Queries the loader, and reads which libraries a process has mapped.
#include "launcher/start/mpi_library.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "launcher/base/proc.hpp"
#include "launcher/start/commands.hpp"
#include "launcher/start/spawn.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/files.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr auto loader_timeout = 10s;   // time limit for listing a program's libraries

std::string file_name(std::string const& file) { return file.substr(file.rfind('/') + 1); }

std::string value_of(char const* name, std::vector<std::string> const& environment) {
    std::string const front = join(name, "=");
    for (std::string const& entry : environment)
        if (entry.starts_with(front)) return entry.substr(front.size());
    return {};
}

/// Returns everything that the command prints, including standard error. A command that does not end in time, for
/// instance because a file system does not respond, is killed and its output ignored, so that it cannot delay the
/// job's start.
std::string run_and_capture(std::vector<std::string> const& command, LoaderContext const& context) {
    Descriptor const nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    Pipe pipe = Pipe::make();
    SpawnOptions start{};
    start.path = command[0];
    start.command = command;
    start.environment = context.environment;
    start.directory = context.folder;
    start.input = nothing.get();
    start.output = start.error = pipe.write.get();
    pid_t const child = spawn(start);
    pipe.write.reset();
    std::string text;
    char buffer[4096];
    auto const until = std::chrono::steady_clock::now() + loader_timeout;
    auto const left = [until] {
        return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()));
    };
    for (pollfd one{pipe.read.get(), POLLIN, 0};;) {
        int const ready = poll(&one, 1, static_cast<int>(left().count()));
        ssize_t const n = ready > 0 ? read(pipe.read.get(), buffer, sizeof buffer) : ready;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        text.append(buffer, static_cast<std::size_t>(n));
    }
    while (waitpid(child, nullptr, WNOHANG) == 0) {
        if (left() > 0ms) {
            std::this_thread::sleep_for(1ms);
            continue;
        }
        kill(-child, SIGKILL);   // the supervisor reaps it
        return {};
    }
    return text;
}

/// Returns the loader's list for a program, or its error message; empty if there is no loader. The loader has the
/// libraries in its memory. The variable of its launcher distinguishes it from a rank of the mpiexec of which this one
/// may be a rank itself (mapped_foreign_library).
std::string loader_output(std::string const& program, LoaderContext context) {
    std::string const loader = read_linkage(path_in(context.folder, program)).loader;
    if (loader.empty()) return {};
    std::string const name = join(launch::launcher_variable, '=');
    std::erase_if(context.environment, [&](std::string const& entry) { return entry.starts_with(name); });
    context.environment.push_back(name + launcher_name(getpid()));
    try {
        return run_and_capture({loader, "--list", program}, context);
    } catch (LaunchError const&) {
        return {};   // the start of the rank reports the error
    }
}

/// Returns the folder of a search path that contains the file; nullopt if that cannot be determined without the
/// loader.
std::optional<std::string> folder_with(std::string const& file, std::string const& path) {
    std::istringstream folders(path);
    std::error_code ignored;
    for (std::string folder; std::getline(folders, folder, ':');)
        if (!folder.empty() && std::filesystem::exists(folder + "/" + file, ignored)) return folder;
    return {};
}

/// True in the common case that a search path leads to our own folder; the loader then need not be queried.
bool resolves_to_ours(Linkage const& linkage, std::string const& library, LoaderContext const& context) {
    std::string const set = value_of("LD_LIBRARY_PATH", context.environment);
    std::string const path = join(linkage.rpath, ":", set, ":", linkage.runpath);
    std::string const preloaded = value_of("LD_PRELOAD", context.environment);
    bool const plain = path.find('$') == std::string::npos && preloaded.find("mpi") == std::string::npos;
    std::optional<std::string> const folder = plain ? folder_with(library, path) : std::nullopt;
    std::error_code ignored;
    return folder && std::filesystem::weakly_canonical(*folder, ignored) == library_folder(library);
}

/// Returns true if this is a rank of another launcher, such as an mpiexec that one of our ranks has become.
bool belongs_to_other_launcher(pid_t process) {
    std::string const environment = '\0' + topo::read_system_file(process_folder(process) + "/environ");
    std::string const name = join('\0', launch::launcher_variable, '=');
    std::size_t const at = environment.find(name);
    return at != std::string::npos && environment.c_str() + at + name.size() != launcher_name(getpid());
}

bool has_ended(pid_t process) { return topo::read_system_file(process_folder(process) + "/maps").empty(); }

std::vector<pid_t> process_and_children(pid_t process) {
    std::vector<pid_t> all = children_of(process);
    all.insert(all.begin(), process);
    return all;
}

}   // namespace

std::vector<ResolvedLibrary> resolved_libraries(std::string const& program, LoaderContext const& context) {
    std::istringstream lines(loader_output(program, context));
    std::vector<ResolvedLibrary> all;
    for (std::string line; std::getline(lines, line);) {
        std::size_t const first = line.find_first_not_of(" \t"), arrow = line.find(" => /"), end = line.rfind(" (0x");
        if (arrow == std::string::npos || end == std::string::npos || end < arrow) continue;
        all.push_back({line.substr(first, arrow - first), line.substr(arrow + 4, end - arrow - 4)});
    }
    return all;
}

std::string loader_error(std::string const& program, LoaderContext const& context) {
    constexpr std::string_view front = "error while loading shared libraries: ";
    std::string const words = loader_output(program, context);
    std::size_t const at = words.find(front);
    return at == std::string::npos ? "" : words.substr(at + front.size(), words.find('\n', at) - at - front.size());
}

/// A library that can join our jobs contains the name of the variable by which it finds them.
bool is_our_library(std::string const& file) {
    MappedFile const library(file);
    return library.bytes().find(launch::segment_variable) != std::string_view::npos;
}

bool is_mpi_library(std::string_view name) {
    return name == "libmpi.so" || name.starts_with("libmpi.so.") || name == "libmpich.so" ||
           name.starts_with("libmpich.so.");
}

bool has_our_abi(std::string_view name) {
    for (std::string_view front : {"libmpi.so.12", "libmpich.so.12"})
        if (name == front || (name.starts_with(front) && name[front.size()] == '.')) return true;
    return false;
}

bool uses_pmix(std::string_view name) { return is_mpi_library(name) && !has_our_abi(name); }

LinkedMpi linked_mpi(std::string const& program, LoaderContext const& context) {
    using Kind = LinkedMpi::Kind;
    Linkage const linkage = read_linkage(path_in(context.folder, program));
    auto const found = std::ranges::find_if(linkage.libraries, is_mpi_library);
    if (found == linkage.libraries.end()) return {};
    if (resolves_to_ours(linkage, *found, context)) return {.kind = Kind::ours};
    std::vector<ResolvedLibrary> const all = resolved_libraries(program, context);
    auto const library = std::ranges::find(all, *found, &ResolvedLibrary::name);
    if (library == all.end()) return {};
    if (is_our_library(library->file)) return {.kind = Kind::ours};
    bool const is_linked_with_pmix =
        std::ranges::any_of(all, [](ResolvedLibrary const& one) { return one.name.starts_with("libpmix.so"); });
    return {Kind::foreign, *library, uses_pmix(library->name) || is_linked_with_pmix};
}

/// Code only: an mpiexec that searches a library for names has its bytes in memory.
MappedLibrary mapped_foreign_library(pid_t process) {
    MappedLibrary foreign;
    for (pid_t one : process_and_children(process)) {
        bool is_ours = false;
        MappedLibrary found;
        std::string const maps = topo::read_system_file(process_folder(one) + "/maps");
        topo::for_each_mapping(maps, [&](topo::Mapping const& mapping) {
            std::string const file(mapping.name);
            if (file.find("/mpi4py/") != std::string::npos) found.by_mpi4py = true;
            if (!mapping.executable() || file == found.file || !is_mpi_library(file_name(file))) return;
            if (is_our_library(file)) is_ours = true;
            else found.file = file;
        });
        // Only now, because the process may have been a copy of that launcher, with its environment, a moment ago. The
        // environment of a process that has ended is empty.
        if (one != process && (belongs_to_other_launcher(one) || has_ended(one))) continue;
        if (is_ours) return {};
        if (!found.file.empty()) foreign.file = found.file;
        foreign.by_mpi4py |= found.by_mpi4py;
    }
    return foreign;
}

// Reads a program's dynamic section as the loader does.

namespace {

/// Mapped, because an interpreter has millions of bytes, of which the loader's part is small.
class ElfFile : public MappedFile {
public:
    using MappedFile::MappedFile;

    bool valid() const {
        Elf64_Ehdr head{};
        return get(0, head) && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
               head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(Elf64_Phdr);
    }

    std::vector<Elf64_Phdr> segments() const {
        Elf64_Ehdr head{};
        get(0, head);
        std::vector<Elf64_Phdr> all(head.e_phnum);
        for (std::size_t i = 0; i < all.size(); ++i) get(head.e_phoff + i * sizeof(Elf64_Phdr), all[i]);
        return all;
    }

    template <class T>
    bool get(std::uint64_t offset, T& out) const {
        if (offset > bytes().size() || bytes().size() - offset < sizeof out) return false;
        std::memcpy(&out, bytes().data() + offset, sizeof out);
        return true;
    }

    std::string text(std::uint64_t offset) const {
        if (offset >= bytes().size()) return {};
        return std::string(bytes().substr(offset, bytes().find('\0', offset) - offset));
    }
};

std::uint64_t offset_of(std::vector<Elf64_Phdr> const& segments, std::uint64_t address) {
    for (Elf64_Phdr const& s : segments)
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return address - s.p_vaddr + s.p_offset;
    return ~std::uint64_t{0};
}

void read_dynamic(ElfFile const& elf, std::vector<Elf64_Phdr> const& segments, Elf64_Phdr const& dynamic,
                  Linkage& out) {
    std::vector<std::uint64_t> needed;
    std::uint64_t strings = 0, rpath = 0, runpath = 0;
    bool has_rpath = false, has_runpath = false;
    Elf64_Dyn entry{};
    for (std::uint64_t at = 0; at < dynamic.p_filesz && elf.get(dynamic.p_offset + at, entry) && entry.d_tag != DT_NULL;
         at += sizeof entry) {
        if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
        if (entry.d_tag == DT_STRTAB) strings = offset_of(segments, entry.d_un.d_ptr);
        if (entry.d_tag == DT_RPATH) rpath = entry.d_un.d_val, has_rpath = true;
        if (entry.d_tag == DT_RUNPATH) runpath = entry.d_un.d_val, has_runpath = true;   // disables RPATH
    }
    for (std::uint64_t name : needed) out.libraries.push_back(elf.text(strings + name));
    if (has_rpath && !has_runpath) out.rpath = elf.text(strings + rpath);
    if (has_runpath) out.runpath = elf.text(strings + runpath);
}

/// Returns what executes the file: the program that the first line of a script names, or the file itself.
std::string interpreter_of(std::string const& file) {
    ElfFile const script(file);
    std::string_view line = script.bytes().substr(0, script.bytes().find('\n'));
    if (line.starts_with(ELFMAG)) return file;
    if (!line.starts_with("#!")) return "/bin/sh";
    line.remove_prefix(std::min(line.find_first_not_of(" \t", 2), line.size()));
    return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

/// Sanitizers abort a program in which another library precedes them.
bool is_sanitizer(std::string_view library) {
    constexpr std::array<std::string_view, 5> names = {"libasan.", "libtsan.", "liblsan.", "libhwasan.",
                                                       "libclang_rt."};
    return std::any_of(names.begin(), names.end(), [&](auto name) { return library.starts_with(name); });
}

}   // namespace

MappedFile::MappedFile(std::string const& file) {
    Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!in || fstat(in.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return;
    auto const size = static_cast<std::size_t>(info.st_size);
    void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, in.get(), 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<char const*>(at), size};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

std::string library_folder(std::string const& library) {
    std::error_code error;
    std::filesystem::path const bin = topo::program_folder();
    if (bin.empty()) return {};
    for (std::filesystem::path const& folder : {bin / ".." / "lib", bin / TUTTI_LIBRARIES_FROM_PROGRAMS}) {
        if (!std::filesystem::exists(folder / library, error)) continue;
        std::filesystem::path const shortest = std::filesystem::weakly_canonical(folder, error);
        return error ? folder : shortest;   // a container may forbid the system calls that this needs
    }
    return {};
}

Linkage read_linkage(std::string const& file) {
    Linkage linkage;
    ElfFile elf(file);
    if (!elf.valid()) return linkage;
    linkage.elf = true;
    std::vector<Elf64_Phdr> segments = elf.segments();
    for (Elf64_Phdr const& segment : segments) {
        if (segment.p_type == PT_INTERP) linkage.loader = elf.text(segment.p_offset);
        if (segment.p_type != PT_DYNAMIC) continue;
        linkage.dynamic = true;
        read_dynamic(elf, segments, segment, linkage);
    }
    return linkage;
}

bool needs_preload(std::string const& file) {
    Linkage linkage = read_linkage(file);
    if (linkage.elf && !linkage.dynamic)
        throw LaunchError(join("--drop-in: ", file, " is linked statically, so its MPI library cannot be replaced"),
                          126);
    for (std::string const& name : linkage.libraries)
        if (name.starts_with("libmpi.so.") && name != "libmpi.so.12")
            throw LaunchError(join("--drop-in: ", file, " was built against ", name,
                                   ", whose ABI is not MPICH's; compile it with Tutti's mpicc"),
                              126);
    return !linkage.rpath.empty();
}

bool needs_arena(std::string const& file) {
    Linkage const linkage = read_linkage(interpreter_of(file));
    if (linkage.loader.empty() || linkage.loader != read_linkage("/proc/self/exe").loader) return false;
    for (std::string const& name : linkage.libraries) {
        if (is_sanitizer(name) || name.starts_with("libmpi.so") || name.starts_with("libmpich.so")) return false;
        if (name.starts_with("libc.so")) return true;   // before the library that loads MPI
    }
    return true;
}

}   // namespace tutti::launcher
