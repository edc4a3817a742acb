// SPDX-License-Identifier: BSD-3-Clause
// How a rank of mpiexec finds its node's segment: by the descriptor that it has inherited, or, where a wrapper between
// mpiexec and the program has closed that one (subprocess.run of Python, sudo, closefrom), through mpiexec's own in
// /proc.
#pragma once

namespace tutti {

/// A descriptor for the segment that has `descriptor` in the launcher, the same one where that is free. What is there
/// is the segment for certain: launch.hpp's variables say which file it is. Throws Error, with what to do, when it can
/// neither be found nor be opened again.
int inherited_segment(int descriptor);

}   // namespace tutti
