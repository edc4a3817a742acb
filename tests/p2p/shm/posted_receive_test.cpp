// SPDX-License-Identifier: BSD-3-Clause
// An announced receive by itself: only its own message claims it, once, and never after it was taken back. The buffer
// is plain memory, so that ThreadSanitizer sees a sender that stores when it must not.
#include "p2p/shm/posted_receive.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace tutti::p2p::test {
namespace {

constexpr Key key{7, 3, 5};

TEST(Announced, SuitsOnlyTheMessageOfItsCell) {
    Announced line{};
    EXPECT_FALSE(Claim(line).suits(0, key, 8)) << "zero memory announces nothing";
    Announcement receive(line);
    receive.open(4, key, 4096, 100);
    EXPECT_TRUE(receive.holds(4));
    EXPECT_FALSE(receive.holds(5));
    Claim const claim(line);
    EXPECT_EQ(claim.address(), 4096u);
    EXPECT_TRUE(claim.suits(4, key, 8));
    EXPECT_TRUE(claim.suits(4, key, 100));
    EXPECT_FALSE(claim.suits(4, key, 101)) << "too long";
    EXPECT_FALSE(claim.suits(3, key, 8)) << "another cell";
    EXPECT_FALSE(claim.suits(5, key, 8)) << "another cell";
    EXPECT_FALSE(claim.suits(4, {8, 3, 5}, 8)) << "another communicator";
    EXPECT_FALSE(claim.suits(4, {7, 2, 5}, 8)) << "another rank of it";
    EXPECT_FALSE(claim.suits(4, {7, 3, 6}, 8)) << "another tag";
    receive.open(4, {7, 3, any_tag}, 4096, 100);
    EXPECT_TRUE(Claim(line).suits(4, {7, 3, 6}, 8));
}

TEST(Announced, IsClaimedOnceAndNotWithdrawnThen) {
    Announced line{};
    Announcement receive(line);
    receive.open(4, key, 4096, 100);
    Claim first(line), second(line);
    EXPECT_TRUE(first.take());
    EXPECT_FALSE(second.take());
    EXPECT_FALSE(Claim(line).suits(4, key, 8)) << "it is claimed";
    EXPECT_FALSE(receive.withdraw());
    EXPECT_FALSE(receive.withdraw()) << "asked once more";
    receive.open(5, key, 4096, 100);   // the cell has come
    EXPECT_TRUE(Claim(line).suits(5, key, 8));
}

TEST(Announced, IsNotClaimedAfterItWasWithdrawnOrFollowedByAnother) {
    Announced line{};
    Announcement receive(line);
    receive.open(4, key, 4096, 100);
    Claim before(line);
    EXPECT_TRUE(receive.withdraw());
    EXPECT_FALSE(receive.holds(4));
    EXPECT_FALSE(before.take());
    receive.open(4, key, 8192, 10);   // the same cell, another buffer
    EXPECT_FALSE(before.take()) << "with what was read of the first one";
    EXPECT_TRUE(Claim(line).suits(4, key, 10));
    receive.close();
    EXPECT_FALSE(Claim(line).suits(4, key, 10));
    EXPECT_TRUE(receive.withdraw()) << "nothing is announced";
}

/// The receiver announces one of two buffers, takes it back or is taken at its word; what is not claimed it writes
/// itself. The sender stores where it can claim, or leaves the buffer alone, and publishes the cell.
TEST(Announced, TwoThreadsNeverWriteABufferAtOnceRoundAfterRound) {
    constexpr int rounds = 5'000;
    Announced line{};
    std::array<std::array<int, 4>, 2> buffers{};
    bool stored = false;   // the last cell's message, rather than sent another way
    std::atomic<std::uint64_t> cells{0}, stop{0};
    std::thread sender([&] {
        unsigned in_vain = 0;
        for (std::uint64_t cell = 0; stop.load(std::memory_order_acquire) == 0;) {
            Claim claim(line);
            if (!claim.suits(cell, key, 16) || (cell % 4 != 0 && !claim.take())) {
                if (++in_vain % 16 == 0) std::this_thread::yield();   // the machine may be busy
                continue;
            }
            if ((stored = cell % 4 != 0))
                for (int& i : *reinterpret_cast<std::array<int, 4>*>(claim.address())) i = static_cast<int>(cell);
            cells.store(++cell, std::memory_order_release);
        }
    });
    Announcement receive(line);
    std::uint64_t taken = 0;
    for (int round = 0; round < rounds; ++round) {
        auto& buffer = buffers[static_cast<std::size_t>(round) % 2];
        receive.open(taken, key, reinterpret_cast<std::uint64_t>(&buffer), sizeof buffer);
        for (int i = 0; i < round % 50; ++i) cpu_pause();
        if (round % 3 == 0 && receive.withdraw()) {
            buffer.fill(-round);
            if (cells.load(std::memory_order_acquire) == taken) continue;
        }
        while (cells.load(std::memory_order_acquire) == taken) std::this_thread::yield();
        if (!stored) buffer.fill(static_cast<int>(taken));
        for (int i : buffer) ASSERT_EQ(i, static_cast<int>(taken)) << "round " << round;
        ++taken;
    }
    stop.store(1, std::memory_order_release);
    sender.join();
    EXPECT_GT(taken, 0u);
}

}   // namespace
}   // namespace tutti::p2p::test
