// SPDX-License-Identifier: BSD-3-Clause
// The announcement of a posted receive in isolation: only the matching message claims it, once, and never after its
// withdrawal. The buffer is ordinary memory, so that ThreadSanitizer detects a sender that stores without a claim.
#include "p2p/shm/posted_receive.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace tutti::p2p::test {
namespace {

constexpr Key key{7, 3, 5};

TEST(Announced, MatchesOnlyTheMessageOfItsCell) {
    PostedReceiveLine line{};
    EXPECT_FALSE(PostedReceiveClaim(line).matches(0, key, 8)) << "zero memory announces nothing";
    PostedReceiveOwner receive(line);
    receive.announce(4, key, 4096, 100);
    EXPECT_TRUE(receive.is_for_cell(4));
    EXPECT_FALSE(receive.is_for_cell(5));
    PostedReceiveClaim const claim(line);
    EXPECT_EQ(claim.address(), 4096u);
    EXPECT_TRUE(claim.matches(4, key, 8));
    EXPECT_TRUE(claim.matches(4, key, 100));
    EXPECT_FALSE(claim.matches(4, key, 101)) << "too long";
    EXPECT_FALSE(claim.matches(3, key, 8)) << "another cell";
    EXPECT_FALSE(claim.matches(5, key, 8)) << "another cell";
    EXPECT_FALSE(claim.matches(4, {8, 3, 5}, 8)) << "another communicator";
    EXPECT_FALSE(claim.matches(4, {7, 2, 5}, 8)) << "another rank of the communicator";
    EXPECT_FALSE(claim.matches(4, {7, 3, 6}, 8)) << "another tag";
    receive.announce(4, {7, 3, any_tag}, 4096, 100);
    EXPECT_TRUE(PostedReceiveClaim(line).matches(4, {7, 3, 6}, 8));
}

TEST(Announced, IsClaimedOnceAndThenNotWithdrawn) {
    PostedReceiveLine line{};
    PostedReceiveOwner receive(line);
    receive.announce(4, key, 4096, 100);
    PostedReceiveClaim first(line), second(line);
    EXPECT_TRUE(first.try_claim());
    EXPECT_FALSE(second.try_claim());
    EXPECT_FALSE(PostedReceiveClaim(line).matches(4, key, 8)) << "already claimed";
    EXPECT_FALSE(receive.withdraw());
    EXPECT_FALSE(receive.withdraw()) << "the second attempt";
    receive.announce(5, key, 4096, 100);   // the cell has arrived
    EXPECT_TRUE(PostedReceiveClaim(line).matches(5, key, 8));
}

TEST(Announced, IsNotClaimedAfterItsWithdrawalOrReplacement) {
    PostedReceiveLine line{};
    PostedReceiveOwner receive(line);
    receive.announce(4, key, 4096, 100);
    PostedReceiveClaim before(line);
    EXPECT_TRUE(receive.withdraw());
    EXPECT_FALSE(receive.is_for_cell(4));
    EXPECT_FALSE(before.try_claim());
    receive.announce(4, key, 8192, 10);   // the same cell, another buffer
    EXPECT_FALSE(before.try_claim()) << "by a claim that read the first announcement";
    EXPECT_TRUE(PostedReceiveClaim(line).matches(4, key, 10));
    receive.close();
    EXPECT_FALSE(PostedReceiveClaim(line).matches(4, key, 10));
    EXPECT_TRUE(receive.withdraw()) << "nothing is announced";
}

/// The receiver announces one of two buffers, and withdraws it or waits for its cell; it fills buffers that are not
/// claimed itself. The sender stores into a buffer if it can claim it, and then publishes the cell.
TEST(Announced, TwoThreadsNeverWriteABufferConcurrently) {
    constexpr int rounds = 5'000;
    PostedReceiveLine line{};
    std::array<std::array<int, 4>, 2> buffers{};
    bool stored = false;   // the last cell's message was stored into the buffer
    std::atomic<std::uint64_t> cells{0}, stop{0};
    std::thread sender([&] {
        unsigned failed_claims = 0;
        for (std::uint64_t cell = 0; stop.load(std::memory_order_acquire) == 0;) {
            PostedReceiveClaim claim(line);
            if (!claim.matches(cell, key, 16) || (cell % 4 != 0 && !claim.try_claim())) {
                if (++failed_claims % 16 == 0) std::this_thread::yield();   // the machine may be busy
                continue;
            }
            if ((stored = cell % 4 != 0))
                for (int& i : *reinterpret_cast<std::array<int, 4>*>(claim.address())) i = static_cast<int>(cell);
            cells.store(++cell, std::memory_order_release);
        }
    });
    PostedReceiveOwner receive(line);
    std::uint64_t received = 0;
    for (int round = 0; round < rounds; ++round) {
        auto& buffer = buffers[static_cast<std::size_t>(round) % 2];
        receive.announce(received, key, reinterpret_cast<std::uint64_t>(&buffer), sizeof buffer);
        for (int i = 0; i < round % 50; ++i) cpu_pause();
        if (round % 3 == 0 && receive.withdraw()) {
            buffer.fill(-round);
            if (cells.load(std::memory_order_acquire) == received) continue;
        }
        while (cells.load(std::memory_order_acquire) == received) std::this_thread::yield();
        if (!stored) buffer.fill(static_cast<int>(received));
        for (int i : buffer) ASSERT_EQ(i, static_cast<int>(received)) << "round " << round;
        ++received;
    }
    stop.store(1, std::memory_order_release);
    sender.join();
    EXPECT_GT(received, 0u);
}

}   // namespace
}   // namespace tutti::p2p::test
