// SPDX-License-Identifier: BSD-3-Clause
// Words of a text, quoted as for a shell, and back; ranks in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::launcher {

/// The arguments in the text of a -configfile: one program per line, # begins a comment, quotes as in a shell.
std::vector<std::string> config_arguments(std::string_view text);

/// A word as a remote shell must see it; unchanged when nothing in it is special.
std::string shell_word(std::string_view word);

/// "rank 3", "ranks 0-255", "ranks 0,2-4"; `ranks` in any order.
std::string rank_ranges(std::vector<int> ranks);

}   // namespace tutti::launcher
