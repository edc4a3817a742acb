// SPDX-License-Identifier: BSD-3-Clause
// Windows and debuggers are programs in front of a rank's own.
#include "launcher/start/windows.hpp"

#include <algorithm>
#include <cstdlib>

#include "launcher/start/find_program.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr char without_windows[] =
    "; mpiexec -n 4 gdb -batch -ex run -ex bt --args ./a.out needs no window and "
    "shows where a rank crashes";

}   // namespace

Windows::Windows(Job const& job, std::vector<int> const& ranks, std::string const& search_path) : job_(job) {
    if (std::ranges::none_of(ranks, [&](int rank) { return has_window(rank); })) return;
    char const* const option = job.debugger ? "-gdb" : "--xterm";
    char const* const display = std::getenv("DISPLAY");
    if (!display || !*display)
        throw Complaint(join(option, " opens a window for each rank, and DISPLAY does not say where", without_windows));
    try {
        xterm_ = find_program("xterm", "", search_path);
        if (job.debugger) gdb_ = find_program("gdb", "", search_path);
    } catch (Complaint const& complaint) {
        throw Complaint(join(option, ": ", complaint.what(), without_windows), complaint.exit_code);
    }
}

bool Windows::has_window(int rank) const {
    return std::ranges::any_of(job_.windows, [&](int one) { return one < 0 || one == rank; });
}

void Windows::put_around(Start& start, int rank, std::string const& host) const {
    if (!has_window(rank)) return;
    std::vector<std::string> command{"xterm", "-T", join("rank ", rank, " on ", host)};
    if (job_.keep_windows) command.emplace_back("-hold");
    command.emplace_back("-e");
    if (!gdb_.empty()) command.insert(command.end(), {gdb_, "--args"});
    command.push_back(start.path);
    command.insert(command.end(), start.command.begin() + 1, start.command.end());
    start.path = xterm_;
    start.command = std::move(command);
}

}   // namespace tutti::launcher
