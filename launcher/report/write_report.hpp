// SPDX-License-Identifier: BSD-3-Clause
// Writes the files of --report and --trace after the job has ended.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "launcher/base/job.hpp"
#include "launcher/report/page.hpp"
#include "launcher/report/statistics.hpp"
#include "launcher/report/timeline.hpp"

// The recording as an OTF2 archive (Open Trace Format 2, Eschweiler and others, 2012), which Vampir, Scalasca's tools
// and otf2-print read: each location group is a rank, each location one of its threads, each region an MPI function.

namespace tutti::launcher {

/// True if this is the name of an archive's anchor file, such as "run.otf2".
bool names_otf2_archive(std::string_view file);

/// Checks before the start of the ranks that the archive can be written: its anchor file as by check_output_file, and
/// that its folder and definition file do not exist or belong to the earlier archive. Throws LaunchError, or Error if
/// this build has no libotf2.
void check_otf2_archive(std::string const& file);

/// Writes the archive: the anchor file "run.otf2", the definition file and the folder run/. Replaces an earlier archive
/// of that name. Messages and collectives are written as blocking ones inside the call in which they happened; those
/// whose call is unknown are omitted. Calls have their source location and the cause of their wait as attributes.
/// Throws Error if a file cannot be written, or if this build has no libotf2.
void write_otf2_archive(std::string const& file, Recording const& recording, Timeline const& timeline);

/// The recording as a file in the Trace Event format, which https://ui.perfetto.dev and chrome://tracing read: each
/// process is a node, each thread a rank, each flow a message.
void write_trace_events(std::ostream& out, Recording const& recording, Timeline const& timeline);

/// Checks before the start of the ranks that all requested files can be written, and that none of them is a file that
/// mpiexec has not written. Throws LaunchError or Error otherwise.
void check_reports(Job const& job);

/// A message about each file: those that were written, and those that could not be written.
struct WrittenReports {
    std::vector<std::string> written, errors;
};

/// Writes the files that the job requests.
WrittenReports write_reports(Job const& job, Recording recording, ReportContext context);

/// Prints the statistics on standard error, or writes their file. `message` then names the file unless the job is
/// quiet. Returns false if the file cannot be written; `message` has the reason.
bool write_statistics(Job const& job, AllRankCounts const& counts, std::string& message);

/// Returns the command line as one would type it.
std::string command_line_text(Job const& job);

}   // namespace tutti::launcher
