// SPDX-License-Identifier: BSD-3-Clause
// Evaluates the formulas of costs (Cost in coll/algorithms/algorithm.hpp), for lists, the benchmark and tests.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "coll/choice/choose.hpp"

namespace tutti::coll {

/// The values of the names in a formula.
using CostNames = std::map<std::string, double, std::less<>>;

/// Returns the values of all names that a formula of the algorithm may use. `bytes`: s; `hierarchy`: of the
/// communicator, or of the setting's own levels.
CostNames cost_names(Setting const& setting, topo::Hierarchy const& hierarchy, std::size_t slot_bytes,
                     std::size_t bytes);

/// Returns the value of a formula. It consists of whole numbers such as 2 and 4K, names, parentheses, + - * /, ceil(a),
/// mod(a, b), and choices "a < b ? c : d", which extend as far as possible. Throws std::invalid_argument if the formula
/// is not well-formed or has another name.
double evaluate(std::string_view formula, CostNames const& names);

}   // namespace tutti::coll
