// SPDX-License-Identifier: BSD-3-Clause
// What a digest sees of a buffer, and what it does not.
#include "p2p/check/digest.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/datatype/builder.hpp"

namespace tutti::p2p::test {
namespace {

TEST(Digest, SeesEachByteOfDenseData) {
    std::vector<int> v(1000);
    std::iota(v.begin(), v.end(), 0);
    Data const data = Data::of_bytes(v.data(), v.size() * sizeof(int));
    auto const before = digest_of(data);
    ASSERT_TRUE(before);
    EXPECT_EQ(digest_of(data), before);
    v[777] ^= 1;
    EXPECT_NE(digest_of(data), before);
    v[777] ^= 1;
    EXPECT_EQ(digest_of(data), before);
}

TEST(Digest, DoesNotSeeWhatLiesBetweenElements) {
    Ref<Datatype> const integer = TypeBuilder::predefined(Basic::int32);
    Ref<Datatype> const even = TypeBuilder::hvector(50'000, 1, 2 * sizeof(int), *integer);
    std::vector<int> v(100'000);
    Data const data = Data::of(v.data(), 1, *even);
    ASSERT_FALSE(data.dense());
    auto const before = digest_of(data);
    ASSERT_TRUE(before);
    for (std::size_t i = 1; i < v.size(); i += 2) v[i] = -1;
    EXPECT_EQ(digest_of(data), before);
    v[99'998] = 5;   // behind the first piece that is gathered
    EXPECT_NE(digest_of(data), before);
}

TEST(Digest, IsNoneWhereThereIsNoMemory) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* const memory =
        static_cast<std::byte*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    EXPECT_TRUE(mapped(memory, 3 * page));
    EXPECT_TRUE(digest_of(Data::of_bytes(memory, 3 * page)));
    munmap(memory + page, page);
    EXPECT_FALSE(mapped(memory + page - 1, 2));
    EXPECT_TRUE(mapped(memory + page - 1, 1));
    EXPECT_FALSE(digest_of(Data::of_bytes(memory, 3 * page)));
    munmap(memory, page);
    munmap(memory + 2 * page, page);
}

}   // namespace
}   // namespace tutti::p2p::test
