// SPDX-License-Identifier: BSD-3-Clause
// Reading files that the user names: tuning files, host and rank lists, options, machine descriptions.
#pragma once

#include <cstddef>
#include <string>

#include "topo/result.hpp"

namespace tutti::topo {

/// Returns the whole text of a file of at most `most` bytes. On failure the error is only the reason, which fits after
/// "cannot be read: " and has no full stop. Devices and named pipes, whose input may never end, are rejected without
/// being opened; a pipe of the shell, as in `-hostfile <(command)`, is read like a file.
Result<std::string> read_text_file(const std::string& name, std::size_t most);

/// Size limit for lists that a user or a resource manager writes.
inline constexpr std::size_t max_list_bytes = 16 << 20;

}   // namespace tutti::topo
