// SPDX-License-Identifier: BSD-3-Clause
// Locates the file in which tutti-tune has stored the fastest algorithms of a machine, and checks that it is for this
// machine. Named tables, which have the rules of other MPI libraries, are part of the programs. mpiexec reads the file
// once per job and passes its text to the ranks in the segment, so that all ranks make the same choices even if the
// file changes meanwhile. parse_rules (coll/choice/choose.hpp) interprets the text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/machine.hpp"

namespace tutti {

inline constexpr std::string_view tuning_head = "# tutti tuning 1";   ///< first line: format and version
inline constexpr std::size_t max_tuning_bytes = 1 << 20;              ///< maximum size of a file

/// The result of find_tuning_file.
struct TuningFile {
    std::string name;         ///< empty: no file
    std::string text;         ///< empty: not used
    std::string diagnostic;   ///< why the file is not used, without a full stop
};

/// A table in the format of tuning files: coll/choice/NAME.table.
struct NamedTable {
    char const *name, *text;
};
std::span<NamedTable const> named_tables();

/// Finds the file for a value of TUTTI_TUNING: the name of a table or of a file, "none", or, if empty, the first of
/// `locations` that exists.
/// Files of another version, files that are not regular and files larger than max_tuning_bytes are not used. A file of
/// another machine is used only if it was named.
TuningFile find_tuning_file(std::string const& requested, std::vector<std::string> const& locations,
                            topo::Machine const& machine);

/// Returns the default locations: the user's configuration folder, then that of the installation, which is given
/// relative to the folder of this program.
std::vector<std::string> tuning_locations(std::string const& configuration_from_programs);
/// Returns the first of them: $XDG_CONFIG_HOME/tutti/tuning or ~/.config/tutti/tuning; empty without either variable.
std::string user_tuning_path();

/// Returns the value of "# machine: ", such as "AMD EPYC 9654; 2 sockets, 8 NUMA nodes, 192 cores". find_tuning_file
/// compares only the name of the processor.
std::string machine_summary(topo::Machine const& machine);

}   // namespace tutti
