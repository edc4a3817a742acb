// SPDX-License-Identifier: BSD-3-Clause
// An arena in a file of its own, for tests.
#pragma once

#include <gtest/gtest.h>

#include "runtime/memory/arena/arena.hpp"

namespace tutti::arena {

struct OwnFile {
    OwnFile() { EXPECT_EQ(arena.open({.keep = 64 << 20, .huge_pages = false}), State::open); }
    ~OwnFile() { arena.close(); }
    Arena arena;
};

}   // namespace tutti::arena
