// SPDX-License-Identifier: BSD-3-Clause
// The changes of a buffer that its digest detects, and those that it ignores.
#include "p2p/check/checks.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/datatype/builder.hpp"

namespace tutti::p2p::test {
namespace {

TEST(Digest, DetectsEachByteOfDenseData) {
    std::vector<int> v(1000);
    std::iota(v.begin(), v.end(), 0);
    Data const data = Data::of_bytes(v.data(), v.size() * sizeof(int));
    std::uint64_t const before = digest_of(data);
    EXPECT_EQ(digest_of(data), before);
    v[777] ^= 1;
    EXPECT_NE(digest_of(data), before);
    v[777] ^= 1;
    EXPECT_EQ(digest_of(data), before);
}

TEST(Digest, IgnoresBytesBetweenElements) {
    Ref<Datatype> const integer = TypeBuilder::predefined(Basic::int32);
    Ref<Datatype> const even = TypeBuilder::hvector(50'000, 1, 2 * sizeof(int), *integer);
    std::vector<int> v(100'000);
    Data const data = Data::of(v.data(), 1, *even);
    ASSERT_FALSE(data.dense());
    std::uint64_t const before = digest_of(data);
    for (std::size_t i = 1; i < v.size(); i += 2) v[i] = -1;
    EXPECT_EQ(digest_of(data), before);
    v[99'998] = 5;   // behind the first piece that is gathered
    EXPECT_NE(digest_of(data), before);
}

TEST(Digest, DetectsEachWordOfEveryLength) {
    std::vector<std::byte> v(301);
    for (std::size_t bytes = 0; bytes < v.size(); ++bytes) {
        Data const data = Data::of_bytes(v.data(), bytes);
        std::uint64_t const before = digest_of(data);
        for (std::size_t at = 0; at < bytes; ++at) {
            v[at] = std::byte{0x80};
            EXPECT_NE(digest_of(data), before) << at << " of " << bytes;
            v[at] = {};
        }
        EXPECT_NE(digest_of(Data::of_bytes(v.data(), bytes + 1)), before);
    }
}

TEST(Digest, DetectsSignsThatChangeInPairs) {
    std::vector<double> v(64, 1.0);
    Data const data = Data::of_bytes(v.data(), v.size() * sizeof(double));
    std::uint64_t const before = digest_of(data);
    for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            v[i] = v[j] = -1.0;
            EXPECT_NE(digest_of(data), before) << i << " and " << j;
            v[i] = v[j] = 1.0;
        }
    std::swap(v[0] = 2.0, v[8]);
    std::uint64_t const swapped = digest_of(data);
    std::swap(v[0], v[8]);
    EXPECT_NE(digest_of(data), swapped);
}

}   // namespace
}   // namespace tutti::p2p::test
