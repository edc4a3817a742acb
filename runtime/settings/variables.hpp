// SPDX-License-Identifier: BSD-3-Clause
// The settings of a process, read once from the environment. variables.def is the only list of settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Every setting as a field of its type. `describe_variables` returns where each value came from.
struct Variables {
    using Flag = bool;
    using Number = long;
    using Bytes = std::size_t;
    using Word = std::string;
    using Levels = std::string;
    using Ports = std::string;
    using Text = std::string;
#define VAR(group, type, name, fallback, range, scope, description) type name = fallback;
#include "runtime/settings/variables.def"
#undef VAR
};

/// Which ranks share a value, and when it is read; see variables.def.
enum class VariableScope { local, all_equal, launcher, before_main };

/// One row of `tutti-info`: a variable with its value as text and its origin ("default" or "environment"). `range` is
/// readable text such as "1 to 4" or "auto, dedicated or shared".
struct VariableRow {
    std::string group, name, type, range;
    VariableScope scope;
    std::string value, fallback, origin, description;
    std::optional<std::string> invalid = {};   ///< the text in the environment, if it is not a valid value
};

/// Reads TUTTI_… from `environment` (as `environ`, terminated by a null pointer). A value that does not parse or is out
/// of range leaves the default in place. Each such value and each unknown TUTTI_… name (with the most similar known
/// name) adds a message to `diagnostics`. Names of the launcher's contract (launch.hpp) are not settings and are
/// skipped.
Variables read_variables(char const* const* environment, std::vector<std::string>& diagnostics);

/// Returns true if `text` is a valid value of the variable called `name` (TUTTI_…).
bool is_valid_setting(std::string_view name, std::string_view text);

/// Returns a hash of diagnostics, to be compared with the hash of those that the launcher has already printed
/// (SegmentHeader::reported_settings). 0: no diagnostics.
std::uint64_t fingerprint(std::vector<std::string> const& diagnostics);

/// Returns all settings as rows in the order of variables.def, with values from `environment`.
std::vector<VariableRow> describe_variables(char const* const* environment);

}   // namespace tutti
