// SPDX-License-Identifier: BSD-3-Clause
// The facts behind MPI_INFO_ENV come from the system, because MPI_Init may be called without the program's arguments.
#include "mpi_h/entry/info_env.hpp"

#include <cstdlib>
#include <iterator>

#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/settings/launch.hpp"
#include "topo/base/text_streams.hpp"

namespace tutti {
namespace {

std::string shortened(std::string const& text) { return text.substr(0, MPI_MAX_INFO_VAL); }

void set_command(Info& info) {
    FileReader file("/proc/self/cmdline", std::ios::binary);
    std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.empty()) return;
    line.pop_back();   // each word ends in a zero
    std::size_t end = line.find('\0');
    info.set("command", shortened(line.substr(0, end)));
    if (end == std::string::npos) return;
    std::string arguments = line.substr(end + 1);
    for (char& c : arguments)
        if (c == '\0') c = ' ';
    info.set("argv", shortened(arguments));
}

char const* level_name(int level) {
    switch (level) {
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE: return "MPI_THREAD_MULTIPLE";
    default: return "MPI_THREAD_SINGLE";
    }
}

/// Before MPI_Init the launcher's word is all there is; a process that it did not start is alone.
std::string world_size(LibraryState const& f) {
    if (f.process) return std::to_string(f.process->size());
    char const* size = std::getenv(launch::segment_variable) ? std::getenv("PMI_SIZE") : nullptr;
    return size ? size : "1";
}

}   // namespace

void describe_start(Info& info, LibraryState const& f) {
    set_command(info);
    info.set("maxprocs", world_size(f));
    utsname system;
    if (uname(&system) == 0) {
        info.set("host", shortened(system.nodename));
        info.set("arch", shortened(system.machine));
    }
    char folder[4096];
    if (getcwd(folder, sizeof folder)) info.set("wdir", shortened(folder));
    info.set("thread_level", level_name(f.thread_level));
    info.set(memory_kinds_key, memory_kinds);
}

void place_info_env(LibraryState& f) {
    auto* info = new Info;
    info->predefined = true;
    describe_start(*info, f);
    f.tables.infos.place(MPI_INFO_ENV, info);
}

}   // namespace tutti
