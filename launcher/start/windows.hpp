// SPDX-License-Identifier: BSD-3-Clause
// Ranks in windows of their own (--xterm), under a debugger or not (-gdb).
#pragma once

#include <string>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/start/spawn.hpp"

namespace tutti::launcher {

class Windows {
public:
    /// `ranks`: those of this node. Throws Complaint when one of them is to have a window and there can be none.
    Windows(Job const& job, std::vector<int> const& ranks, std::string const& search_path);

    /// Makes xterm of what is to be started for a rank that has a window, with the rank's program in it.
    void put_around(Start& start, int rank, std::string const& host) const;

private:
    bool has_window(int rank) const;

    Job const& job_;
    std::string xterm_, gdb_;   ///< files; empty where not needed
};

}   // namespace tutti::launcher
