// SPDX-License-Identifier: BSD-3-Clause
// Writes the files of a recording.
#include "launcher/report/write_report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

/// Writes a file; adds a message to `errors` if that fails.
void write_file(std::string const& name, std::function<void(std::ostream&)> const& write,
                std::vector<std::string>& errors) {
    errno = 0;
    std::ofstream file(name, std::ios::binary);
    if (file) write(file);
    file.close();
    if (!file) errors.push_back(join(name, " cannot be written", errno ? join(": ", std::strerror(errno)) : ""));
}

/// Throws LaunchError if the file cannot be written. Creates and removes it if it does not exist.
void check_writable(std::string const& name) {
    struct stat info {};
    int const fresh = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fresh >= 0) {
        close(fresh);
        unlink(name.c_str());
    } else if (errno != EEXIST || (stat(name.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && (errno = EISDIR)) ||
               access(name.c_str(), W_OK) != 0) {
        throw LaunchError(join(name, " cannot be written: ", std::strerror(errno)));
    }
}

std::string date_now() {
    std::time_t const now = std::time(nullptr);
    std::tm local{};
    char text[64];
    localtime_r(&now, &local);
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local)};
}

}   // namespace

std::string command_line_text(Job const& job) {
    std::string words = "mpiexec";
    for (Program const& p : job.programs) {
        if (&p != &job.programs.front()) words += " :";
        words += join(" -n ", p.ranks);
        for (std::string const& word : p.command) words += " " + word;
    }
    return words;
}

void check_reports(Job const& job) {
    if (!job.has_program()) return;
    for (std::string const* name : {&job.report_file, &job.trace_file})
        if (!name->empty()) check_writable(*name);
    if (names_otf2_archive(job.trace_file)) require_otf2(job.trace_file);
}

std::vector<std::string> write_reports(Job const& job, Recording recording, ReportContext context) {
    std::ranges::sort(recording.ranks, {}, &RankRecording::rank);
    // these ranks never called MPI_Init
    std::erase_if(recording.ranks, [](RankRecording const& r) { return r.texts.empty(); });
    if (recording.ranks.empty()) return {"no rank has called MPI_Init, so there is nothing to report"};
    Timeline timeline = timeline_of(recording);
    classify_waits(timeline);
    context.command = command_line_text(job);
    context.date = date_now();
    std::vector<std::string> errors;
    auto const page = [&](std::ostream& out) { out << page_of(recording, timeline, summary_of(timeline), context); };
    auto const events = [&](std::ostream& out) { write_trace_events(out, recording, timeline); };
    if (!job.report_file.empty()) write_file(job.report_file, page, errors);
    if (names_otf2_archive(job.trace_file)) try {
            write_otf2_archive(job.trace_file, recording, timeline);
        } catch (Error const& e) { errors.emplace_back(e.what()); }
    else if (!job.trace_file.empty()) write_file(job.trace_file, events, errors);
    return errors;
}

}   // namespace tutti::launcher
