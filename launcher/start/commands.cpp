// SPDX-License-Identifier: BSD-3-Clause
// The commands of agents, the search for programs, and terminal windows.
#include "launcher/start/commands.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "launcher/base/job.hpp"
#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"
#include "topo/files.hpp"

namespace tutti::launcher {

std::vector<std::string> split_agent_command(std::string const& text, std::string_view source) {
    std::vector<std::string> arguments = parse_config_arguments(text.empty() ? ssh_agent : text, source);
    if (arguments.empty()) throw LaunchError(join("the command of ", source, " is empty"));
    return arguments;
}

std::vector<std::string> agent_command(Job const& job, std::string const& host) {
    std::vector<std::string> arguments = split_agent_command(job.agent);
    arguments.push_back(host);
    arguments.push_back(shell_quoted(job.daemon.empty() ? topo::program_folder() + "/tutti-daemon" : job.daemon));
    return arguments;
}

// The search for a program, with a message for each way in which it can fail.

namespace {

constexpr int not_found = 127, not_executable = 126;

bool is_folder(std::string const& file) {
    struct stat info {};
    return stat(file.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_regular_file(std::string const& file) {
    struct stat info {};
    return stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_executable(std::string const& file) { return !is_folder(file) && access(file.c_str(), X_OK) == 0; }

bool exists(std::string const& file) { return access(file.c_str(), F_OK) == 0; }

/// How files that people mistake for programs are made into one: an interpreter or a compiler, by the name's ending.
struct Language {
    std::string_view endings;   ///< each followed by a blank
    char const *interpreter, *compiler;
};
constexpr Language languages[] = {
    {".py ", "python3", nullptr},
    {".jl ", "julia", nullptr},
    {".R .r ", "Rscript", nullptr},
    {".pl ", "perl", nullptr},
    {".rb ", "ruby", nullptr},
    {".c ", nullptr, "mpicc"},
    {".cc .cpp .cxx .C ", nullptr, "mpicxx"},
    {".f .F .for .f90 .F90 .f95 .f03 .f08 ", nullptr, "mpifort"},
};

Language const* language_of(std::string_view name) {
    std::size_t const dot = name.rfind('.');
    if (dot == name.npos || name.find('/', dot) != name.npos) return nullptr;
    for (Language const& one : languages)
        if (one.endings.find(join(name.substr(dot), " ")) != std::string_view::npos) return &one;
    return nullptr;
}

/// Returns what to write instead of the name of a script or a source file.
std::string advice(Language const& language, std::string const& name, int ranks) {
    if (language.interpreter)
        return join("is a script of ", language.interpreter, "; write mpiexec -n ", ranks, " ", language.interpreter,
                    " ", shell_quoted(name));
    return join("is a source file; compile it: ", language.compiler, " ", shell_quoted(name), " -o ",
                shell_quoted(name.substr(0, name.rfind('.'))));
}

/// Throws LaunchError if a file that begins with `head` is empty or the output of a compiler that was not linked.
void check_linked(std::string const& name, std::string const& head) {
    if (head.empty())
        throw LaunchError(join("the program ", name, " is an empty file; compile or copy it again"), not_executable);
    Elf64_Ehdr header{};
    if (!head.starts_with(ELFMAG) || head.size() < sizeof header) return;
    std::memcpy(&header, head.data(), sizeof header);
    if (header.e_type != ET_REL) return;
    std::string const linked = name.ends_with(".o") ? name.substr(0, name.size() - 2) : "a.out";
    throw LaunchError(join(name, " is an object file, which was compiled but not linked: mpicc ", shell_quoted(name),
                           " -o ", shell_quoted(linked), " links it"),
                      not_executable);
}

/// Returns the beginning of a regular file, enough to recognize its kind.
std::string head_of(std::string const& file) {
    if (!is_regular_file(file)) return "";
    std::string head(256, '\0');
    std::ifstream in(file, std::ios::binary);
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    return head;
}

std::string check_path(std::string const& name, std::string const& file, int ranks) {
    std::string const program = join("the program ", name, " ");
    if (is_folder(file)) throw LaunchError(join(program, "is a folder"), not_executable);
    if (!exists(file)) throw LaunchError(join(program, "cannot be found: ", std::strerror(errno)), not_found);
    std::string const head = head_of(file);
    bool const script = head.starts_with("#!");
    if (Language const* const language = language_of(name); language && !head.starts_with(ELFMAG))
        if (!script || !is_executable(file))
            throw LaunchError(join(name, " ", advice(*language, name, ranks)), not_executable);
    if (is_regular_file(file) && access(file.c_str(), R_OK) == 0) check_linked(name, head);
    if (!is_executable(file))
        throw LaunchError(join(program, "is not executable (chmod +x makes it so)"), not_executable);
    std::size_t const end = head.find('\n');
    if (script && end != head.npos && head[end - 1] == '\r')
        throw LaunchError(
            join("the first line of the script ", name, " ends with a carriage return (\\r), as on Windows, ",
                 "so its interpreter cannot be found; sed -i 's/\\r$//' ", shell_quoted(name), " removes it"),
            not_executable);
    return name;
}

}   // namespace

bool may_be_shell_script(std::string const& file) {
    std::string const head = head_of(file);
    return !language_of(file) && !head.starts_with(ELFMAG) && head.find('\0') == head.npos;
}

std::string path_in(std::string const& folder, std::string const& file) {
    return folder.empty() || file.starts_with('/') ? file : folder + "/" + file;
}

std::string find_program(std::string const& name, std::string const& folder, std::string const& path, bool* in_folder,
                         int ranks) {
    if (name.empty()) throw LaunchError("the name of the program is empty", not_found);
    if (!folder.empty() && !is_folder(folder))
        throw LaunchError(exists(folder) ? join("-wdir: ", folder, " is not a folder")
                                         : join("-wdir: the folder ", folder, " does not exist"),
                          not_found);
    if (name.find('/') != std::string::npos) return check_path(name, path_in(folder, name), ranks);
    for (std::string_view rest = path; !rest.empty();) {
        std::size_t colon = std::min(rest.find(':'), rest.size());
        std::string file = join(colon == 0 ? "." : rest.substr(0, colon), "/", name);
        if (is_executable(path_in(folder, file))) return check_path(file, path_in(folder, file), ranks);
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    std::string here = "./" + name;
    if (exists(path_in(folder, here))) {
        if (in_folder) *in_folder = true;
        check_path(name, path_in(folder, here), ranks);
        return here;
    }
    throw LaunchError(join("the program ", name, " is neither in PATH nor in this folder"), not_found);
}

// Windows and debuggers are programs that start the rank's program.

namespace {

std::string no_window_hint() {
    return join("; mpiexec -n 4 -l ", gdb_without_windows, " ./a.out needs no window and shows where a rank crashes");
}

}   // namespace

TerminalWindows::TerminalWindows(Job const& job, std::vector<int> const& ranks, std::string const& search_path)
    : job_(job) {
    if (std::ranges::none_of(ranks, [&](int rank) { return has_window(rank); })) return;
    char const* const option = job.debugger ? "-gdb" : "--xterm";
    char const* const display = std::getenv("DISPLAY");
    if (!display || !*display)
        throw LaunchError(join(option, " opens a window for each rank, but DISPLAY is not set", no_window_hint()));
    try {
        xterm_ = find_program("xterm", "", search_path);
        if (job.debugger) gdb_ = find_program("gdb", "", search_path);
    } catch (LaunchError const& error) {
        throw LaunchError(join(option, ": ", error.what(), no_window_hint()), error.exit_code);
    }
}

bool TerminalWindows::has_window(int rank) const {
    return std::ranges::any_of(job_.windows, [&](int one) { return one < 0 || one == rank; });
}

void TerminalWindows::wrap_command(SpawnOptions& start, int rank, std::string const& host) const {
    if (!has_window(rank)) return;
    std::vector<std::string> command{"xterm", "-T", join("rank ", rank, " on ", host)};
    if (job_.keep_windows) command.emplace_back("-hold");
    command.emplace_back("-e");
    if (!gdb_.empty()) command.insert(command.end(), {gdb_, "--args"});
    command.push_back(start.path);
    command.insert(command.end(), start.command.begin() + 1, start.command.end());
    start.path = xterm_;
    start.command = std::move(command);
}

}   // namespace tutti::launcher
