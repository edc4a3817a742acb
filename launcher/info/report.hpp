// SPDX-License-Identifier: BSD-3-Clause
// Everything that tutti-info knows, as plain data and in its two forms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/info/facilities.hpp"
#include "runtime/variables.hpp"

namespace tutti::info {

struct ParameterText {
    std::string name, fallback, sentence;
};

struct AlgorithmText {
    std::string collective, name, sentence, family, source;
    std::vector<ParameterText> parameters;
};

struct Report {
    std::string version, abi, machine;
    int usable_cores = 1, units = 1;
    std::uint64_t memory = 0;   ///< bytes
    std::vector<Facility> facilities;
    std::vector<VariableRow> variables;
    std::vector<std::string> complaints;   ///< about the environment
    std::vector<AlgorithmText> algorithms;
};

enum class Part { everything, variables, algorithms };

Report make_report(Part part);
std::string as_text(Report const& report, Part part);
std::string as_json(Report const& report, Part part);

}  // namespace tutti::info
