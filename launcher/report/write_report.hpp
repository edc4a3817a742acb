// SPDX-License-Identifier: BSD-3-Clause
// The files of --report and --trace, when the job has ended.
#pragma once

#include "launcher/base/job.hpp"
#include "launcher/report/page.hpp"

namespace tutti::launcher {

/// Before the start: throws a Complaint, or an Error, when a file that the job asks for cannot be written in the end.
void check_reports(Job const& job);

/// Writes what the job asks for. Returns sentences about what could not be written.
std::vector<std::string> write_reports(Job const& job, Recording recording, JobStory story);

/// The command line as one would type it.
std::string command_words(Job const& job);

}   // namespace tutti::launcher
