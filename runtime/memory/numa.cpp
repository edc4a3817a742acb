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
constexpr int most_nodes = 1024;   // the kernel's own limit
constexpr int word_bits = 8 * sizeof(unsigned long);

/// A node mask as the kernel's calls take it.
class NodeMask {
public:
    NodeMask() = default;
    explicit NodeMask(std::span<int const> nodes) {
        for (int node : nodes)
            if (node >= 0 && node < most_nodes) word(node) |= bit(node);
    }
    bool holds(int node) const { return node >= 0 && node < most_nodes && (words_[index(node)] & bit(node)) != 0; }
    unsigned long* words() { return words_.data(); }
    static constexpr unsigned long bits = most_nodes + 1;   // mbind ignores the last bit

private:
    static std::size_t index(int node) { return static_cast<std::size_t>(node / word_bits); }
    static unsigned long bit(int node) { return 1UL << (node % word_bits); }
    unsigned long& word(int node) { return words_[index(node)]; }

    std::array<unsigned long, most_nodes / word_bits + 1> words_{};
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
        for (int node = first; node <= last && node < most_nodes; ++node) nodes.push_back(node);
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
        else obstacle_ = nodes_.empty() ? "the kernel knows no NUMA nodes" : "there is one NUMA node";
        if (!obstacle_.empty()) nodes_.clear();
    }

    std::string obstacle() const override { return obstacle_; }
    std::vector<int> const& nodes() const override { return nodes_; }
    int node_of_unit(int unit) const override { return nodes_.empty() ? -1 : node_of_cpu_(unit); }

    int node_here() const override {
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
        int const why = mbind_(at, range.bytes, mode, mask.words(), NodeMask::bits, 0) == 0 ? 0 : errno;
        munmap(at, range.bytes);
        return why;
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
            obstacle_ = join("there is no ", numa_library);
            return;
        }
        NodeMask allowed;
        if (policy(nullptr, allowed.words(), NodeMask::bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
            obstacle_ = join("the system forbids to ask for memory policies (", std::strerror(errno), ")");
        else if (available() < 0) obstacle_ = "the kernel has no memory policies";
        std::erase_if(nodes_, [&](int node) { return !allowed.holds(node); });
        if (obstacle_.empty() && nodes_.size() < 2)
            obstacle_ = join("this process may use memory of ", nodes_.empty() ? "no" : "one", " NUMA node only");
    }

    std::vector<int> nodes_;
    std::string obstacle_;
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

Homes homes_of(NumaSystem& system, std::span<std::vector<int> const> units) {
    Homes homes;
    if (!system.obstacle().empty()) return homes;
    homes.system = &system;
    for (std::vector<int> const& of_rank : units) homes.of_rank.push_back(common_node(system, of_rank));
    return homes;
}

}   // namespace tutti
