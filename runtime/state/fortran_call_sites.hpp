// SPDX-License-Identifier: BSD-3-Clause
// Call sites of Fortran programs: their MPI calls return into MPICH's Fortran library, which stands between the
// program and MPI. Walking the stack at each call would cost a microsecond, so it is walked once per call site in
// that library.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace tutti {

/// Thread-safe.
class FortranCallSites {
public:
    /// Returns null if no Fortran library of MPICH is loaded.
    static std::unique_ptr<FortranCallSites> find();
    ~FortranCallSites();

    /// Returns the return address in the program. `site` is the return address of the MPI function, `frame` the stack
    /// address above it (DWARF's canonical frame address). Returns `site` itself if the address cannot be found, or
    /// if memory for the search is not available.
    void const* program_site(void const* site, void const* frame) const;

private:
    struct Path;

    FortranCallSites(std::uintptr_t begin, std::uintptr_t end) : begin_(begin), end_(end) {}
    bool in_library(std::uintptr_t address) const { return address >= begin_ && address < end_; }
    static std::size_t slot_of(std::uintptr_t site) {
        return (site * 0x9E3779B97F4A7C15u) >> (64 - slot_bits);   // the upper bits are well mixed
    }
    Path const* path_from(std::uintptr_t site, void const* frame) const;
    Path const* search_path(std::uintptr_t site, void const* frame, std::size_t first) const;
    std::unique_ptr<Path> walk(std::uintptr_t site, void const* frame) const;

    static constexpr int slot_bits = 10;   ///< the library calls MPI at about 700 sites
    static constexpr std::size_t slots = std::size_t{1} << slot_bits;

    std::uintptr_t const begin_, end_;   ///< address range of the library's code
    /// Hash table over the sites, with linear probing. A path is published once, complete, and never changed or
    /// removed, so a thread that obtains it by an acquire load may read it.
    mutable std::array<std::atomic<Path const*>, slots> paths_{};
};

}   // namespace tutti
