// SPDX-License-Identifier: BSD-3-Clause
// Locates an MPI call in a program in C, C++, Python or Fortran. The stack is walked only on demand, so calls
// themselves pay nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/state/call_record.hpp"

namespace tutti {

/// Writes the return addresses of this thread's calls, innermost first, as many as fit, and returns their number.
/// Frames inside this library are skipped, so the first address is where the program calls MPI.
std::size_t program_stack(std::span<std::uint64_t> addresses);
/// Returns true if the address lies in this library, or in the program that it is linked into.
bool in_this_library(std::uint64_t address);
/// Returns the first address of program_stack(). `recorded` is a return address recorded by the call, which is cheaper
/// and usually the same; the stack is walked only if it lies in this library.
std::uint64_t program_site(void const* recorded);

// Location in an interpreted program, as the interpreter reports it. Only CPython is supported.

/// Returns, for example, "ring.py:12 in pass()": the function that this thread executes, leaving out MPI bindings
/// such as mpi4py. Returns an empty string if there is no interpreter or it cannot report a location. Safe while the
/// thread is inside an MPI call, whether or not it holds the interpreter's lock. Takes a few microseconds.
std::string script_location();

/// Publishes a call that the calling thread makes now. If memory is exhausted, the call has no script location.
void publish_current_call(PublishedCall& record, std::string_view call);

/// Extracts the location from a traceback in CPython's format, innermost frame first:
///   File "/home/me/ring.py", line 12 in pass
std::string parse_script_location(std::string_view traceback);

// Call sites of Fortran programs: their MPI calls return into MPICH's Fortran library, which stands between the
// program and MPI. Walking the stack at each call would cost a microsecond, so it is walked once per call site in
// that library.

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
