// SPDX-License-Identifier: BSD-3-Clause
// Affinity mask and cgroup quota. Small reads with the C library: this runs in every MPI_Init without a launcher.
#include "topo/machine/usable.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tutti::topo {

namespace {

// The whole of a small file; none when it cannot be read.
std::optional<std::string> contents(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (!file) return std::nullopt;
    char buffer[4096];
    std::string text;
    while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, bytes);
    std::fclose(file);
    return text;
}

std::optional<double> tighter(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

std::optional<double> quota_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return std::nullopt;
    return static_cast<double>(quota) / static_cast<double>(period);
}

// Version 2: "cpu.max" holds "quota period" or "max period".
std::optional<double> quota_v2(const std::string& folder) {
    const auto text = contents(folder + "/cpu.max");
    long long quota = 0, period = 0;
    if (!text || std::sscanf(text->c_str(), "%lld %lld", &quota, &period) != 2) return std::nullopt;
    return quota_of(quota, period);
}

// Version 1: two files; a quota of -1 is none.
std::optional<double> quota_v1(const std::string& folder) {
    const auto quota = contents(folder + "/cpu.cfs_quota_us");
    const auto period = contents(folder + "/cpu.cfs_period_us");
    if (!quota || !period) return std::nullopt;
    return quota_of(std::atoll(quota->c_str()), std::atoll(period->c_str()));
}

// The tightest quota of a cgroup and all above it.
template <class Quota>
std::optional<double> tightest(const std::string& mount, const std::string& path, Quota quota) {
    std::optional<double> result;
    for (const std::string& folder : cgroup_folders(mount, path)) result = tighter(result, quota(folder));
    return result;
}

bool names_cpu(std::string_view controllers) {
    return ("," + std::string(controllers) + ",").find(",cpu,") != std::string::npos;
}

// One line of /proc/self/cgroup, "number:controllers:path".
std::optional<double> quota_of_line(std::string_view line, const std::string& root) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
        return tighter(tightest(mount, path, quota_v2), tightest(mount + "/unified", path, quota_v2));
    }
    if (!names_cpu(controllers)) return std::nullopt;
    return tighter(tightest(mount + "/" + controllers, path, quota_v1), tightest(mount + "/cpu", path, quota_v1));
}

}   // namespace

std::vector<std::string> cgroup_folders(const std::string& mount, std::string path) {
    while (!path.empty() && access((mount + path).c_str(), F_OK) != 0) path.erase(0, path.find('/', 1));
    std::vector<std::string> folders;
    for (;;) {
        while (!path.empty() && path.back() == '/') path.pop_back();
        folders.push_back(mount + path);
        if (path.empty()) return folders;
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

std::vector<int> affinity_pus() {
    // The kernel refuses a mask smaller than its own, so grow until it accepts.
    for (int most = 1024; most <= 1 << 20; most *= 2) {
        cpu_set_t* set = CPU_ALLOC(most);
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        CPU_ZERO_S(bytes, set);
        std::vector<int> pus;
        if (sched_getaffinity(0, bytes, set) == 0) {
            for (int os = 0; os < most; ++os) {
                if (CPU_ISSET_S(os, bytes, set)) pus.push_back(os);
            }
        }
        CPU_FREE(set);
        if (!pus.empty()) return pus;
    }
    return {0};
}

std::optional<double> cgroup_cpu_quota(const std::string& root) {
    const auto groups = contents(root + "/proc/self/cgroup");
    if (!groups) return std::nullopt;
    std::optional<double> result;
    for (std::size_t begin = 0; begin < groups->size();) {
        const std::size_t end = std::min(groups->find('\n', begin), groups->size());
        result = tighter(result, quota_of_line(std::string_view(*groups).substr(begin, end - begin), root));
        begin = end + 1;
    }
    return result;
}

int usable_cores(int units, const std::string& root) {
    const auto quota = cgroup_cpu_quota(root);
    const int whole = quota ? static_cast<int>(std::min(*quota, 1e6)) : units;
    return std::max(1, std::min(units, whole));
}

int usable_cores() { return usable_cores(static_cast<int>(affinity_pus().size())); }

}   // namespace tutti::topo
