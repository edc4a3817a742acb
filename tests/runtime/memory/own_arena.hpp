// SPDX-License-Identifier: BSD-3-Clause
// An arena in a file of its own, for tests.
#pragma once

#include <gtest/gtest.h>

#include "runtime/memory/arena/arena.hpp"

namespace tutti::arena {

/// Does a sanitizer keep marks of all accesses, which are private memory?
#ifdef __SANITIZE_THREAD__
inline constexpr bool has_marks = true;
#else
inline constexpr bool has_marks = false;
#endif

struct OwnFile {
    OwnFile() { EXPECT_EQ(arena.open({.keep = 64 << 20, .huge_pages = false}), State::open); }
    ~OwnFile() { arena.close(); }
    Arena arena;
};

}   // namespace tutti::arena
