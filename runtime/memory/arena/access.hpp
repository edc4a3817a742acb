// SPDX-License-Identifier: BSD-3-Clause
// How the library finds the process's arena. Several of our libraries carry the allocation functions (libmpi.so.12,
// libmpich.so.12, the one that mpiexec preloads); the loader takes those of the first one, and this name from the same.
#pragma once

#include "runtime/memory/arena/arena.hpp"

namespace tutti::arena {

struct Access {
    Arena* arena;
    /// True when the program's malloc is ours; false when another allocator (or none of our libraries) came first.
    bool interposes;
    /// Opens the arena: in the segment of the job that mpiexec has started, else in a file of this process's own.
    State (*open)();
};

}   // namespace tutti::arena

extern "C" [[gnu::visibility("default")]] tutti::arena::Access const* tutti_arena();
