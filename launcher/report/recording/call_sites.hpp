// SPDX-License-Identifier: BSD-3-Clause
// Source lines of processes that have ended, from what they had mapped; each place in a file is looked up once, however
// many ranks run it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::launcher {

class CallSites {
public:
    /// Words for the addresses in a process with these lines of /proc/PID/maps, sorted by address; "" where nothing is
    /// known.
    std::vector<std::pair<std::uint64_t, std::string>> words_for(std::string_view maps,
                                                                 std::vector<std::uint64_t> addresses);

private:
    std::map<std::pair<std::string, std::uint64_t>, std::string> known_;   ///< by file and offset
};

}   // namespace tutti::launcher
