// SPDX-License-Identifier: BSD-3-Clause
// Balanced dimensions, compared with an exhaustive search, and every invalid argument.
#include "runtime/objects/virtual_topology.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/error.hpp"

using namespace tutti;
using testing::ElementsAre;

namespace {

std::vector<int> balanced(int nodes, std::vector<int> dims) {
    balance_dims(nodes, dims);
    return dims;
}

/// The least difference between largest and smallest over all factorisations into `k` non-increasing factors.
int least_difference(int n, int k) {
    int best = n;
    std::function<void(int, int, int, int)> choose = [&](int rest, int open, int largest, int last) {
        if (open == 1) {
            if (rest <= last) best = std::min(best, largest - rest);
            return;
        }
        for (int d = 1; d <= std::min(rest, last); ++d)
            if (rest % d == 0) choose(rest / d, open - 1, open == k ? d : largest, d);
    };
    if (k == 1) return 0;
    choose(n, k, n, n);
    return best;
}

ErrorClass dims_error(int nodes, std::vector<int> dims) {
    try {
        balance_dims(nodes, dims);
    } catch (Error const& error) { return error.error_class; }
    return ErrorClass::success;
}

}   // namespace

TEST(Dims, AreOptimalForEveryNumberUpToAThousand) {
    for (int k = 1; k <= 5; ++k)
        for (int n = 1; n <= 1000; ++n) {
            std::vector<int> dims = balanced(n, std::vector<int>(static_cast<std::size_t>(k)));
            int product = 1;
            for (int d : dims) product *= d;
            ASSERT_EQ(product, n);
            ASSERT_TRUE(std::is_sorted(dims.rbegin(), dims.rend())) << n << " in " << k;
            ASSERT_EQ(dims.front() - dims.back(), least_difference(n, k)) << n << " in " << k;
        }
}

TEST(Dims, HaveKnownValues) {
    EXPECT_THAT(balanced(72, {0, 0}), ElementsAre(9, 8));
    EXPECT_THAT(balanced(1000000000, {0, 0, 0}), ElementsAre(1000, 1000, 1000));
    EXPECT_THAT(balanced(98784, {0, 0, 0, 0, 0}), ElementsAre(14, 14, 9, 8, 7));
    EXPECT_THAT(balanced(1, {0, 0, 0}), ElementsAre(1, 1, 1));
    EXPECT_THAT(balanced(7, {0, 0}), ElementsAre(7, 1));
}

TEST(Dims, KeepGivenDimensions) {
    EXPECT_THAT(balanced(24, {0, 3, 0}), ElementsAre(4, 3, 2));
    EXPECT_THAT(balanced(24, {2, 12}), ElementsAre(2, 12));
    EXPECT_THAT(balanced(32, {0, 16, 0, 2}), ElementsAre(1, 16, 1, 2));
    EXPECT_TRUE(balanced(1, {}).empty());
}

TEST(Dims, OfTheHardestNumbersAreComputedQuickly) {
    for (int n : {2147483647, 1073741824, 2095133040, 1396755360})
        for (std::size_t k : {2, 8, 20, 64}) {
            std::vector<int> dims = balanced(n, std::vector<int>(k));
            long product = 1;
            for (int d : dims) product *= d;
            EXPECT_EQ(product, n);
        }
}

TEST(Dims, RefuseImpossibleDimensions) {
    EXPECT_EQ(dims_error(24, {-1, 0}), ErrorClass::dims);
    EXPECT_EQ(dims_error(24, {5, 0}), ErrorClass::dims);
    EXPECT_EQ(dims_error(24, {2, 3}), ErrorClass::dims);
    EXPECT_EQ(dims_error(24, {65536, 65536, 65536, 0}), ErrorClass::dims);
    EXPECT_EQ(dims_error(2, {}), ErrorClass::dims);
    EXPECT_EQ(dims_error(0, {0}), ErrorClass::arg);
    EXPECT_EQ(dims_error(-4, {0}), ErrorClass::arg);
}
