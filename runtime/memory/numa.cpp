// SPDX-License-Identifier: BSD-3-Clause
// Kernel memory policies through libnuma, which is loaded on demand.
#include "runtime/memory/numa.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>

#include "runtime/base/error.hpp"
#include "topo/text_streams.hpp"

namespace tutti {
namespace {

constexpr char numa_library[] = "libnuma.so.1";
constexpr int max_nodes = 1024;   // the kernel's own limit
constexpr int word_bits = 8 * sizeof(unsigned long);

/// A node mask in the form of the kernel's system calls.
class NodeMask {
public:
    NodeMask() = default;
    explicit NodeMask(std::span<int const> nodes) {
        for (int node : nodes)
            if (node >= 0 && node < max_nodes) word(node) |= bit(node);
    }
    bool contains(int node) const { return node >= 0 && node < max_nodes && (words_[index(node)] & bit(node)) != 0; }
    unsigned long* words() { return words_.data(); }
    static constexpr unsigned long bits = max_nodes + 1;   // mbind ignores the last bit

private:
    static std::size_t index(int node) { return static_cast<std::size_t>(node / word_bits); }
    static unsigned long bit(int node) { return 1UL << (node % word_bits); }
    unsigned long& word(int node) { return words_[index(node)]; }

    std::array<unsigned long, max_nodes / word_bits + 1> words_{};
};

/// Returns the nodes of a list such as "0-3,8" in a file of /sys; empty if it cannot be read.
std::vector<int> listed_nodes(char const* file) {
    FileReader in(std::string("/sys/devices/system/node/") + file);
    std::vector<int> nodes;
    char between = ',';
    for (int first; between == ',' && in >> first;) {
        int last = first;
        if (in.get(between) && between == '-') {
            if (!(in >> last)) break;
            in.get(between);
        }
        for (int node = first; node <= last && node < max_nodes; ++node) nodes.push_back(node);
        if (!in) break;
    }
    return nodes;
}

class KernelNuma final : public NumaSystem {
public:
    KernelNuma() {
        std::vector<int> const with_memory = listed_nodes("has_memory");
        for (int node : listed_nodes("has_cpu"))
            if (std::ranges::find(with_memory, node) != with_memory.end()) nodes_.push_back(node);
        if (nodes_.size() > 1) open();
        else
            unavailable_reason_ = nodes_.empty() ? "the kernel reports no NUMA nodes" : "the machine has one NUMA node";
        if (!unavailable_reason_.empty()) nodes_.clear();
    }

    std::string unavailable_reason() const override { return unavailable_reason_; }
    std::vector<int> const& nodes() const override { return nodes_; }
    int node_of_unit(int unit) const override { return nodes_.empty() ? -1 : node_of_cpu_(unit); }

    int current_node() const override {
        unsigned unit = 0, node = 0;
        return getcpu(&unit, &node) == 0 ? static_cast<int>(node) : -1;
    }

    // A policy is set through a mapping, and stays with the file when the mapping is gone.
    int prefer(FileRange const& range, std::span<int const> nodes) override {
        if (nodes_.empty()) return ENOSYS;
        void* const at = mmap(nullptr, range.bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, range.descriptor,
                              static_cast<off_t>(range.offset));
        if (at == MAP_FAILED) return errno;
        NodeMask mask(nodes);
        int const mode = nodes.size() == 1 ? MPOL_PREFERRED : MPOL_INTERLEAVE;
        int const error = mbind_(at, range.bytes, mode, mask.words(), NodeMask::bits, 0) == 0 ? 0 : errno;
        munmap(at, range.bytes);
        return error;
    }

    int move(std::byte* first, std::size_t bytes, int node) override {
        if (nodes_.empty()) return ENOSYS;
        NodeMask mask({&node, 1});
        for (unsigned pages : {MPOL_MF_MOVE_ALL, MPOL_MF_MOVE}) {   // the first requires CAP_SYS_NICE
            if (mbind_(first, bytes, MPOL_PREFERRED, mask.words(), NodeMask::bits, pages) == 0) return 0;
            if (errno != EPERM) break;
        }
        return errno;
    }

    int locate(std::span<void*> pages, std::span<int> nodes) const override {
        if (nodes_.empty()) return ENOSYS;
        return move_pages_(0, pages.size(), pages.data(), nullptr, nodes.data(), 0) == 0 ? 0 : errno;
    }

private:
    void open() {
        void* const library = dlopen(numa_library, RTLD_NOW | RTLD_LOCAL);   // stays open until the end of the process
        auto find = [&](auto& function, char const* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            return function != nullptr;
        };
        decltype(&get_mempolicy) policy = nullptr;
        decltype(&numa_available) available = nullptr;
        if (!library || !find(mbind_, "mbind") || !find(move_pages_, "move_pages") || !find(policy, "get_mempolicy") ||
            !find(available, "numa_available") || !find(node_of_cpu_, "numa_node_of_cpu")) {
            unavailable_reason_ = join(numa_library, " could not be loaded");
            return;
        }
        NodeMask allowed;
        if (policy(nullptr, allowed.words(), NodeMask::bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
            unavailable_reason_ = join("the system denies queries of memory policies (", std::strerror(errno), ")");
        else if (available() < 0) unavailable_reason_ = "the kernel does not support memory policies";
        std::erase_if(nodes_, [&](int node) { return !allowed.contains(node); });
        if (unavailable_reason_.empty() && nodes_.size() < 2)
            unavailable_reason_ = nodes_.empty() ? "this process may not use the memory of any NUMA node"
                                                 : "this process may use the memory of only one NUMA node";
    }

    std::vector<int> nodes_;
    std::string unavailable_reason_;
    decltype(&mbind) mbind_ = nullptr;
    decltype(&move_pages) move_pages_ = nullptr;
    decltype(&numa_node_of_cpu) node_of_cpu_ = nullptr;
};

}   // namespace

NumaSystem& kernel_numa() {
    static KernelNuma kernel;
    return kernel;
}

int common_node(NumaSystem const& system, std::span<int const> units) {
    if (units.empty()) return -1;
    int const first = system.node_of_unit(units.front());
    bool const same = std::ranges::all_of(units, [&](int unit) { return system.node_of_unit(unit) == first; });
    return same && std::ranges::find(system.nodes(), first) != system.nodes().end() ? first : -1;
}

NumaHomes numa_homes(NumaSystem& system, std::span<std::vector<int> const> units) {
    NumaHomes homes;
    if (!system.unavailable_reason().empty()) return homes;
    homes.system = &system;
    for (std::vector<int> const& of_rank : units) homes.node_of_rank.push_back(common_node(system, of_rank));
    return homes;
}

}   // namespace tutti
