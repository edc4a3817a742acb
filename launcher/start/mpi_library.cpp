// SPDX-License-Identifier: BSD-3-Clause
// Queries the loader, and reads which libraries a process has mapped.
#include "launcher/start/mpi_library.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "launcher/base/proc.hpp"
#include "launcher/start/commands.hpp"
#include "launcher/start/drop_in.hpp"
#include "launcher/start/spawn.hpp"
#include "runtime/base/descriptor.hpp"
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

/// Returns the loader's list for a program, or its error message; empty if there is no loader.
std::string loader_output(std::string const& program, LoaderContext const& context) {
    std::string const loader = read_linkage(path_in(context.folder, program)).loader;
    if (loader.empty()) return {};
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

ResolvedLibrary foreign_library(std::string const& program, LoaderContext const& context) {
    Linkage const linkage = read_linkage(path_in(context.folder, program));
    auto const found = std::ranges::find_if(linkage.libraries, is_mpi_library);
    if (found == linkage.libraries.end() || resolves_to_ours(linkage, *found, context)) return {};
    for (ResolvedLibrary const& one : resolved_libraries(program, context))
        if (one.name == *found && !is_our_library(one.file)) return one;
    return {};
}

std::string mapped_foreign_library(pid_t process) {
    std::string foreign;
    for (pid_t one : process_and_children(process)) {
        bool is_ours = false;
        std::string const maps = topo::read_system_file(process_folder(one) + "/maps");
        topo::for_each_mapping(maps, [&](topo::Mapping const& mapping) {
            std::string const file(mapping.name);
            if (!mapping.is_file() || file == foreign || !is_mpi_library(file_name(file))) return;
            if (is_our_library(file)) is_ours = true;
            else foreign = file;
        });
        if (is_ours) return {};
    }
    return foreign;
}

}   // namespace tutti::launcher
