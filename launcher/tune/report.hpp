// SPDX-License-Identifier: BSD-3-Clause
// What tutti-tune says: the plan, and the file.
#pragma once

#include <string>
#include <vector>

#include "launcher/tune/search.hpp"

namespace tutti::tune {

/// What would be measured.
std::string plan_text(std::vector<Contest> const& contests, topo::Machine const& machine, Options const& options);
/// Throws Complaint when options.output could not be written. Makes its folder where there is none.
void check_output(Options const& options);
/// Writes options.output, with the lines that it had for collectives that were not measured; throws Complaint.
void write_table(Search const& search, topo::Machine const& machine, Options const& options);

}   // namespace tutti::tune
