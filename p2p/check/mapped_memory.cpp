// SPDX-License-Identifier: BSD-3-Clause
// Queries of the system for mapped memory: mincore, /proc/self/maps, the loader's list of segments.
#include "p2p/check/mapped_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "topo/files.hpp"

namespace tutti::p2p {
namespace {

/// mincore fails if a page is not mapped; its other results are not used.
bool is_mapped_now(void const* first, std::size_t bytes) {
    static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::array<unsigned char, 1024> residence;
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(first) / page * page;
    std::uintptr_t const end = reinterpret_cast<std::uintptr_t>(first) + bytes;
    if (end < reinterpret_cast<std::uintptr_t>(first)) return false;   // beyond the last address
    for (; at < end; at += residence.size() * page) {
        std::size_t const length = std::min<std::size_t>(end - at, residence.size() * page);
        if (mincore(reinterpret_cast<void*>(at), length, residence.data()) != 0) return false;
    }
    return true;
}

/// Memory above the break may have been returned to the system, so the break is queried each time.
std::uintptr_t end_of_heap() { return reinterpret_cast<std::uintptr_t>(sbrk(0)); }

}   // namespace

MappedMemory::MappedMemory(Process const& process) : process_(process) {
    auto const add_program = [](dl_phdr_info* info, std::size_t, void* to) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            auto const& part = info->dlpi_phdr[i];
            std::uintptr_t const first = info->dlpi_addr + part.p_vaddr;
            if (part.p_type == PT_LOAD) static_cast<std::vector<Range>*>(to)->push_back({first, first + part.p_memsz});
        }
        return 1;   // the loader lists the program first
    };
    dl_iterate_phdr(add_program, &program_);
    read_maps();
}

bool MappedMemory::is_permanent(std::uintptr_t first, std::size_t bytes) const {
    if (stack_.holds(first, bytes)) return true;
    if (heap_ != 0 && Range{heap_, end_of_heap()}.holds(first, bytes)) return true;
    return std::ranges::any_of(program_, [=](Range const& range) { return range.holds(first, bytes); });
}

/// The stack may have grown since /proc/self/maps was read, so it is read again, at exponentially growing intervals.
bool MappedMemory::query(void const* first, std::size_t bytes) {
    if (std::has_single_bit(++queries_)) {
        read_maps();
        if (is_permanent(reinterpret_cast<std::uintptr_t>(first), bytes)) return true;
    }
    return is_mapped_now(first, bytes);
}

void MappedMemory::read_maps() {
    std::string const maps = topo::read_system_file("/proc/self/maps");
    topo::for_each_mapping(maps, [this](topo::Mapping const& mapping) {
        if (mapping.name == "[heap]" && mapping.begin <= end_of_heap() && end_of_heap() <= mapping.end)
            heap_ = mapping.begin;
        if (mapping.name == "[stack]") stack_ = {mapping.begin, mapping.end};
    });
}

}   // namespace tutti::p2p
