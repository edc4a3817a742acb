// SPDX-License-Identifier: BSD-3-Clause
// A copy that sender and receiver share: exactly one side copies each chunk, no chunk is written after the receiver has
// finished, and the words can be reused without limit. The data is ordinary memory, so that ThreadSanitizer detects a
// chunk that both sides access.
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

TEST(Halves, AReceiverAloneCopiesAll) {
    SharedCopyWords words{};
    SharedCopyReceiver front;
    for (std::uint32_t copy = 1; copy < 4; ++copy) {
        front.start(words, 5);
        EXPECT_EQ(front.copy_number(), copy);
        for (std::uint32_t i = 0; i < 5; ++i, front.commit()) {
            ASSERT_TRUE(front.claim());
            EXPECT_EQ(front.next_chunk(), i);
        }
        EXPECT_FALSE(front.claim());
        EXPECT_TRUE(front.is_sender_done());
        EXPECT_FALSE(front.has_uncopied_chunk());
    }
}

TEST(Halves, ALateSenderCopiesNothing) {
    SharedCopyWords words{};
    SharedCopyReceiver front;
    front.start(words, 2);
    for (; front.claim(); front.commit()) {}
    EXPECT_FALSE(SharedCopySender(words, 1, 2).claim()) << "no chunk is left";
    front.start(words, 2);
    EXPECT_FALSE(SharedCopySender(words, 1, 2).claim()) << "another copy is open";
    EXPECT_TRUE(SharedCopySender(words, 2, 2).claim());
}

TEST(Halves, TheReceiverWaitsForAChunkInProgressAndCopiesItIfReverted) {
    for (bool given_back : {false, true}) {
        SharedCopyWords words{};
        SharedCopyReceiver front;
        front.start(words, 3);
        SharedCopySender back(words, 1, 3);
        ASSERT_TRUE(back.claim());
        EXPECT_EQ(back.next_chunk(), 2u);
        for (; front.claim(); front.commit()) {}
        EXPECT_EQ(front.next_chunk(), 2u);
        EXPECT_FALSE(front.is_sender_done()) << "the sender is copying it";
        given_back ? back.revert() : back.commit();
        EXPECT_TRUE(front.is_sender_done());
        EXPECT_EQ(front.has_uncopied_chunk(), given_back);
        EXPECT_FALSE(!given_back && back.claim());
        EXPECT_TRUE(front.is_sender_done());
    }
}

TEST(Halves, ASealedCopyIsClosedToTheSender) {
    SharedCopyWords words{};
    SharedCopyReceiver front;
    front.start(words, 4);
    SharedCopySender back(words, 1, 4);
    ASSERT_TRUE(back.claim());
    front.claim_rest();
    EXPECT_FALSE(front.is_sender_done());
    back.commit();
    EXPECT_TRUE(front.is_sender_done());
    EXPECT_FALSE(back.claim());
}

TEST(Halves, TwoThreadsCopyEveryChunkExactlyOnceInManyRounds) {
    constexpr std::uint32_t rounds = 20'000, most = 9;
    SharedCopyWords words{};
    std::vector<int> from(most), to(most);   // a chunk is one int: few instructions, which makes races likely
    std::atomic<std::uint32_t> opened{0};
    std::uint64_t by_sender = 0, by_receiver = 0, all = 0;
    auto chunks_of = [](std::uint32_t copy) { return 1 + copy % most; };
    std::thread sender([&] {
        for (std::uint32_t copy = 1; copy <= rounds; ++copy) {
            while (opened.load(std::memory_order_acquire) < copy) std::this_thread::yield();
            for (std::uint32_t i = 0; i < copy % 64; ++i) cpu_pause();
            SharedCopySender back(words, copy, chunks_of(copy));
            for (; back.claim(); back.commit(), ++by_sender) to[back.next_chunk()] += from[back.next_chunk()];
        }
    });
    SharedCopyReceiver front;
    for (std::uint32_t copy = 1; copy <= rounds; ++copy) {
        std::uint32_t n = chunks_of(copy);
        all += n;
        // The receiver may reuse both buffers, whether or not the sender has polled the last copy.
        std::iota(to.begin(), to.end(), 0);
        std::fill(from.begin(), from.end(), static_cast<int>(copy));
        front.start(words, n);
        opened.store(copy, std::memory_order_release);
        for (; front.claim(); front.commit(), ++by_receiver) to[front.next_chunk()] += from[front.next_chunk()];
        while (!front.is_sender_done()) std::this_thread::yield();
        if (front.has_uncopied_chunk()) to[front.next_chunk()] += from[front.next_chunk()], ++by_receiver;
        for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(to[i], static_cast<int>(i + copy)) << "copy " << copy;
    }
    sender.join();
    EXPECT_EQ(by_sender + by_receiver, all);
}

}   // namespace
}   // namespace tutti::p2p::test
