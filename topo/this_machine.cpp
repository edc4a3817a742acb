// SPDX-License-Identifier: BSD-3-Clause
// Reads the topology from lists in /sys such as "0-3,64-67", and the affinity mask and CPU quota of this process.
#include "topo/this_machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "topo/files.hpp"
#include "topo/text.hpp"
#include "topo/text_streams.hpp"

namespace tutti::topo {

namespace {

// Returns the first line of a file; empty if it cannot be read.
std::string line_of(const std::string& file) {
    FileReader in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::vector<int> numbers_of(const std::string& list) { return parse_number_list(list).numbers; }

// Parses the size of a cache or of a cache line, such as "2048K"; returns 0 if the text is not a size.
std::size_t bytes_of(const std::string& text) { return parse_bytes(text).value_or(0); }

// Returns true if the outermost cache contains the contents of the inner ones. /sys does not report this. hwloc reads
// the same leaf of cpuid ("deterministic cache parameters": 0x8000001d on AMD processors that have it, else 4).
bool last_level_is_inclusive() {
    bool inclusive = false;
#if defined(__x86_64__)
    constexpr unsigned instruction_cache = 2;
    unsigned a = 0, b = 0, c = 0, d = 0, outermost = 0;
    const bool amd = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c >> 22 & 1);
    for (unsigned index = 0; index < 8; ++index) {
        if (!__get_cpuid_count(amd ? 0x8000001d : 4, index, &a, &b, &c, &d)) break;
        const unsigned type = a & 31, level = a >> 5 & 7;
        if (type == 0) break;
        if (type == instruction_cache || level < outermost) continue;
        outermost = level;
        inclusive = d >> 1 & 1;
    }
#endif
    return inclusive;
}

// Disjoint sets of units, each identified by its first unit. One read of a file covers all units of a set.
class Sets {
public:
    // Returns the set of a unit, whose list is in `file`, or `otherwise` if the list does not contain the unit.
    int of(int unit, const std::string& file, int otherwise = -1) {
        if (const auto known = first_.find(unit); known != first_.end()) return known->second;
        const std::vector<int> members = numbers_of(line_of(file));
        for (const int member : members) first_[member] = members.front();
        const auto [entry, missing] = first_.try_emplace(unit, otherwise);
        complete_ = complete_ && !missing;
        return entry->second;
    }

    // True if the list of each unit contained that unit.
    bool complete() const { return complete_; }

private:
    std::map<int, int> first_;
    bool complete_ = true;
};

// The folders of a unit's caches, which are the same for all units.
struct CacheFolders {
    std::string l2, l3;   // "cache/index2"; empty: no such cache of a known size
};

class Scan {
public:
    Scan(const std::vector<int>& os_numbers, const std::string& root) : numbers_(os_numbers), root_(root) {}

    SysfsMachine read() {
        Machine machine;
        machine.name = "this machine";
        machine.cpu = kernel_cpu_name(root_);
        machine.caches = caches();
        numa_nodes();
        for (const int os : numbers_) machine.pus.push_back(unit(os));
        machine.complete_caches();
        number(machine.pus);
        machine.caches.last_level_count = std::max(1, machine.count(Level::l3));
        const bool has_caches = !folders_.l2.empty() && !folders_.l3.empty() && l2_.complete() && l3_.complete();
        return {std::move(machine), has_caches && cores_.complete() && sockets_known_};
    }

private:
    std::string unit_folder(int os) const { return root_ + "/sys/devices/system/cpu/cpu" + std::to_string(os) + "/"; }

    // Finds the largest cache that one core has to itself, and the outermost cache.
    Caches caches() {
        Caches result;
        const std::string folder = unit_folder(numbers_.front());
        const std::vector<int> core = numbers_of(line_of(folder + "topology/thread_siblings_list"));
        for (int index = 0; index < 8; ++index) {
            const std::string cache = "cache/index" + std::to_string(index), at = folder + cache + "/";
            const std::string level = line_of(at + "level");
            if (level.empty()) break;
            if (line_of(at + "type") == "Instruction") continue;
            const std::size_t size = bytes_of(line_of(at + "size"));
            if (size == 0) continue;
            if (level == "2") folders_.l2 = cache;
            if (level == "3") folders_.l3 = cache;
            if (level != "3" && numbers_of(line_of(at + "shared_cpu_list")) == core) result.private_size = size;
            result.last_level_size = size;
            if (const std::size_t line = bytes_of(line_of(at + "coherency_line_size"))) result.line_size = line;
        }
        result.inclusive = root_.empty() && result.last_level_size != 0 && last_level_is_inclusive();
        return result;
    }

    void numa_nodes() {
        const std::string nodes = root_ + "/sys/devices/system/node/";
        for (const int node : numbers_of(line_of(nodes + "online")))
            for (const int os : numbers_of(line_of(nodes + "node" + std::to_string(node) + "/cpulist")))
                numa_[os] = node;
    }

    // Returns a unit with the kernel's numbers; -1 for a cache that is not described.
    Pu unit(int os) {
        const std::string folder = unit_folder(os);
        const auto socket = whole_number(line_of(folder + "topology/physical_package_id"));
        sockets_known_ = sockets_known_ && socket;
        Pu pu{.os = os};
        pu.socket = socket.value_or(0);
        pu.core = cores_.of(os, folder + "topology/thread_siblings_list", os);
        pu.l2 = folders_.l2.empty() ? -1 : l2_.of(os, folder + folders_.l2 + "/shared_cpu_list");
        pu.l3 = folders_.l3.empty() ? -1 : l3_.of(os, folder + folders_.l3 + "/shared_cpu_list");
        if (const auto node = numa_.find(os); node != numa_.end()) pu.numa = node->second;
        return pu;
    }

    // Makes neighbours adjacent and numbers each kind from 0, both in the order of the lowest units, as hwloc does.
    static void number(std::vector<Pu>& pus) {
        for (int Pu::*const kind : {&Pu::core, &Pu::l2, &Pu::l3, &Pu::numa, &Pu::socket}) {
            std::map<int, int> lowest;
            for (const Pu& pu : pus) {
                const auto entry = lowest.try_emplace(pu.*kind, pu.os).first;
                entry->second = std::min(entry->second, pu.os);
            }
            for (Pu& pu : pus) pu.*kind = lowest.at(pu.*kind);
        }
        const auto position = [](const Pu& pu) { return std::tuple(pu.socket, pu.numa, pu.l3, pu.l2, pu.core, pu.os); };
        std::sort(pus.begin(), pus.end(), [&](const Pu& a, const Pu& b) { return position(a) < position(b); });
        for (int Pu::*const kind : {&Pu::core, &Pu::l2, &Pu::l3, &Pu::numa, &Pu::socket}) {
            std::map<int, int> numbers;
            for (Pu& pu : pus) pu.*kind = numbers.try_emplace(pu.*kind, static_cast<int>(numbers.size())).first->second;
        }
    }

    const std::vector<int>& numbers_;
    const std::string& root_;
    CacheFolders folders_;
    Sets cores_, l2_, l3_;
    std::map<int, int> numa_;
    bool sockets_known_ = true;
};

}   // namespace

std::string kernel_cpu_name(const std::string& root) {
    FileReader in(root + "/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos && trimmed(line.substr(0, colon)) == "model name")
            return std::string(trimmed(line.substr(colon + 1)));
    }
    return {};
}

SysfsMachine machine_in_sysfs(const std::vector<int>& os_numbers, const std::string& root) {
    return Scan(os_numbers, root).read();
}

// Affinity mask and cgroup quota. Small reads with the C library: this runs in every MPI_Init without a launcher.

namespace {

std::optional<double> tighter(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

std::optional<double> quota_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return std::nullopt;
    return static_cast<double>(quota) / static_cast<double>(period);
}

// Version 2: "cpu.max" contains "quota period" or "max period". Version 1: two files; a quota of -1 means none.
std::optional<double> quota_in(const CgroupFolder& folder) {
    const std::string text = folder.version == 2 ? read_system_file(folder.path + "/cpu.max")
                                                 : read_system_file(folder.path + "/cpu.cfs_quota_us") + " " +
                                                       read_system_file(folder.path + "/cpu.cfs_period_us");
    long long quota = 0, period = 0;
    if (std::sscanf(text.c_str(), "%lld %lld", &quota, &period) != 2) return std::nullopt;
    return quota_of(quota, period);
}

}   // namespace

std::vector<int> affinity_pus() {
    // The kernel rejects a mask smaller than its own, so the mask grows until the kernel accepts it.
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
    std::optional<double> result;
    for (const CgroupFolder& folder : cgroup_folders("cpu", root)) result = tighter(result, quota_in(folder));
    return result;
}

int usable_cores(int units, const std::string& root) {
    const auto quota = cgroup_cpu_quota(root);
    const int whole = quota ? static_cast<int>(std::min(*quota, 1e6)) : units;
    return std::max(1, std::min(units, whole));
}

int usable_cores() { return usable_cores(static_cast<int>(affinity_pus().size())); }

}   // namespace tutti::topo
