// SPDX-License-Identifier: BSD-3-Clause
// The file in which tutti-tune has written what is the fastest on a machine: where it lies and whether it is for this
// one. mpiexec reads it once per job and hands its text to the ranks in the segment, so that all of them choose alike
// whatever happens to the file meanwhile. What its lines say is for coll/choice/tuning.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "topo/machine/machine.hpp"

namespace tutti {

inline constexpr std::string_view tuning_head = "# tutti tuning 1";   ///< its first line: the format's version
inline constexpr std::size_t most_tuning_bytes = 1 << 20;             ///< of a file that is read

struct TuningFile {
    std::string name;        ///< empty: there is none
    std::string text;        ///< empty: not to be used
    std::string complaint;   ///< then why not; a sentence without its full stop
};

/// By what TUTTI_TUNING says: a file; "none"; or, when it is empty, the first of `places` that is there. A file of
/// another version, what is no regular file, and one above most_tuning_bytes are not used; one of another machine is
/// used only when it was named.
TuningFile find_tuning(std::string const& wish, std::vector<std::string> const& places, topo::Machine const& machine);

/// Where files are looked for: the user's configuration folder, then that of the installation, which is said
/// relatively to the folder of this program.
std::vector<std::string> tuning_places(std::string const& configuration_from_programs);
/// The first of them: $XDG_CONFIG_HOME/tutti/tuning or ~/.config/tutti/tuning; empty without either variable.
std::string user_tuning_name();

/// "AMD EPYC 9654; 2 sockets, 8 NUMA nodes, 192 cores": what stands behind "# machine: "; the processor's name counts.
std::string machine_words(topo::Machine const& machine);

}   // namespace tutti
