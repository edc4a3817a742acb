// SPDX-License-Identifier: BSD-3-Clause
// Who shares what with whom, from lists such as "0-3,64-67".
#include "topo/machine/sysfs.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "topo/base/text_streams.hpp"
#include "topo/base/words.hpp"

namespace tutti::topo {

namespace {

// The first line of a file; empty when it cannot be read.
std::string line_of(const std::string& file) {
    FileReader in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::vector<int> numbers_of(const std::string& list) {
    std::vector<int> numbers;
    for (const std::string& part : split_words(list, ",")) {
        const std::size_t dash = part.find('-');
        const auto first = whole_number(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : whole_number(part.substr(dash + 1));
        if (!first || !last) continue;
        for (int number = *first; number <= *last; ++number) numbers.push_back(number);
    }
    return numbers;
}

// "2048K" and the like, in bytes; 0 for anything else.
std::size_t bytes_of(const std::string& text) {
    char* end = nullptr;
    const std::size_t number = std::strtoull(text.c_str(), &end, 10);
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

// Does the outermost cache hold what the inner ones hold? /sys does not say so; hwloc reads the same leaf of cpuid
// ("deterministic cache parameters": 0x8000001d where an AMD processor has it, else 4).
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

// Sets of units, each named by its first unit. One read answers for all of a set.
class Sets {
public:
    // The set of a unit, whose list is in a file; `otherwise` where the list does not have it.
    int of(int unit, const std::string& file, int otherwise = -1) {
        if (const auto known = first_.find(unit); known != first_.end()) return known->second;
        const std::vector<int> members = numbers_of(line_of(file));
        for (const int member : members) first_[member] = members.front();
        const auto [entry, missing] = first_.try_emplace(unit, otherwise);
        complete_ = complete_ && !missing;
        return entry->second;
    }

    // Has each unit been in the list of its file?
    bool complete() const { return complete_; }

private:
    std::map<int, int> first_;
    bool complete_ = true;
};

// Which of a unit's caches is what: the same for all units.
struct CacheFolders {
    std::string l2, l3;   // "cache/index2"; empty: there is none of a known size
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

    // The largest that one core has alone, and the outermost.
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

    // With the kernel's numbers; -1 for a cache that is not described.
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

    // Neighbours side by side, and every kind counted from 0, both in the order of the lowest units, as hwloc does.
    static void number(std::vector<Pu>& pus) {
        for (int Pu::*const kind : {&Pu::core, &Pu::l2, &Pu::l3, &Pu::numa, &Pu::socket}) {
            std::map<int, int> lowest;
            for (const Pu& pu : pus) {
                const auto entry = lowest.try_emplace(pu.*kind, pu.os).first;
                entry->second = std::min(entry->second, pu.os);
            }
            for (Pu& pu : pus) pu.*kind = lowest.at(pu.*kind);
        }
        const auto place = [](const Pu& pu) { return std::tuple(pu.socket, pu.numa, pu.l3, pu.l2, pu.core, pu.os); };
        std::sort(pus.begin(), pus.end(), [&](const Pu& a, const Pu& b) { return place(a) < place(b); });
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

}   // namespace tutti::topo
