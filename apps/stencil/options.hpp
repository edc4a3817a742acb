// SPDX-License-Identifier: BSD-3-Clause
// The parameters of a run, which its command line sets.
#pragma once

namespace stencil {

struct Options {
    int cells = 8;          ///< cells per block and direction, even
    int roots = 2;          ///< coarsest blocks per direction
    int levels = 3;         ///< refinement levels above the coarsest
    int variables = 4;      ///< variables per cell
    int together = 0;       ///< variables per message, 0 = all
    int steps = 20;         ///< time steps
    int stages = 4;         ///< ghost exchange and update, per time step
    int refine_every = 2;   ///< time steps between refinements
    int check_every = 1;    ///< time steps between checksums
    double radius = 0.2;    ///< of the moving sphere
    double speed = 0.03;    ///< of the sphere, per time step
    bool verify = false;    ///< compare with a serial run on rank 0
    bool quiet = false;     ///< only the last lines
};

}   // namespace stencil
