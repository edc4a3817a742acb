// SPDX-License-Identifier: BSD-3-Clause
// Reads a machine with hwloc: this machine within the affinity mask, or one described by XML or a synthetic string.
#include "topo/detect.hpp"

#include <hwloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>

#include "topo/files.hpp"
#include "topo/this_machine.hpp"

namespace tutti::topo {

namespace {

struct Destroy {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

// Changes an environment variable during its lifetime. Only for single-threaded programs.
class ScopedEnvironment {
public:
    ScopedEnvironment(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        setenv(name, value, 1);
    }
    ScopedEnvironment(const ScopedEnvironment&) = delete;
    ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
    ~ScopedEnvironment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

// hwloc loads its plugins (graphics, PCI) when the first topology is created, which costs more than everything else.
// Only XML needs a plugin; otherwise the search path is empty during the call.
Topology new_topology(bool with_plugins) {
    std::optional<ScopedEnvironment> no_plugins;
    if (!with_plugins) no_plugins.emplace("HWLOC_PLUGINS_PATH", "/nonexistent");
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return nullptr;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    return Topology(topology);
}

// Returns the id of the object of a type that contains a unit, or `otherwise` if the machine has none.
int id_above(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type, int otherwise) {
    const hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return object ? static_cast<int>(object->logical_index) : otherwise;
}

// Returns the NUMA node of a unit: the smallest node that covers it. Among nodes of equal size (memory-only and
// overlapping nodes, such as high-bandwidth memory) the first one wins.
int numa_of(hwloc_topology_t topology, hwloc_obj_t pu) {
    int best = 0;
    int best_weight = -1;
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
        if (!node->cpuset || !hwloc_bitmap_isset(node->cpuset, pu->os_index)) continue;
        const int weight = hwloc_bitmap_weight(node->cpuset);
        if (best_weight >= 0 && weight >= best_weight) continue;
        best = static_cast<int>(node->logical_index);
        best_weight = weight;
    }
    return best;
}

// A cache that is not described becomes -1.
std::vector<Pu> units(hwloc_topology_t topology) {
    std::vector<Pu> pus;
    for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
        const int core = id_above(topology, pu, HWLOC_OBJ_CORE, static_cast<int>(pu->logical_index));
        pus.push_back({.os = static_cast<int>(pu->os_index),
                       .core = core,
                       .l2 = id_above(topology, pu, HWLOC_OBJ_L2CACHE, -1),
                       .l3 = id_above(topology, pu, HWLOC_OBJ_L3CACHE, -1),
                       .numa = numa_of(topology, pu),
                       .socket = id_above(topology, pu, HWLOC_OBJ_PACKAGE, 0)});
    }
    return pus;
}

int cores_under(hwloc_topology_t topology, hwloc_obj_t object) {
    const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE);
    return cores > 0 ? cores : hwloc_bitmap_weight(object->cpuset);
}

bool is_inclusive(hwloc_obj_t cache) {
    const char* text = hwloc_obj_get_info_by_name(cache, "Inclusive");
    return text && std::strcmp(text, "1") == 0;
}

// Finds the largest cache that one core has to itself, and the outermost cache. The kernel may report no sharing
// (virtual machines); the outermost cache is the last level in that case as well.
Caches caches(hwloc_topology_t topology) {
    Caches result;
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
        const int count = hwloc_get_nbobjs_by_type(topology, type);
        const hwloc_obj_t cache = count > 0 ? hwloc_get_obj_by_type(topology, type, 0) : nullptr;
        if (!cache || cache->attr->cache.size == 0) continue;
        const bool is_private = cores_under(topology, cache) == 1 && type != HWLOC_OBJ_L3CACHE;
        if (is_private) result.private_size = cache->attr->cache.size;
        result.last_level_size = cache->attr->cache.size;
        result.last_level_count = count;
        result.inclusive = is_inclusive(cache);
        if (cache->attr->cache.linesize > 0) result.line_size = cache->attr->cache.linesize;
    }
    return result;
}

std::string cpu_name(hwloc_topology_t topology) {
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char* name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
    return name ? name : "";
}

Machine read(hwloc_topology_t topology, std::string name) {
    Machine machine;
    machine.name = std::move(name);
    machine.cpu = cpu_name(topology);
    machine.caches = caches(topology);
    machine.pus = units(topology);
    machine.complete_caches();
    return machine;
}

bool is_file_name(const std::string& description) {
    return description.ends_with(".xml") || description.find('/') != std::string::npos;
}

Result<std::string> read_description(const std::string& file) {
    constexpr std::size_t most = 64 << 20;
    Result<std::string> text = read_text_file(file, most);
    if (text) return text;
    return Result<std::string>::failure("The description of a machine " + file + " cannot be read: " + text.error() +
                                        ".");
}

// Counts the processing units in hwloc's XML.
long units_in_xml(std::string_view text) {
    constexpr std::string_view unit = "type=\"PU\"";
    long count = 0;
    for (std::size_t at = 0; (at = text.find(unit, at)) != std::string_view::npos; at += unit.size()) ++count;
    return count;
}

// Returns the number of units of a synthetic description, the product of its counts, or max_simulated_units + 1 if it
// is larger. Counts follow a colon or stand alone; brackets contain attributes and attached memory.
long units_in_synthetic(const std::string& text) {
    unsigned long product = 1;
    int brackets = 0;
    for (const char* at = text.c_str(); *at;) {
        if (*at == '(' || *at == '[') ++brackets;
        if (*at == ')' || *at == ']') --brackets;
        const bool begins = at == text.c_str() || at[-1] == ':' || at[-1] == ' ';
        if (brackets > 0 || !begins || *at < '0' || *at > '9') {
            ++at;
            continue;
        }
        char* end = nullptr;
        product *= std::clamp(std::strtoul(at, &end, 0), 1UL, max_simulated_units + 1UL);   // as hwloc parses them
        if (product > max_simulated_units) return max_simulated_units + 1;
        at = end;
    }
    return static_cast<long>(product);
}

// Loads the description into the topology. hwloc requires a level of hardware threads; a description that ends at cores
// gets one thread per core.
bool load_description(hwloc_topology_t topology, const std::string& description, bool file) {
    if (file) return hwloc_topology_set_xml(topology, description.c_str()) == 0;
    return hwloc_topology_set_synthetic(topology, description.c_str()) == 0 ||
           hwloc_topology_set_synthetic(topology, (description + " pu:1").c_str()) == 0;
}

// Returns this machine as hwloc sees it. `flags` are those of the topology. Returns a machine without units if the
// topology does not load.
Machine load_machine(unsigned long flags) {
    const ScopedEnvironment quiet("HWLOC_HIDE_ERRORS", "2");   // hwloc would print an error if /sys is hidden
    const Topology topology = new_topology(false);
    Machine machine;
    if (topology && hwloc_topology_set_flags(topology.get(), flags) == 0 && hwloc_topology_load(topology.get()) == 0)
        machine = read(topology.get(), "this machine");
    return machine;
}

// If /sys is hidden, hwloc may know fewer units than the kernel grants. hwloc may also ask the processor for its name,
// which differs in a virtual machine. A tuning file is selected by the name that every rank sees, with or without
// hwloc.
Machine with_units_and_name(Machine machine, const std::vector<int>& allowed) {
    if (machine.pus.empty()) machine = Machine::plain(allowed);
    machine.cpu = kernel_cpu_name();
    return machine;
}

}   // namespace

Machine detect_machine() {
    const std::vector<int> allowed = affinity_pus();
    Machine machine = load_machine(0);
    std::erase_if(machine.pus, [&](Pu pu) { return !std::binary_search(allowed.begin(), allowed.end(), pu.os); });
    return with_units_and_name(std::move(machine), allowed);
}

Machine detect_whole_machine() {
    return with_units_and_name(load_machine(HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), affinity_pus());
}

Result<Machine> simulated_machine(const std::string& description) {
    using Failed = Result<Machine>;
    const bool file = is_file_name(description);
    const Result<std::string> text = file ? read_description(description) : Result<std::string>(description);
    if (!text) return Failed::failure(text.error());
    if ((file ? units_in_xml(*text) : units_in_synthetic(*text)) > max_simulated_units) {
        return Failed::failure((file ? description : '"' + description + '"') + " describes a machine of more than " +
                               std::to_string(max_simulated_units) +
                               " processing units, the maximum for a simulated machine.");
    }
    const Topology topology = new_topology(file);
    if (!topology) return Failed::failure("hwloc cannot be initialised: " + std::string(std::strerror(errno)) + ".");
    if (!load_description(topology.get(), description, file) || hwloc_topology_load(topology.get()) != 0) {
        return Failed::failure(file ? description + " is not a machine described in hwloc's XML (lstopo machine.xml)."
                                    : "\"" + description +
                                          "\" describes no machine; write an hwloc synthetic description such as "
                                          "\"socket:2 numa:4 core:8\" or the name of an XML file.");
    }
    Machine machine = read(topology.get(), description);
    machine.simulated = true;
    if (machine.pus.empty()) return Failed::failure(description + " describes a machine without processing units.");
    return machine;
}

Result<Machine> read_machine(const std::string& description) {
    if (description.empty()) return detect_machine();
    return simulated_machine(description);
}

}   // namespace tutti::topo
