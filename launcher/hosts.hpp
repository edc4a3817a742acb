// SPDX-License-Identifier: BSD-3-Clause
// Names of nodes. Nothing is resolved: a name means this node when it is one of this node's own, by its letters.
#pragma once

#include <string>
#include <string_view>

#include "launcher/job.hpp"

namespace tutti::launcher {

/// As gethostname tells.
std::string host_name();

/// localhost and its spellings, loopback addresses, and `own` with or without its domain.
bool means_this_node(std::string_view name, std::string_view own);

/// "a,b:4,c" → hosts of the job.
void add_host_list(Job& job, std::string_view text);

/// The same from a file of lines "NAME", "NAME:SLOTS" or "NAME slots=SLOTS"; # begins a comment.
void add_host_file(Job& job, std::string const& file);

/// Throws a Complaint that names the first host which is another node.
void require_this_node(Job const& job);

}  // namespace tutti::launcher
