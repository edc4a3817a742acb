// SPDX-License-Identifier: BSD-3-Clause
// The report as one HTML file that needs nothing else: the page (launcher/report/page/), the sums as JSON, and all
// calls, messages and collectives as packed numbers, which the page draws.
#pragma once

#include <string>
#include <vector>

#include "launcher/diagnosis/report.hpp"
#include "launcher/report/analysis/summary.hpp"

namespace tutti::launcher {

/// What is told of a job besides what its ranks did.
struct JobStory {
    std::string command;   ///< as it was given to mpiexec
    std::string date;      ///< when it ended
    std::string ending;    ///< why it did not end well, a sentence; empty: it did
    int exit_code = 0;
    std::vector<Report> reports;   ///< what went wrong
    std::vector<RecordedNode> nodes;
};

std::string page_of(Recording const& recording, Timeline const& timeline, Summary const& summary,
                    JobStory const& story);

/// The files of the page as CMake has put them in (launcher/report/page/).
extern char const page_html[], page_css[], page_js[];

}   // namespace tutti::launcher
