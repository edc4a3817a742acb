// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/tutti_daemon.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <unistd.h>

#include "apps/manual.hpp"
#include "launcher/launch.hpp"
#include "launcher/nodes/daemon.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/detect.hpp"

namespace {

using namespace tutti::launcher;

int serve() {
    Daemon daemon;
    try {
        if (!daemon.receive()) return 1;
        launch(daemon.job(), daemon.allocation(), &daemon);
        return 0;
    } catch (LaunchError const& error) { daemon.fail(error); } catch (std::exception const& error) {
        daemon.fail(LaunchError(error.what(), 1));   // mpiexec must learn why this node fails
    }
    return 1;
}

/// Watches the node in a child process with a session of its own; the parent returns immediately.
int watch() {
    pid_t const child = fork();
    if (child != 0) return child < 0 ? 1 : 0;
    setsid();   // signals from a terminal or launcher that end the ranks must not end their report
    try {
        return watch_node(tutti::launch::watchdog_segment_fd);
    } catch (std::exception const&) { return 1; }   // the inherited descriptor does not refer to a segment
}

/// Prints the whole machine for a rank (runtime/job/node_machine.hpp).
int print_machine() {
    std::string const text = tutti::topo::detect_whole_machine().to_text();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}   // namespace

namespace tutti::launcher {

int run_daemon(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--watch") == 0) return watch();
    if (argc == 2 && std::strcmp(argv[1], "--machine") == 0) return print_machine();
    bool const by_hand = argc > 1 || isatty(STDIN_FILENO) == 1;
    if (!by_hand) return serve();
    bool const version = argc == 2 && std::strcmp(argv[1], "--version") == 0;
    if (version) std::fputs(apps::version_text("tutti-daemon").c_str(), stdout);
    else std::fputs("tutti-daemon: mpiexec starts this program on other nodes by itself.\n", stderr);
    return version ? 0 : 2;
}

}   // namespace tutti::launcher
