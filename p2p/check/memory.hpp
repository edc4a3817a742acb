// SPDX-License-Identifier: BSD-3-Clause
// Whether there is memory behind a program's pointers. The system knows, and takes a microsecond to say so; what stays
// until the program ends is known without it: its static data, its heap, its stack as far as it has grown. The arena
// knows which of its blocks are in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/process.hpp"

namespace tutti::p2p {

class MappedMemory {
public:
    explicit MappedMemory(Process const& process);

    /// All pages of [first, first + bytes) are there.
    bool holds(void const* first, std::size_t bytes) {
        if (bytes == 0) return true;
        if (process_.arena && process_.arena->holds(first)) return process_.arena->is_allocated(first, bytes);
        return stays(reinterpret_cast<std::uintptr_t>(first), bytes) || ask(first, bytes);
    }

private:
    struct Range {
        std::uintptr_t first, end;
        bool holds(std::uintptr_t at, std::size_t bytes) const { return at >= first && at < end && bytes <= end - at; }
    };

    bool stays(std::uintptr_t first, std::size_t bytes) const;
    bool ask(void const* first, std::size_t bytes);
    void look();

    Process const& process_;
    std::vector<Range> program_;   ///< its segments, bss included
    Range stack_{};                ///< of its first thread; grows, and never shrinks
    std::uintptr_t heap_ = 0;      ///< where it begins; 0: there is none
    std::uint64_t asked_ = 0;      ///< how often the system was
};

}   // namespace tutti::p2p
