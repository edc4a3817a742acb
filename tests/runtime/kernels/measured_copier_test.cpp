// SPDX-License-Identifier: BSD-3-Clause
// The kernel that a MeasuredCopier selects, with a clock that the kernels themselves advance.
#include "runtime/kernels/measured_copier.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tutti {
namespace {

using Direction = MeasuredCopier::Direction;

std::int64_t now = 0;
int calls[2];
std::int64_t small_cost[2], large_cost[2];   // of copies below 64 KiB, and of larger ones

template <int which>
void kernel(void* to, void const* from, std::size_t n) {
    std::memcpy(to, from, n);
    now += n < 65536 ? small_cost[which] : large_cost[which];
    ++calls[which];
}

class MeasuredCopierTest : public ::testing::Test {
protected:
    static constexpr int trials = 2 * MeasuredCopier::trials_per_kernel;

    MeasuredCopierTest() : memory_(3 * most) { forget(); }

    static void forget() { calls[0] = calls[1] = 0; }
    char* lined(std::size_t offset) {
        auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
        return memory_.data() + (64 - address % 64) + offset;
    }
    void copy(Direction direction, std::size_t n, int times = 1, std::size_t unlike = 0) {
        char* const from = lined(unlike);
        char* const to = lined(0) + most + 64;
        for (int i = 0; i < times; ++i) {
            std::memset(from, 'a' + i % 26, n);
            copier.copy(direction, to, from, n);
            ASSERT_EQ(0, std::memcmp(to, from, n));
        }
    }

    static constexpr std::size_t most = 1 << 17;
    MeasuredCopier copier{{kernel<0>, kernel<1>}, [] { return now; }};

private:
    std::vector<char> memory_;
};

TEST_F(MeasuredCopierTest, TriesEachKernelEquallyOftenThenSelectsTheFastest) {
    large_cost[0] = 2000;
    large_cost[1] = 1000;
    copy(Direction::put, 65536, trials);
    EXPECT_EQ(calls[0], static_cast<int>(MeasuredCopier::trials_per_kernel));
    EXPECT_EQ(calls[1], static_cast<int>(MeasuredCopier::trials_per_kernel));
    forget();
    copy(Direction::put, 65536, 10);
    EXPECT_EQ(calls[0], 0);
    EXPECT_EQ(calls[1], 10);
}

TEST_F(MeasuredCopierTest, OneSlowCopyDoesNotDecide) {
    large_cost[0] = 1'000'000;   // a page fault or a lost time slice
    large_cost[1] = 2000;
    copy(Direction::put, 65536, 3);
    large_cost[0] = 1000;
    copy(Direction::put, 65536, trials - 3);
    forget();
    copy(Direction::put, 65536, 5);
    EXPECT_EQ(calls[0], 5);
}

TEST_F(MeasuredCopierTest, MeasuresSizesDirectionsAndAlignmentsSeparately) {
    small_cost[0] = large_cost[1] = 1000;
    small_cost[1] = large_cost[0] = 2000;
    copy(Direction::put, 8192, trials);
    copy(Direction::put, 65536, trials);
    forget();
    copy(Direction::put, 8192, 5);
    EXPECT_EQ(calls[0], 5);
    copy(Direction::put, 65536, 5);
    EXPECT_EQ(calls[1], 5);
    forget();
    copy(Direction::get, 65536, 2);
    copy(Direction::put, 65536, 2, 8);
    EXPECT_EQ(calls[0], 2) << "not measured yet";
    EXPECT_EQ(calls[1], 2);
}

TEST(MeasuredCopier, CopiesAnySizeWithTheProcessorsKernels) {
    MeasuredCopier copier;
    for (std::size_t n = MeasuredCopier::min_bytes; n <= 16 << 20; n = 2 * n + 1)
        for (int i = 0; i < 3; ++i) {
            std::vector<char> const from(n, static_cast<char>('a' + i));
            std::vector<char> to(n);
            copier.copy(Direction::get, to.data(), from.data(), n);
            ASSERT_EQ(from, to);
        }
}

}   // namespace
}   // namespace tutti
