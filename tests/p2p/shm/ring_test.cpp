// SPDX-License-Identifier: BSD-3-Clause
// A ring in isolation: room, reuse, lazily published positions, the largest piece, bells, the budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "p2p/shm/ring.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::p2p::test {
namespace {

struct Pair {
    explicit Pair(std::size_t bytes)
        : layout(bytes), size(bytes), memory(static_cast<std::byte*>(std::aligned_alloc(4096, bytes))) {
        std::memset(memory.get(), 0, bytes);
    }
    void send(std::size_t bytes, unsigned char value) {
        CellDescriptor descriptor;
        std::byte* room = out.allocate(bytes, descriptor);
        ASSERT_NE(room, nullptr);
        ASSERT_GE(room, memory.get() + layout.bytes_at);
        ASSERT_LE(room + bytes, memory.get() + size);
        std::memset(room, value, bytes);
        Cell& cell = out.cell();
        cell.length = bytes;
        cell.set_descriptor(descriptor);
        out.publish(cell, CellKind::eager);
    }
    bool receive(std::size_t bytes, unsigned char value) {
        Cell const* cell = in.peek();
        if (!cell) return false;
        EXPECT_EQ(cell->length, bytes);
        CellDescriptor descriptor = cell->descriptor();
        for (std::size_t i = 0; i < bytes; ++i)
            if (in.bytes(descriptor)[i] != std::byte{value}) ADD_FAILURE() << "byte " << i << " of " << bytes;
        in.advance(descriptor.end);
        return true;
    }

    struct Free {
        void operator()(void* p) const { std::free(p); }
    };
    RingLayout layout;
    std::size_t size;
    std::unique_ptr<std::byte, Free> memory;
    std::atomic<std::uint8_t> bell = 0;
    alignas(cache_line) std::byte start[Segment::ring_start_bytes] = {};
    Outbox out{memory.get(), start, layout, &bell};
    Inbox in{memory.get(), start, layout};
};

/// Each byte has one writer, which counts up.
TEST(Bells, NeverGoBackwardsInTheReadersView) {
    alignas(8) std::atomic<std::uint8_t> bells[8] = {};
    std::vector<std::thread> writers;
    for (auto& bell : bells)
        writers.emplace_back([&bell] {
            for (int i = 1; i <= 200; ++i) {
                bell.store(static_cast<std::uint8_t>(i), std::memory_order_release);
                std::this_thread::yield();
            }
        });
    std::uint8_t seen[8] = {}, now[8] = {};
    auto all = [&](std::uint8_t value) { return std::ranges::count(now, value) == 8; };
    while (!all(200)) {
        std::uint64_t const word = load_eight(bells);
        std::memcpy(now, &word, sizeof now);
        for (int i = 0; i < 8; ++i) ASSERT_GE(now[i], seen[i]) << i;
        std::memcpy(seen, now, sizeof seen);
        std::this_thread::yield();
    }
    for (std::thread& w : writers) w.join();
}

class Ring : public testing::TestWithParam<std::size_t> {};

TEST_P(Ring, LayoutFitsAndHoldsAPieceOfAPage) {
    RingLayout layout(GetParam());
    EXPECT_TRUE(std::has_single_bit(layout.cells));
    EXPECT_LT(layout.cells, 256u);
    EXPECT_LE(layout.bytes_at + layout.capacity, GetParam());
    EXPECT_GE(layout.largest_piece(), 8192u);
}

TEST_P(Ring, AcceptsAllItsCellsAndReusesThemByQuarters) {
    Pair pair(GetParam());
    auto fill = [&] {
        std::size_t n = 0;
        for (; pair.out.has_cell(); ++n) pair.out.publish(pair.out.cell(), CellKind::small);
        return n;
    };
    EXPECT_EQ(fill(), pair.layout.cells);
    for (int round = 0; round < 100; ++round) {
        for (std::size_t i = 0; i < pair.layout.cells / 4; ++i) {
            EXPECT_EQ(fill(), 0u);
            ASSERT_NE(pair.in.peek(), nullptr);
            pair.in.advance();
        }
        EXPECT_EQ(fill(), pair.layout.cells / 4);
    }
}

TEST_P(Ring, FirstCellsTouchOnlyItsStart) {
    Pair pair(GetParam());
    auto untouched = [&] {
        return std::all_of(pair.memory.get(), pair.memory.get() + pair.size,
                           [](std::byte b) { return b == std::byte{}; });
    };
    for (std::size_t i = 0; i < RingLayout::start_cells; ++i) {
        ASSERT_TRUE(pair.out.has_cell());
        pair.out.publish(pair.out.cell(), CellKind::small);
        ASSERT_NE(pair.in.peek(), nullptr);
        pair.in.advance();
    }
    EXPECT_TRUE(untouched());
    pair.out.publish(pair.out.cell(), CellKind::small);
    EXPECT_NE(pair.in.peek(), nullptr);
    EXPECT_FALSE(untouched());
}

TEST_P(Ring, LargestPieceFitsIntoAnEmptyRing) {
    Pair pair(GetParam());
    std::mt19937 random(3);
    for (int round = 0; round < 5000; ++round) {
        std::size_t bytes = round % 2 ? pair.layout.largest_piece() : random() % pair.layout.largest_piece();
        ASSERT_TRUE(pair.out.has_cell());
        pair.send(bytes, static_cast<unsigned char>(round));
        ASSERT_TRUE(pair.receive(bytes, static_cast<unsigned char>(round)));
    }
}

TEST_P(Ring, TwoThreadsTransferEverySize) {
    Pair pair(GetParam());
    auto size = [&](int i) { return static_cast<std::size_t>(i) * 7919 % pair.layout.largest_piece(); };
    constexpr int count = 3000;
    std::thread sender([&] {
        for (int i = 0; i < count; ++i) {
            CellDescriptor descriptor;
            std::byte* room;
            while (!pair.out.has_cell() || !(room = pair.out.allocate(size(i), descriptor))) std::this_thread::yield();
            std::memset(room, i & 0xff, size(i));
            Cell& cell = pair.out.cell();
            cell.length = size(i);
            cell.set_descriptor(descriptor);
            pair.out.publish(cell, CellKind::eager);
        }
    });
    for (int i = 0; i < count; ++i)
        while (!pair.receive(size(i), static_cast<unsigned char>(i))) std::this_thread::yield();
    sender.join();
    EXPECT_EQ(pair.in.peek(), nullptr);
}

TEST_P(Ring, BellHoldsTheNumberOfCells) {
    Pair pair(GetParam());
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(pair.bell.load(), static_cast<std::uint8_t>(pair.in.number()));
        ASSERT_TRUE(pair.out.has_cell());
        pair.out.publish(pair.out.cell(), CellKind::small);
        EXPECT_NE(pair.bell.load(), static_cast<std::uint8_t>(pair.in.number()));
        ASSERT_NE(pair.in.peek(), nullptr);
        pair.in.advance();
    }
}

TEST_P(Ring, BudgetIsSpentByMessagesAndReturnedByMatches) {
    Pair pair(GetParam());
    std::uint64_t spent = 0;
    for (; pair.out.spend(4096); spent += Outbox::cost(4096)) {}
    EXPECT_LE(spent, Outbox::eager_budget);
    EXPECT_GT(spent + Outbox::cost(4096), Outbox::eager_budget);
    EXPECT_FALSE(pair.out.spend(4096));
    for (std::uint64_t i = 0; i < Outbox::eager_budget / 8; i += Outbox::cost(4096)) pair.in.matched(4096);
    EXPECT_TRUE(pair.out.spend(4096));
}

TEST(Rings, HoldTheLargestEagerMessageThatASettingPermits) {
    EXPECT_TRUE(is_valid_setting("TUTTI_EAGER", std::to_string(RingLayout(80 * 1024).largest_piece())));
    EXPECT_FALSE(is_valid_setting("TUTTI_EAGER", std::to_string(RingLayout(80 * 1024).largest_piece() + 1)));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ring, testing::Values(32 * 1024, 80 * 1024));

}   // namespace
}   // namespace tutti::p2p::test
