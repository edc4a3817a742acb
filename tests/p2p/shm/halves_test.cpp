// SPDX-License-Identifier: BSD-3-Clause
// A copy made from both ends: every chunk by exactly one side, nothing written after the receiver has settled, words
// reused for ever. The memory is plain, so that ThreadSanitizer sees a chunk that both sides touch.
#include "p2p/shm/halves.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace tutti::p2p::test {
namespace {

TEST(Chunks, CoverEveryByteOnceAndEndOnLinesOfTheTarget) {
    for (std::uint64_t to : {4096u, 4097u, 4159u})
        for (std::size_t bytes : {1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 10'000u}) {
            Chunks chunks{to, bytes, 1024};
            std::size_t end = 0;
            for (std::uint32_t i = 0; i < chunks.count(); ++i) {
                EXPECT_EQ(chunks.begin(i), end);
                EXPECT_GT(chunks.size(i), 0u) << bytes << " bytes to " << to << ", chunk " << i;
                EXPECT_LE(chunks.size(i), 1024u);
                end += chunks.size(i);
                EXPECT_TRUE(end == bytes || (to + end) % cache_line == 0);
            }
            EXPECT_EQ(end, bytes);
        }
}

TEST(Halves, AReceiverAloneTakesAll) {
    Halves halves{};
    Front front;
    for (std::uint32_t copy = 1; copy < 4; ++copy) {
        front.open(halves, 5);
        EXPECT_EQ(front.copy(), copy);
        for (std::uint32_t i = 0; i < 5; ++i, front.took()) {
            ASSERT_TRUE(front.claim());
            EXPECT_EQ(front.next(), i);
        }
        EXPECT_FALSE(front.claim());
        EXPECT_TRUE(front.settled());
        EXPECT_FALSE(front.incomplete());
    }
}

TEST(Halves, ASenderThatComesLateTakesNothing) {
    Halves halves{};
    Front front;
    front.open(halves, 2);
    for (; front.claim(); front.took()) {}
    EXPECT_FALSE(Back(halves, 1, 2).claim()) << "nothing is left";
    front.open(halves, 2);
    EXPECT_FALSE(Back(halves, 1, 2).claim()) << "another copy is open";
    EXPECT_TRUE(Back(halves, 2, 2).claim());
}

TEST(Halves, TheReceiverWaitsForTheChunkUnderWayAndTakesItIfGivenBack) {
    for (bool given_back : {false, true}) {
        Halves halves{};
        Front front;
        front.open(halves, 3);
        Back back(halves, 1, 3);
        ASSERT_TRUE(back.claim());
        EXPECT_EQ(back.next(), 2u);
        for (; front.claim(); front.took()) {}
        EXPECT_EQ(front.next(), 2u);
        EXPECT_FALSE(front.settled()) << "the sender is at it";
        given_back ? back.leave() : back.took();
        EXPECT_TRUE(front.settled());
        EXPECT_EQ(front.incomplete(), given_back);
        EXPECT_FALSE(!given_back && back.claim());
        EXPECT_TRUE(front.settled());
    }
}

TEST(Halves, ASealedCopyIsClosedToTheSender) {
    Halves halves{};
    Front front;
    front.open(halves, 4);
    Back back(halves, 1, 4);
    ASSERT_TRUE(back.claim());
    front.seal();
    EXPECT_FALSE(front.settled());
    back.took();
    EXPECT_TRUE(front.settled());
    EXPECT_FALSE(back.claim());
}

TEST(Halves, TwoThreadsCopyEveryChunkExactlyOnceRoundAfterRound) {
    constexpr std::uint32_t rounds = 20'000, most = 9;
    Halves halves{};
    std::vector<int> from(most), to(most);   // an int stands for a chunk: few instructions, so they meet closely
    std::atomic<std::uint32_t> opened{0};
    std::uint64_t by_sender = 0, by_receiver = 0, all = 0;
    auto chunks_of = [](std::uint32_t copy) { return 1 + copy % most; };
    std::thread sender([&] {
        for (std::uint32_t copy = 1; copy <= rounds; ++copy) {
            while (opened.load(std::memory_order_acquire) < copy) std::this_thread::yield();
            for (std::uint32_t i = 0; i < copy % 64; ++i) cpu_pause();
            Back back(halves, copy, chunks_of(copy));
            for (; back.claim(); back.took(), ++by_sender) to[back.next()] += from[back.next()];
        }
    });
    Front front;
    for (std::uint32_t copy = 1; copy <= rounds; ++copy) {
        std::uint32_t n = chunks_of(copy);
        all += n;
        // Both buffers are the receiver's again, whether the sender has looked at the last copy or not.
        std::iota(to.begin(), to.end(), 0);
        std::fill(from.begin(), from.end(), static_cast<int>(copy));
        front.open(halves, n);
        opened.store(copy, std::memory_order_release);
        for (; front.claim(); front.took(), ++by_receiver) to[front.next()] += from[front.next()];
        while (!front.settled()) std::this_thread::yield();
        if (front.incomplete()) to[front.next()] += from[front.next()], ++by_receiver;
        for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(to[i], static_cast<int>(i + copy)) << "copy " << copy;
    }
    sender.join();
    EXPECT_EQ(by_sender + by_receiver, all);
}

}   // namespace
}   // namespace tutti::p2p::test
