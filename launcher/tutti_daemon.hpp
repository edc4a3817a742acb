// SPDX-License-Identifier: BSD-3-Clause
// tutti-daemon: mpiexec's part on another node. mpiexec starts it through an agent such as ssh, which carries the
// frames between them. In a job that another launcher started, a rank runs it to detect deadlocks on its node
// (--watch) or to detect the node's machine (--machine).
#pragma once

namespace tutti::launcher {

/// The name of the program. It is a link to mpiexec, because it consists of the same code.
inline constexpr char daemon_name[] = "tutti-daemon";
/// As its first argument, makes mpiexec be tutti-daemon under any name, for packages that cannot contain links.
inline constexpr char daemon_option[] = "--tutti-daemon";

/// The main function of tutti-daemon.
int run_daemon(int argc, char** argv);

}   // namespace tutti::launcher
