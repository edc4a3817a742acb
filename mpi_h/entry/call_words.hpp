// SPDX-License-Identifier: BSD-3-Clause
// A call with its arguments in the program's words, for reports: "MPI_Send(4 MPI_INT to rank 1, tag 3,
// MPI_COMM_WORLD)". What each argument is follows from its type and name in mpi.h (prototypes.cmake).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace tutti {

/// The arguments of a call in the order of its prototype, numbers and addresses alike; the last ones may be left out if
/// they are places for results. Made of values that the call has anyway; nothing is stored while no error occurs.
template <class... Arguments>
struct Given {
    std::tuple<Arguments...> arguments;

    template <class Function>
    [[gnu::always_inline]] decltype(auto) pass_to(Function const& function) const {
        return std::apply(function, arguments);
    }
    std::array<std::intptr_t, sizeof...(Arguments)> values() const {
        [[maybe_unused]] auto const value = [](auto argument) {
            if constexpr (std::is_pointer_v<decltype(argument)>) return reinterpret_cast<std::intptr_t>(argument);
            else return static_cast<std::intptr_t>(argument);
        };
        return pass_to([&](auto... each) { return std::array<std::intptr_t, sizeof...(each)>{value(each)...}; });
    }
};

template <class... Arguments>
[[gnu::always_inline]] inline Given<Arguments...> given(Arguments... arguments) {
    return {{arguments...}};
}

/// Describes a call whose arguments may be wrong in any way: no handle and no address is taken to be valid. Buffers and
/// places for results are left out, and of two equal amounts of data the second one. `request`: what a request was that
/// the call has completed, and whose handle is gone; empty: the handle says it. Only the name without parentheses, if
/// mpi.h does not declare the function or declares it with other parameters. Throws std::bad_alloc.
std::string call_words(char const* name, std::span<std::intptr_t const> given, std::string const& request = "");

}   // namespace tutti
