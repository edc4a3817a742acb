// SPDX-License-Identifier: BSD-3-Clause
// An arena with its own file, for tests.
#pragma once

#include <gtest/gtest.h>

#include "runtime/memory/arena/arena.hpp"

namespace tutti::arena {

/// True if the build's sanitizer keeps shadow memory, which counts as private memory.
#ifdef __SANITIZE_THREAD__
inline constexpr bool has_shadow_memory = true;
#else
inline constexpr bool has_shadow_memory = false;
#endif

struct OwnFile {
    OwnFile() { EXPECT_EQ(arena.open({.keep = 64 << 20, .huge_pages = false}), State::open); }
    ~OwnFile() { arena.close(); }
    Arena arena;
};

}   // namespace tutti::arena
