// SPDX-License-Identifier: BSD-3-Clause
// A copy that ranks share: exactly one rank copies each piece, no piece is accessed after the copy is done, and the
// word can be reused without limit. The data is ordinary memory, so that ThreadSanitizer detects a piece that two ranks
// access.
#include "runtime/memory/shared_copy.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace tutti::test {
namespace {

constexpr auto front = CopyFrom::front, back = CopyFrom::back;

void expect_all_covered(CopyPieces const& pieces, std::uint64_t to, std::size_t line) {
    std::size_t end = 0;
    for (std::uint32_t k = 0; k < pieces.count; ++k) {
        EXPECT_EQ(pieces.begin(k), end);
        EXPECT_EQ(pieces.size(k) > 0, pieces.bytes > 0) << pieces.bytes << " bytes to " << to << ", piece " << k;
        EXPECT_LE(pieces.size(k), pieces.step);
        end += pieces.size(k);
        EXPECT_TRUE(end == pieces.bytes || (to + end) % line == 0);
    }
    EXPECT_EQ(end, pieces.bytes);
}

TEST(CopyPieces, CoverEveryByteOnceAndEndOnLinesOfTheTarget) {
    for (std::uint64_t to : {4096u, 4097u, 4159u})
        for (std::size_t bytes : {1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 10'000u}) {
            CopyPieces const pieces(bytes, 1000, to);
            EXPECT_EQ(pieces.step, 1024u);
            expect_all_covered(pieces, to, cache_line);
            CopyPieces const same(bytes, pieces.step, to);   // the peer's pieces, from the bytes of the first
            EXPECT_EQ(same.count, pieces.count);
        }
}

TEST(CopyPieces, OfEqualSizeAreAtMostAsManyAsAllowed) {
    for (std::size_t bytes : {0u, 1u, 1000u, 8192u, 8193u, 100'000u})
        for (std::size_t line : {64u, 192u})
            for (std::size_t limit : {1u, 3u, 8u}) {
                CopyPieces const pieces = CopyPieces::at_most(limit, bytes, 1024, line);
                EXPECT_LE(pieces.count, limit);
                EXPECT_GE(pieces.step, 1024u);
                expect_all_covered(pieces, 0, line);
            }
}

TEST(CopyPieces, OfHugeCopiesAreLargerThanAsked) {
    for (std::size_t bytes : {std::size_t{1} << 32, (std::size_t{1} << 40) + 1}) {
        CopyPieces const pieces(bytes, 16384, 4159);
        EXPECT_LE(pieces.count, CopyPieces::max_pieces);
        EXPECT_GE(pieces.count, CopyPieces::max_pieces / 2);
        EXPECT_EQ(pieces.begin(pieces.count), bytes);
        CopyPieces const same(bytes, pieces.step, 4159);
        EXPECT_EQ(same.step, pieces.step);
        EXPECT_EQ(same.count, pieces.count);
    }
}

TEST(SharedCopy, OneRankAloneCopiesAllFromItsEnd) {
    std::atomic<std::uint64_t> word{0};
    for (std::uint64_t number = 1; number < 5; ++number) {
        SharedCopy copy(word, number, 5);
        EXPECT_FALSE(copy.is_done());
        std::vector<std::uint32_t> order;
        auto const end = number % 2 ? front : back;
        EXPECT_TRUE(copy.copy_from(end, [&](std::uint32_t k) { return order.push_back(k), true; }));
        std::vector<std::uint32_t> expected{0, 1, 2, 3, 4};
        if (end == back) std::ranges::reverse(expected);
        EXPECT_EQ(order, expected);
        EXPECT_TRUE(copy.is_done());
    }
}

TEST(SharedCopy, ALateRankCopiesNothingAndChangesNothing) {
    std::atomic<std::uint64_t> word{0};
    auto const copy_all = [](std::uint32_t) { return true; };
    auto const copy_none = [](std::uint32_t k) { return ADD_FAILURE() << "piece " << k, true; };
    SharedCopy(word, 1, 2).copy_from(front, copy_all);
    std::uint64_t const done = word;
    EXPECT_TRUE(SharedCopy(word, 1, 2).copy_from(back, copy_none)) << "no piece is left";
    EXPECT_EQ(word, done);
    SharedCopy(word, 2, 2).copy_from(front, [&](std::uint32_t) {
        std::uint64_t const open = word;
        EXPECT_TRUE(SharedCopy(word, 1, 2).copy_from(back, copy_none)) << "another copy is in progress";
        EXPECT_TRUE(SharedCopy(word, 1, 2).is_done());
        EXPECT_EQ(word, open);
        return true;
    });
    EXPECT_TRUE(SharedCopy(word, 2, 2).is_done());
    EXPECT_FALSE(SharedCopy(word, 3, 2).is_done()) << "has not begun";
}

TEST(SharedCopy, NumbersWrap) {
    std::atomic<std::uint64_t> word{0};
    for (std::uint64_t number = 1; number < 200'000; ++number) {
        SharedCopy const before(word, number - 1, 3);
        SharedCopy copy(word, number, 3);
        ASSERT_FALSE(copy.is_done());
        int copied = 0;
        ASSERT_TRUE(copy.copy_from(number % 3 ? front : back, [&](std::uint32_t) { return ++copied; }));
        ASSERT_EQ(copied, 3);
        ASSERT_TRUE(copy.is_done() && before.is_done());
    }
}

TEST(SharedCopy, IsNotDoneBeforeAPieceInProgressIsCopiedOrGivenBack) {
    for (bool given_back : {false, true}) {
        std::atomic<std::uint64_t> word{0};
        SharedCopy receiver(word, 1, 3), sender(word, 1, 3);
        std::vector<std::uint32_t> received;
        auto const receive = [&](std::uint32_t k) { return received.push_back(k), true; };
        bool const all = sender.copy_from(back, [&](std::uint32_t k) {
            EXPECT_EQ(k, 2u);
            EXPECT_TRUE(receiver.copy_from(front, receive));
            EXPECT_FALSE(receiver.is_done()) << "the sender is copying the last piece";
            return !given_back;
        });
        EXPECT_EQ(all, !given_back);
        if (given_back) sender.release(back);
        EXPECT_EQ(receiver.is_done(), !given_back);
        EXPECT_TRUE(receiver.copy_from(front, receive));
        EXPECT_TRUE(receiver.is_done());
        EXPECT_EQ(received, given_back ? (std::vector<std::uint32_t>{0, 1, 2}) : (std::vector<std::uint32_t>{0, 1}));
    }
}

TEST(SharedCopy, ARankThatTakesTheRestClosesTheCopyToOthers) {
    std::atomic<std::uint64_t> word{0};
    SharedCopy receiver(word, 1, 5), sender(word, 1, 5);
    int sent = 0;
    EXPECT_TRUE(sender.copy_from(back, [&](std::uint32_t) {
        if (++sent == 2) {
            EXPECT_FALSE(receiver.copy_from(front, [](std::uint32_t k) { return k == 0; }));
            receiver.take_rest(front);
            EXPECT_FALSE(receiver.is_done()) << "the sender is copying";
        }
        return true;
    }));
    EXPECT_EQ(sent, 2);
    EXPECT_TRUE(receiver.is_done());
}

/// One piece is one int: few instructions, which makes races likely.
void share_many_copies(int helpers) {
    constexpr std::uint32_t rounds = 20'000, most = 9;
    std::atomic<std::uint64_t> word{0};
    std::vector<int> from(most), to(most);
    std::atomic<std::uint32_t> opened{0};
    std::atomic<std::uint64_t> by_helpers{0};
    auto const pieces_of = [](std::uint32_t number) { return 1 + number % most; };
    auto const copy_piece = [&](std::uint32_t k) { return to[k] += from[k], true; };
    std::vector<std::thread> threads;
    for (int i = 0; i < helpers; ++i)
        threads.emplace_back([&] {
            for (std::uint32_t number = 0; number < rounds;) {
                std::uint32_t const open = opened.load(std::memory_order_acquire);
                if (open == number) {
                    std::this_thread::yield();
                    continue;
                }
                number = open;
                for (std::uint32_t spin = 0; spin < number % 64; ++spin) cpu_pause();
                SharedCopy(word, number, pieces_of(number)).copy_from(back, [&](std::uint32_t k) {
                    return ++by_helpers, copy_piece(k);
                });
            }
        });
    std::uint64_t by_owner = 0, all = 0;
    for (std::uint32_t number = 1; number <= rounds; ++number) {
        std::uint32_t const n = pieces_of(number);
        all += n;
        // The owner may reuse both buffers, whether or not the helpers have polled the last copy.
        std::iota(to.begin(), to.end(), 0);
        std::fill(from.begin(), from.end(), static_cast<int>(number));
        opened.store(number, std::memory_order_release);
        SharedCopy copy(word, number, n);
        copy.copy_from(front, [&](std::uint32_t k) { return ++by_owner, copy_piece(k); });
        while (!copy.is_done()) std::this_thread::yield();
        for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(to[i], static_cast<int>(i + number)) << "copy " << number;
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(by_helpers + by_owner, all);
}

TEST(SharedCopy, TwoThreadsCopyEveryPieceExactlyOnceInManyRounds) { share_many_copies(1); }
TEST(SharedCopy, AnOwnerAndThreeHelpersCopyEveryPieceExactlyOnceInManyRounds) { share_many_copies(3); }

}   // namespace
}   // namespace tutti::test
