// SPDX-License-Identifier: BSD-3-Clause
// Reading files that the user names: tuning files, lists of hosts and ranks, options, descriptions of machines.
#pragma once

#include <cstddef>
#include <string>

#include "topo/base/result.hpp"

namespace tutti::topo {

/// The whole text of a file of at most `most` bytes, or only why there is none, which fits after "cannot be read: " and
/// has no full stop. Devices and named pipes, which may never end, are refused unopened; a pipe of the shell, as in
/// `-hostfile <(command)`, is read like a file.
Result<std::string> read_text_file(const std::string& name, std::size_t most);

/// For lists that a person or a resource manager writes.
inline constexpr std::size_t most_list_bytes = 16 << 20;

}   // namespace tutti::topo
