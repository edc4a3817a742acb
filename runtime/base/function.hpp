// SPDX-License-Identifier: BSD-3-Clause
// The functions of MPI by number. mpi.h is their only list: the build generates prototypes.inc from it
// (mpi_h/entry/prototypes.cmake).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tutti {

/// A function that mpi.h declares, or none; zeroed memory is no function. The numbers are those of one build. They need
/// no check where mpiexec and ranks read them: a rank joins the segment of its node only if a build with the same
/// functions has created it (SegmentLayout::expected_magic), and mpiexec refuses daemons of another version on other
/// nodes (launcher/nodes/link.hpp).
class Function {
    /// Sorted; the first name is that of no function.
    static constexpr char const* names[] = {
        "",
#define FUNCTION(name, parameters) #name,
#include "prototypes.inc"
#undef FUNCTION
    };

public:
    static constexpr std::uint16_t count = std::size(names) - 1;   ///< they have the numbers from 1 to `count`

    constexpr Function() = default;
    /// Returns the function with this name; `name` may begin with PMPI_. Another name is an error at compile time. As a
    /// default argument, `__builtin_FUNCTION()` is the PMPI_ function that makes the call.
    consteval Function(char const* name) : number_(number_of(name)) {}
    /// `number` was returned by number(), possibly of another process.
    static constexpr Function with_number(std::uint16_t number) {
        Function function;
        function.number_ = number;
        return function;
    }

    constexpr std::uint16_t number() const { return number_; }
    /// Returns "MPI_Send"; an empty string for no function, and for a number that memory of another process contains
    /// by mistake.
    constexpr char const* name() const { return names[number_ <= count ? number_ : 0]; }
    constexpr explicit operator bool() const { return number_ != 0; }
    constexpr bool operator==(Function const&) const = default;

    /// Returns a hash of the list.
    static consteval std::uint64_t fingerprint() {
        std::uint64_t hash = 0xcbf29ce484222325;
        for (char const* name : names)
            for (char const c : std::string_view(name)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return hash;
    }

private:
    static void mpi_h_declares_no_such_function();   // not constexpr: the compiler reports a call of it
    static consteval std::uint16_t number_of(std::string_view name) {
        if (name.starts_with("PMPI_")) name.remove_prefix(1);
        auto const* const found = std::lower_bound(std::begin(names), std::end(names), name,
                                                   [](std::string_view a, std::string_view b) { return a < b; });
        if (found == std::end(names) || found == std::begin(names) || *found != name) mpi_h_declares_no_such_function();
        return static_cast<std::uint16_t>(found - names);
    }

    std::uint16_t number_ = 0;
};

}   // namespace tutti
