// SPDX-License-Identifier: BSD-3-Clause
// Words of a text, quoted as for a shell, and back; ranks in words; patterns with a rank's number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::launcher {

/// The arguments in the text of a -configfile: one program per line, # begins a comment, quotes as in a shell.
std::vector<std::string> config_arguments(std::string_view text);

/// The text of a file that the user names. Throws Complaint: `what` ("the host file "), the file, and why it cannot be
/// read.
std::string named_file(std::string_view what, std::string const& file);

/// A word as a remote shell must see it; unchanged when nothing in it is special.
std::string shell_word(std::string_view word);

/// "rank 3", "ranks 0-255", "ranks 0,2-4"; `ranks` in any order.
std::string rank_ranges(std::vector<int> ranks);

/// A pattern for the names of files or the beginnings of lines (%r: rank, %h: host, %t: time), for one rank.
std::string expanded(std::string const& pattern, int rank, std::string const& host);

}   // namespace tutti::launcher
