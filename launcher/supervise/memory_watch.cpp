// SPDX-License-Identifier: BSD-3-Clause
// The memory counters of cgroups.
#include "launcher/supervise/memory_watch.hpp"

#include <fstream>
#include <string_view>
#include <utility>

#include "runtime/base/error.hpp"
#include "topo/machine/usable.hpp"

namespace tutti::launcher {
namespace {

constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;   // version 1 shows none as a huge number
constexpr std::uint64_t huge_page = 2 << 20;                 // the most that is refused at once

std::uint64_t number_in(std::string const& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    return in >> value ? value : 0;
}

/// The number behind a word: "oom_kill 3" on a line of its own.
std::uint64_t number_behind(std::string const& word, std::string const& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    for (std::string name; in >> name >> value;)
        if (name == word) return value;
    return 0;
}

/// Of a cgroup and all above it those that count memory.
void add_folders(std::vector<std::string>& folders, std::string const& mount, std::string const& path) {
    for (std::string const& folder : topo::cgroup_folders(mount, path))
        for (char const* file : {"/memory.events", "/memory.oom_control"})
            if (std::ifstream(folder + file)) folders.push_back(folder);
}

bool names_memory(std::string_view controllers) {
    return join(",", controllers, ",").find(",memory,") != std::string::npos;
}

}   // namespace

MemoryWatch::MemoryWatch(std::string root) : root_(std::move(root)) {
    std::ifstream groups(root_ + "/proc/self/cgroup");   // lines of number:controllers:path
    std::string const mount = root_ + "/sys/fs/cgroup";
    for (std::string line; std::getline(groups, line);) {
        std::size_t const first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        std::string const controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        if (controllers.empty()) {
            add_folders(folders_, mount, path);
            add_folders(folders_, mount + "/unified", path);
        } else if (names_memory(controllers)) {
            add_folders(folders_, mount + "/" + controllers, path);
            if (controllers != "memory") add_folders(folders_, mount + "/memory", path);
        }
    }
    last_ = kills();
}

// Where a victim is counted for those above its cgroup, too, it is counted in its own all the same.
std::uint64_t MemoryWatch::kills() const {
    if (folders_.empty()) return 0;
    return number_behind("oom_kill", folders_.front() + "/memory.events") +
           number_behind("oom_kill", folders_.front() + "/memory.oom_control");
}

// Of this cgroup or one above it. Version 1 has a second limit for memory and swap together, and failure counts that
// newer kernels leave at zero; version 2 has not always had the highest use, but counts the times it was hopeless.
std::optional<std::uint64_t> MemoryWatch::reached_limit() const {
    for (std::string const& folder : folders_) {
        for (auto [limit, highest] : {std::pair{"/memory.max", "/memory.peak"},
                                      {"/memory.limit_in_bytes", "/memory.max_usage_in_bytes"},
                                      {"/memory.memsw.limit_in_bytes", "/memory.memsw.max_usage_in_bytes"}}) {
            std::uint64_t const most = number_in(folder + limit);   // 0: there is none, or the word "max"
            if (most == 0 || most >= no_limit) continue;
            if (number_in(folder + highest) + huge_page >= most) return most;
            if (number_behind("oom", folder + "/memory.events") != 0) return most;
        }
    }
    return {};
}

std::string MemoryWatch::what_ran_out() {
    std::uint64_t const before = std::exchange(last_, kills());
    if (last_ == before) return {};
    if (std::optional<std::uint64_t> const limit = reached_limit())
        return join("the memory limit of its cgroup, ", *limit >> 20, " MiB, was reached");
    std::uint64_t const total = number_behind("MemTotal:", root_ + "/proc/meminfo");   // in KiB
    return join("the machine's memory, ", total >> 10, " MiB, was used up");
}

}   // namespace tutti::launcher
