// SPDX-License-Identifier: BSD-3-Clause
// The groups of the table of options. Each file of this folder defines some groups, with the functions that apply
// their options.
#pragma once

#include <span>

#include "launcher/options/options.hpp"
#include "runtime/base/error.hpp"
#include "topo/result.hpp"

namespace tutti::launcher::groups {

std::span<Option const> programs();
std::span<Option const> environment();
std::span<Option const> debuggers();
std::span<Option const> termination();
std::span<Option const> placement();
std::span<Option const> nodes();
std::span<Option const> streams();
std::span<Option const> ignored();   ///< accepted without effect
std::span<Option const> refused();

std::span<Option const> output_directives();
std::span<Option const> display_directives();
std::span<Option const> runtime_directives();
std::span<Option const> map_qualifiers();
std::span<Option const> bind_qualifiers();

/// Apply --map-by and --bind-to with their qualifiers.
void map_by(Target target, std::string_view text);
void bind_to(Target target, std::string_view text);

/// Returns the value of a result. Throws LaunchError with its error, without the final full stop.
template <class T>
T value_or_throw(topo::Result<T> const& result) {
    if (!result) throw LaunchError(result.error().substr(0, result.error().find_last_not_of('.') + 1));
    return *result;
}

}   // namespace tutti::launcher::groups
