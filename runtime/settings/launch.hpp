// SPDX-License-Identifier: BSD-3-Clause
// The contract between the launcher and the ranks of a node: the environment variables that a rank receives. All other
// data is in the segment. A process without these variables is a world of one rank.
#pragma once

namespace tutti::launch {

inline constexpr char segment_variable[] = "TUTTI_SEGMENT_FD";            ///< number of the inherited descriptor
inline constexpr char segment_inode_variable[] = "TUTTI_SEGMENT_INODE";   ///< inode of the file behind that descriptor
inline constexpr char rank_variable[] = "TUTTI_RANK";                     ///< local rank: index of the rank state
inline constexpr char listen_variable[] = "TUTTI_LISTEN_FD";    ///< listening sockets, "7,8"; only on several nodes
inline constexpr char launcher_variable[] = "TUTTI_LAUNCHER";   ///< launcher that created the segment: PID@NAMESPACE

/// The end of TUTTI_COLL that options of mpiexec gave; messages about it name --coll.
inline constexpr char coll_option_variable[] = "TUTTI_COLL_OPTION";

/// Exit code of a job that ends because of a definite error in the program.
inline constexpr int program_error_code = 125;

/// Descriptors of `tutti-daemon --watch`: the segment (runtime/job/watchdog.hpp), and a pipe into which the daemon
/// writes a byte as soon as it watches.
inline constexpr int watchdog_segment_fd = 3, watchdog_ready_fd = 4;

/// Set by a rank in MPI_Init to its world rank, for processes that the rank starts.
inline constexpr char parent_variable[] = "TUTTI_STARTED_BY_RANK";

}   // namespace tutti::launch
