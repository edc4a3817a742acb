// SPDX-License-Identifier: BSD-3-Clause
// The contract between the launcher and the ranks of a node: what a rank finds in its environment. Everything else it
// finds in the segment. A process without these variables is a world of one.
#pragma once

namespace tutti::launch {

inline constexpr char segment_variable[] = "TUTTI_SEGMENT_FD";            ///< number of the inherited descriptor
inline constexpr char segment_inode_variable[] = "TUTTI_SEGMENT_INODE";   ///< of the file behind it
inline constexpr char rank_variable[] = "TUTTI_RANK";           ///< rank on this node, index of the rank state
inline constexpr char listen_variable[] = "TUTTI_LISTEN_FD";    ///< listening sockets, "7,8"; only on several nodes
inline constexpr char launcher_variable[] = "TUTTI_LAUNCHER";   ///< launcher that made the segment: PID@NAMESPACE

/// With which a job ends because of a mistake of the program that is certain.
inline constexpr int mistake_code = 125;

/// Where `tutti-daemon --watch` finds the segment (runtime/job/watcher.hpp), and a pipe into which it writes a byte
/// when it watches.
inline constexpr int watchers_descriptor = 3, watching_descriptor = 4;

/// Set by a rank in MPI_Init, for what it starts itself: its number in the world.
inline constexpr char parent_variable[] = "TUTTI_STARTED_BY_RANK";

}   // namespace tutti::launch
