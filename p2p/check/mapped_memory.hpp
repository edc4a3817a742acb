// SPDX-License-Identifier: BSD-3-Clause
// Determines whether the program's pointers refer to mapped memory. A query of the system takes a microsecond. Memory
// that stays mapped until the program ends needs no query: its static data, its heap, and its stack as far as it has
// grown. The arena knows which of its blocks are allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/process.hpp"

namespace tutti::p2p {

class MappedMemory {
public:
    explicit MappedMemory(Process const& process);

    /// Returns true if all pages of [first, first + bytes) are mapped.
    bool is_mapped(void const* first, std::size_t bytes) {
        if (bytes == 0) return true;
        if (process_.arena && process_.arena->contains(first)) return process_.arena->is_allocated(first, bytes);
        return is_permanent(reinterpret_cast<std::uintptr_t>(first), bytes) || query(first, bytes);
    }

private:
    struct Range {
        std::uintptr_t first, end;
        bool holds(std::uintptr_t at, std::size_t bytes) const { return at >= first && at < end && bytes <= end - at; }
    };

    bool is_permanent(std::uintptr_t first, std::size_t bytes) const;
    bool query(void const* first, std::size_t bytes);
    void read_maps();

    Process const& process_;
    std::vector<Range> program_;   ///< its segments, including bss
    Range stack_{};                ///< stack of the first thread; grows and never shrinks
    std::uintptr_t heap_ = 0;      ///< start of the heap; 0: none
    std::uint64_t queries_ = 0;    ///< number of system queries
};

}   // namespace tutti::p2p
