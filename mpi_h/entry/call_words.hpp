// SPDX-License-Identifier: BSD-3-Clause
// Describes a call with its arguments for reports: "MPI_Send(4 MPI_INT to rank 1, tag 3, MPI_COMM_WORLD)". The meaning
// of an argument follows from its type and name in mpi.h (prototypes.cmake).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "runtime/base/function.hpp"

namespace tutti {

/// The arguments of a call in the order of its prototype, numbers and addresses; trailing addresses of results may be
/// omitted. Refers to values that the call has anyway: nothing is stored unless an error occurs.
template <class... Arguments>
struct CallArguments {
    std::tuple<Arguments...> arguments;

    template <class Callable>
    [[gnu::always_inline]] decltype(auto) pass_to(Callable const& callable) const {
        return std::apply(callable, arguments);
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
[[gnu::always_inline]] inline CallArguments<Arguments...> args(Arguments... arguments) {
    return {{arguments...}};
}

/// Describes a call whose arguments may be invalid in any way: no handle or address is assumed to be valid. Omits
/// buffers and addresses of results, and the second of two equal amounts of data. `request`: description of a request
/// that the call has completed and whose handle is gone; empty: the handle is used. Returns the name without
/// parentheses if mpi.h does not declare the function with these parameters. Throws std::bad_alloc.
std::string describe_call(Function function, std::span<std::intptr_t const> arguments, std::string const& request = "");

}   // namespace tutti
