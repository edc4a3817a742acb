// SPDX-License-Identifier: BSD-3-Clause
// A rank claims its own arena window, even if the segment's layout has been overwritten.
#include <gtest/gtest.h>

#include <unistd.h>

#include "runtime/memory/arena/arena.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::arena {
namespace {

/// A starting rank may find a layout that another rank has overwritten: it then has no arena, or its own window.
TEST(ArenaClaim, NeverClaimsAnotherRanksWindow) {
    Segment const s = Segment::create(3, "machine", "tuning", {}, SegmentCreator::launcher, nullptr, 16);
    auto* const words = reinterpret_cast<std::uint64_t*>(&s.header());
    int refused = 0;
    for (std::size_t i = 0; i < sizeof(SegmentLayout) / sizeof *words; ++i) {
        std::uint64_t const before = words[i];
        for (std::uint64_t value : {std::uint64_t{0}, ~std::uint64_t{0}, before + 1, before + 4096, before * 2,
                                    before / 2, before ^ std::uint64_t{1} << 40, before << 32}) {
            SCOPED_TRACE(testing::Message() << "word " << i << " is " << value << " instead of " << before);
            words[i] = value;
            Arena arena;
            bool const open = arena.open(s.descriptor(), 1, {.huge_pages = false}) == State::open;
            words[i] = before;
            EXPECT_EQ(s.rank_state(1).arena_pid.load(), open ? getpid() : 0);
            EXPECT_EQ(s.rank_state(1).arena_base.load() != 0, open);
            refused += !open;
            if (!open) continue;
            char* const block = static_cast<char*>(arena.allocate(1 << 20));
            ASSERT_NE(block, nullptr);
            block[5] = 'x';
            std::uint64_t const at = reinterpret_cast<std::uint64_t>(block) - s.rank_state(1).arena_base;
            char seen = 0;
            EXPECT_EQ(pread(s.descriptor(), &seen, 1, static_cast<off_t>(s.arena(1) + at + 5)), 1);
            EXPECT_EQ(seen, 'x');
            arena.release(block);
            arena.close();
        }
    }
    EXPECT_GT(refused, 0);
}

}   // namespace
}   // namespace tutti::arena
