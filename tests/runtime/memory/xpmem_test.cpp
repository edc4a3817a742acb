// SPDX-License-Identifier: BSD-3-Clause
// Single copies by XPMEM, with a fake library that attaches within one process.
#include "runtime/memory/xpmem.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/memory/single_copy.hpp"

namespace tutti {
namespace {

class XpmemTest : public testing::Test {
protected:
    void SetUp() override {
        handle = dlopen(FAKE_XPMEM, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(handle, nullptr) << dlerror();
        number("fake_attaches_left") = 1000;
        segment.rank_state(0).pid = segment.rank_state(1).pid = getpid();
    }
    void TearDown() override { dlclose(handle); }

    int& number(char const* name) { return *static_cast<int*>(dlsym(handle, name)); }
    static std::uint64_t address(void const* p) { return reinterpret_cast<std::uint64_t>(p); }

    void* handle = nullptr;
    Segment segment = Segment::create(2);
    Copier const copier;
};

TEST_F(XpmemTest, LoadsAndStoresOutsideOfArenas) {
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM, .cma = false}, copier);
    SingleCopy theirs(segment, 1, {.xpmem = FAKE_XPMEM, .cma = false}, copier);
    char data[] = "hello", got[6] = {};
    EXPECT_EQ(theirs.access_path(data, sizeof data), AccessPath::attach);
    std::byte* there = mine.local_address(1, address(data), sizeof data);
    ASSERT_EQ(there, reinterpret_cast<std::byte*>(data));
    EXPECT_TRUE(mine.read(1, address(data), got, 6));
    EXPECT_STREQ(got, "hello");
    EXPECT_TRUE(mine.write(1, address(data), "world", 6));
    EXPECT_STREQ(data, "world");
    Counters const& counted = segment.rank_state(0).counters;
    EXPECT_EQ(counted.maps.read(), 1u) << "one piece, which stays attached";
    EXPECT_EQ(counted.hits.read(), 2u);
    EXPECT_EQ(counted.attached.read(), 18u);
    EXPECT_EQ(counted.cma.read() + counted.direct.read(), 0u);
}

/// As without the registration cache of the XHC paper.
TEST_F(XpmemTest, WithoutARegistrationCacheAttachmentsEndWithTheirOperation) {
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM, .cma = false, .registration_cache = false}, copier);
    SingleCopy theirs(segment, 1, {.xpmem = FAKE_XPMEM, .cma = false}, copier);
    auto const page = static_cast<std::size_t>(getpagesize());
    std::vector<char> data(5 * page);
    std::uint64_t const first = (address(data.data()) + page - 1) / page * page;
    auto const at = [&](std::uint64_t there, std::size_t bytes, OwnAttachments& own) {
        return address(mine.local_address(1, there, bytes, &own));
    };
    Counters const& counted = segment.rank_state(0).counters;
    for (std::uint64_t operation = 1; operation <= 3; ++operation) {
        {
            OwnAttachments own;
            EXPECT_EQ(at(first + 8, 2 * page, own), first + 8);
            EXPECT_EQ(number("fake_last_bytes"), static_cast<int>(3 * page)) << "the pages of these bytes";
            EXPECT_EQ(at(first + page, page, own), first + page) << "the operation accesses them again";
            EXPECT_TRUE(mine.has_local_address(1, first, 8, &own));
            EXPECT_EQ(number("fake_attached"), 1);
            EXPECT_EQ(at(first + 3 * page, 1, own), first + 3 * page) << "another page";
            EXPECT_EQ(number("fake_attached"), 2);
        }
        EXPECT_EQ(number("fake_attached"), 0);
        EXPECT_EQ(counted.maps.read(), 2 * operation);
        EXPECT_EQ(counted.unmaps.read(), 2 * operation);
    }
    EXPECT_TRUE(mine.read(1, first, data.data(), 8));
    EXPECT_TRUE(mine.write(1, first, data.data(), 8));
    EXPECT_EQ(counted.unmaps.read(), 8u) << "an attachment for each copy";
    EXPECT_EQ(number("fake_attached"), 0);
    EXPECT_NE(mine.local_address(1, first, 8), nullptr) << "as for a window";
    EXPECT_EQ(number("fake_attached"), 1);
    EXPECT_EQ(counted.hits.read(), 0u);
    OwnAttachments own;
    number("fake_attaches_left") = 0;
    EXPECT_EQ(mine.local_address(1, first, 8, &own), nullptr) << "kept attachments are not looked up";
    EXPECT_TRUE(own.empty());
    EXPECT_EQ(segment.header().xpmem_forbidden.load(), 1u);
}

TEST_F(XpmemTest, WithARegistrationCacheNoAttachmentBelongsToAnOperation) {
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM}, copier), theirs(segment, 1, {.xpmem = FAKE_XPMEM}, copier);
    for (int operation = 0; operation < 3; ++operation) {
        OwnAttachments own;
        EXPECT_NE(mine.local_address(1, address(&mine), 8, &own), nullptr);
        EXPECT_TRUE(own.empty());
    }
    Counters const& counted = segment.rank_state(0).counters;
    EXPECT_EQ(counted.maps.read(), 1u);
    EXPECT_EQ(counted.hits.read(), 2u);
    EXPECT_EQ(counted.unmaps.read(), 0u);
}

TEST_F(XpmemTest, IsUnusedIfTheCreatorOfTheSegmentCouldNotUseIt) {
    EXPECT_TRUE(xpmem_works(FAKE_XPMEM));
    EXPECT_FALSE(xpmem_works("no such library"));
    EXPECT_TRUE(SingleCopy(segment, 0, {.xpmem = FAKE_XPMEM}, copier).may_load());
    record_access(segment.header(), false, true, false);
    SingleCopy mine(segment, 0, {.arena = false, .xpmem = FAKE_XPMEM}, copier);
    EXPECT_FALSE(mine.may_load());
    EXPECT_EQ(mine.may_copy(), cma_works());
    EXPECT_EQ(mine.may_copy_by_kernel(), cma_works());
    record_access(segment.header(), false, false, false);
    EXPECT_FALSE(mine.may_copy());
    record_access(segment.header(), true, false, false);
    EXPECT_TRUE(mine.may_copy()) << "from and to arenas";
    EXPECT_FALSE(mine.may_copy_by_kernel());
    EXPECT_FALSE(mine.may_attach());
    EXPECT_EQ(segment.rank_state(0).xpmem_segment.load(), 0);
}

TEST_F(XpmemTest, ExposesMemoryToItsUserOnly) {
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM}, copier);
    EXPECT_NE(segment.rank_state(0).xpmem_segment.load(), 0);
    EXPECT_EQ(number("fake_modes"), 0600);
}

TEST_F(XpmemTest, AttachesToNothingBeyondTheAddressSpace) {
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM}, copier), theirs(segment, 1, {.xpmem = FAKE_XPMEM}, copier);
    std::uint64_t const top = segment.rank_state(1).xpmem_top;
    EXPECT_GT(top, address(&mine)) << "the stack is below it";
    EXPECT_NE(mine.local_address(1, top - 8, 8), nullptr) << "a piece that ends at the top";
    EXPECT_EQ(mine.local_address(1, top - 8, 9), nullptr);
    EXPECT_EQ(mine.local_address(1, ~std::uint64_t{0} - 8, 4), nullptr);
    EXPECT_EQ(mine.local_address(1, 4096, ~std::size_t{0}), nullptr);
    EXPECT_EQ(theirs.access_path(&mine, 1), AccessPath::attach) << "an invalid address is no failure of XPMEM";
}

TEST_F(XpmemTest, FallsBackOnAllRanksWhenAttachingFails) {
    number("fake_attaches_left") = 1;
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM}, copier), theirs(segment, 1, {.xpmem = FAKE_XPMEM}, copier);
    // Distant addresses, which need two pieces.
    char* low = static_cast<char*>(std::malloc(6));
    char high[6] = "stack";
    std::strcpy(low, "heap");
    char got[6] = {};
    EXPECT_NE(mine.local_address(1, address(low), 5), nullptr);
    EXPECT_EQ(mine.local_address(1, address(high), 6), nullptr);
    EXPECT_EQ(segment.header().xpmem_forbidden.load(), 1u);
    EXPECT_NE(theirs.access_path(high, 6), AccessPath::attach) << "the other ranks must be notified";
    EXPECT_NE(mine.access_path(high, 6), AccessPath::attach);
    EXPECT_NE(mine.local_address(1, address(low), 5), nullptr) << "attached pieces stay";
    EXPECT_EQ(mine.read(1, address(high), got, 6), mine.cma()) << "the next method";
    EXPECT_STREQ(got, mine.cma() ? "stack" : "");
    std::free(low);
}

TEST_F(XpmemTest, DoesNotAttachToPeersThatExposeNothing) {
    SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM}, copier), forbidden(segment, 1, {}, copier);
    char data = 0;
    EXPECT_NE(forbidden.access_path(&data, 1), AccessPath::attach);
    EXPECT_EQ(mine.local_address(1, address(&data), 1), nullptr);
    EXPECT_EQ(forbidden.local_address(0, address(&data), 1), nullptr);
    EXPECT_EQ(mine.access_path(&data, 1), AccessPath::attach) << "another rank's setting is no failure of XPMEM";
}

TEST_F(XpmemTest, WorksWithoutTheLibrary) {
    SingleCopy mine(segment, 0, {.xpmem = "/nowhere/libxpmem.so.0"}, copier);
    char data = 0;
    EXPECT_NE(mine.access_path(&data, 1), AccessPath::attach);
    EXPECT_EQ(segment.rank_state(0).xpmem_segment.load(), 0);
}

TEST_F(XpmemTest, ReleasesEverything) {
    {
        SingleCopy mine(segment, 0, {.xpmem = FAKE_XPMEM}, copier), theirs(segment, 1, {.xpmem = FAKE_XPMEM}, copier);
        EXPECT_NE(mine.local_address(1, address(&mine), 8), nullptr);
        EXPECT_EQ(number("fake_attached"), 1);
        EXPECT_EQ(number("fake_segments"), 2);
    }
    EXPECT_EQ(number("fake_attached"), 0);
    EXPECT_EQ(number("fake_accesses"), 0);
    EXPECT_EQ(number("fake_segments"), 0);
    EXPECT_EQ(segment.rank_state(1).xpmem_segment.load(), 0);
}

}   // namespace
}   // namespace tutti
