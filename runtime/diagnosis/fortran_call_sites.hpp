// SPDX-License-Identifier: BSD-3-Clause
// Where a Fortran program goes on after its calls: what MPI functions return to then lies in MPICH's Fortran library,
// which stands between. Walking the stack in each call would cost a microsecond, so it is walked once per place there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace tutti {

/// Calls of any thread, at any time.
class FortranCallSites {
public:
    /// Null where no Fortran library of MPICH is loaded.
    static std::unique_ptr<FortranCallSites> find();
    ~FortranCallSites();

    /// `site`: what an MPI function returns to, and `frame`: the address on the stack above that return address
    /// (DWARF's canonical frame address). Where the program goes on; `site` itself when that cannot be
    /// found out, or not without memory that there is none of.
    void const* of_program(void const* site, void const* frame) const;

private:
    struct Path;

    FortranCallSites(std::uintptr_t begin, std::uintptr_t end) : begin_(begin), end_(end) {}
    bool in_library(std::uintptr_t address) const { return address >= begin_ && address < end_; }
    static std::size_t place_of(std::uintptr_t site) {
        return (site * 0x9E3779B97F4A7C15u) >> (64 - place_bits);   // the upper bits are mixed
    }
    Path const* path_from(std::uintptr_t site, void const* frame) const;
    Path const* search_path(std::uintptr_t site, void const* frame, std::size_t first) const;
    std::unique_ptr<Path> walk(std::uintptr_t site, void const* frame) const;

    static constexpr int place_bits = 10;   ///< the library calls MPI at some 700 places
    static constexpr std::size_t places = std::size_t{1} << place_bits;

    std::uintptr_t const begin_, end_;   ///< of the library's code
    /// By a hash of their sites, or behind that. A path is stored once, whole, and never changed or removed: whoever
    /// sees it by an acquiring load may read it.
    mutable std::array<std::atomic<Path const*>, places> paths_{};
};

}   // namespace tutti
