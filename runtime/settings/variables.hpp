// SPDX-License-Identifier: BSD-3-Clause
// The settings of a process, read once from the environment. variables.def is the only list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Every setting as a plain field with its type; where each value came from is told by `describe`.
struct Variables {
    using Flag = bool;
    using Number = long;
    using Bytes = std::size_t;
    using Word = std::string;
    using Levels = std::string;
    using Ports = std::string;
    using Text = std::string;
#define VAR(group, type, name, fallback, range, scope, sentence) type name = fallback;
#include "runtime/settings/variables.def"
#undef VAR
};

/// For whom a value holds and when it is read; see variables.def.
enum class VariableScope { own, alike, launch, early };

/// One row of `tutti-info`: a variable with its value as text and its origin ("default" or "environment"); `range` in
/// words, as "1 to 4" and "auto, dedicated or shared".
struct VariableRow {
    std::string group, name, type, range;
    VariableScope scope;
    std::string value, fallback, origin, sentence;
};

/// Reads TUTTI_… from `environment` (as `environ`, ended by a null pointer). A value that does not parse or lies
/// outside the range keeps the default; that and every unknown TUTTI_… name (with the nearest known one) becomes a
/// sentence in `complaints`. Names of the launcher's contract (launch.hpp) are not settings and are passed over.
Variables read_variables(char const* const* environment, std::vector<std::string>& complaints);

/// Is `text` a value of the variable of that name (TUTTI_…)?
bool fits_variable(std::string_view name, std::string_view text);

/// Of complaints, to be compared with those that the launcher has told already (SegmentHeader::told); 0: none.
std::uint64_t fingerprint(std::vector<std::string> const& complaints);

/// All settings as rows in the order of variables.def, valued from `environment`.
std::vector<VariableRow> describe_variables(char const* const* environment);

/// The candidate with the smallest edit distance to `word`; empty when none is near (more than a third differs).
std::string nearest(std::string_view word, std::span<std::string_view const> candidates);

}   // namespace tutti
