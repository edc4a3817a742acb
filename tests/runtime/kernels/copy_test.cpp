// SPDX-License-Identifier: BSD-3-Clause
// Every copy kernel of every instruction set with all small lengths, alignments of both sides, and large lengths; it
// must not write around the destination. The kernel that a Copier selects, and the cache capacity that it assumes.
#include "runtime/kernels/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topo/detect.hpp"

namespace tutti {
namespace {

struct Named {
    char const* name;
    CopyKernels kernels;
};

std::vector<Named> tables() {
    std::vector<Named> all = {{"portable", portable_copies}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) all.push_back({"AVX2", avx2_copies});
    if (__builtin_cpu_supports("avx512f")) all.push_back({"AVX-512", avx512_copies});
#elif defined(__aarch64__)
    all.push_back({"NEON", neon_copies});
#endif
    return all;
}

/// Memory on a page boundary, so that an offset is an alignment.
struct Pages {
    explicit Pages(std::size_t n) : bytes(n + 2 * 4096), memory(bytes) {}
    char* at(std::size_t offset) {
        auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
        return memory.data() + (4096 - address % 4096) + offset;
    }
    std::size_t bytes;
    std::vector<char> memory;
};

class EveryCopyKernel : public ::testing::Test {
protected:
    static constexpr std::size_t most = (1 << 20) + 77, around = 128;

    EveryCopyKernel() : from_(most + 256), to_(most + 256 + 2 * around) {
        std::uint32_t state = 1;
        for (std::size_t i = 0; i < most + 256; ++i) {
            state = state * 69069 + 1;
            from_.at(0)[i] = static_cast<char>(state >> 24);
        }
    }

    /// Copies, and returns whether all bytes arrived and no others were written.
    bool copies(CopyKernel kernel, std::size_t to_offset, std::size_t from_offset, std::size_t n) {
        char* const start = to_.at(to_offset);
        std::fill(start, start + n + 2 * around, 'z');
        kernel(start + around, from_.at(from_offset), n);
        return std::equal(start + around, start + around + n, from_.at(from_offset)) &&
               std::all_of(start, start + around, is_guard) &&
               std::all_of(start + around + n, start + n + 2 * around, is_guard);
    }

    template <class Check>
    void for_each_kernel(Check check) {
        for (Named const& table : tables()) {
            check(table.name, "from a core's cache", table.kernels.from_core);
            check(table.name, "from a shared cache", table.kernels.from_shared);
            check(table.name, "in order", table.kernels.in_order);
            check(table.name, "streaming", table.kernels.streaming);
        }
        if (auto const string = string_copy()) check("processor", "string", string);
    }

private:
    static bool is_guard(char c) { return c == 'z'; }
    Pages from_, to_;
};

TEST_F(EveryCopyKernel, CopiesAllSmallLengthsAtManyAlignments) {
    for_each_kernel([&](char const* set, char const* form, CopyKernel kernel) {
        for (std::size_t n = 0; n <= 300; ++n)
            for (std::size_t to : {0, 1, 31, 32, 63})
                for (std::size_t from : {0, 1, 17, 32, 60})
                    ASSERT_TRUE(copies(kernel, to, from, n))
                        << set << ' ' << form << ' ' << n << " to " << to << " from " << from;
    });
}

TEST_F(EveryCopyKernel, CopiesAtEveryAlignmentOfEitherSide) {
    for_each_kernel([&](char const* set, char const* form, CopyKernel kernel) {
        for (std::size_t offset = 0; offset < 64; ++offset)
            for (std::size_t n : {4096 + 700, 16384 + 100}) {
                ASSERT_TRUE(copies(kernel, offset, 0, n)) << set << ' ' << form << ' ' << n << " to " << offset;
                ASSERT_TRUE(copies(kernel, 5, offset, n)) << set << ' ' << form << ' ' << n << " from " << offset;
            }
    });
}

/// Around the lengths at which the kernels' loops change: blocks, pages, groups of pages.
TEST_F(EveryCopyKernel, CopiesLengthsAroundItsOwnLimits) {
    for_each_kernel([&](char const* set, char const* form, CopyKernel kernel) {
        for (std::size_t limit : {256, 512, 768, 4096, 4096 + 256, 4 * 4096, 5 * 4096, 8 * 4096, 1 << 20})
            for (std::size_t n : {limit - 65, limit - 1, limit, limit + 1, limit + 63, limit + 64})
                for (std::size_t to : {0, 3})
                    ASSERT_TRUE(copies(kernel, to, 9, n)) << set << ' ' << form << ' ' << n << ' ' << to;
    });
}

TEST_F(EveryCopyKernel, ExistsForEverySelectionOfACopier) {
    CacheCapacity const room{1 << 19, 1 << 16};
    for (auto stores : {Copier::Stores::automatic, Copier::Stores::temporal, Copier::Stores::nontemporal}) {
        Copier const copier(room, stores);
        for (std::size_t working_set : {0, 1 << 19, 1 << 20})
            for (std::size_t n : {0, 1, 4095, 4096, 1 << 16, (1 << 16) + 1, 1 << 20}) {
                std::vector<char> from(n, 'a'), to(n, 'b');
                copier.copy(to.data(), from.data(), n, working_set);
                EXPECT_EQ(from, to) << n << ' ' << working_set;
            }
    }
}

/// The modes in which YHCCL's algorithms copy.
TEST(Copier, UsesNonTemporalStoresAsTheModeSays) {
    CacheCapacity const room{1 << 20, 1 << 16};
    std::vector<char> from(1 << 17, 'a');
    for (auto stores : {Copier::Stores::automatic, Copier::Stores::temporal, Copier::Stores::nontemporal})
        for (std::size_t n : {0, 1, 64, 4096, 1 << 17})
            for (std::size_t working_set : {0, 1 << 20, 1 << 21}) {
                Copier const copier(room, stores);
                auto const past_cache = [&](CopyMode mode) {
                    std::vector<char> to(from.size(), 'b');
                    bool const result = copier.copy(mode, to.data(), from.data(), n, working_set);
                    EXPECT_TRUE(std::equal(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(n), from.begin()));
                    EXPECT_EQ(std::count(to.begin(), to.end(), 'b'), static_cast<std::ptrdiff_t>(to.size() - n));
                    return result;
                };
                EXPECT_EQ(past_cache(CopyMode::adaptive), n >= 4096 && copier.streams(working_set));
                EXPECT_FALSE(past_cache(CopyMode::memmove));
                EXPECT_FALSE(past_cache(CopyMode::temporal));
                EXPECT_EQ(past_cache(CopyMode::nontemporal), n > 0);
            }
}

TEST(Copier, StreamsDataThatExceedsTheCacheByDefault) {
    CacheCapacity const room{1000, 100};
    EXPECT_FALSE(Copier(room).streams(1000));
    EXPECT_TRUE(Copier(room).streams(1001));
    EXPECT_FALSE(Copier().streams(33 << 20)) << "a cache of unknown size is assumed to have 1 + 32 MiB";
    EXPECT_TRUE(Copier().streams((33 << 20) + 1));
    EXPECT_TRUE(Copier().exceeds_private_cache((1 << 20) + 1));
    EXPECT_FALSE(Copier(room, parse_copy_stores("temporal")).streams(1 << 30));
    EXPECT_TRUE(Copier(room, parse_copy_stores("nontemporal")).streams(1));
    EXPECT_FALSE(Copier({}, parse_copy_stores("nontemporal")).streams(0)) << "data that is read from the cache next";
    EXPECT_TRUE(Copier(room, parse_copy_stores("auto")).streams(1001));
}

topo::NodeMap node(char const* description, int ranks) {
    topo::NodeMap map;
    map.machine = *topo::simulated_machine(description);
    map.placement = topo::place_in_order(map.machine, ranks);
    return map;
}

TEST(CacheCapacity, IsTheSumOfTheLastLevelAndTheRanksPrivateCaches) {
    topo::NodeMap map = node("socket:2 l3:1(size=1000000) l2:4(size=10000) core:1", 8);
    map.machine.caches.inclusive = false;
    EXPECT_EQ(cache_capacity(map).total, 2 * 1000000u + 8 * 10000u);
    EXPECT_EQ(cache_capacity(map).per_core, 10000u);
    map.machine.caches.inclusive = true;
    EXPECT_EQ(cache_capacity(map).total, 2 * 1000000u);
}

/// The machines of YHCCL (section 5.4): 294,912 and 116,736 KB; L3 as the sum of both sockets.
TEST(CacheCapacity, IsThatOfThePaperOnItsMachines) {
    constexpr std::size_t kb = 1024;
    topo::NodeMap a = node("socket:2 l3:1(size=134217728) l2:32(size=524288) core:1", 64);
    a.machine.caches.inclusive = false;
    EXPECT_EQ(cache_capacity(a).total, 294912 * kb);
    topo::NodeMap b = node("socket:2 l3:1(size=34603008) l2:24(size=1048576) core:1", 48);
    b.machine.caches.inclusive = false;
    EXPECT_EQ(cache_capacity(b).total, 116736 * kb);
}

TEST(CacheCapacity, CountsOnlyCachesOfTheRanks) {
    topo::NodeMap map = node("socket:2 l3:1(size=1000000) l2:4(size=10000) core:1", 3);
    EXPECT_EQ(cache_capacity(map).total, 1000000u + 3 * 10000u) << "bound to the first socket";
    map.placement.fixed = false;
    EXPECT_EQ(cache_capacity(map).total, 2 * 1000000u + 3 * 10000u) << "free to move";
    map.placement = topo::place_in_order(map.machine, 30);
    EXPECT_EQ(cache_capacity(map).total, 2 * 1000000u + 8 * 10000u) << "more ranks than cores";
}

TEST(CacheCapacity, HasDefaultsIfTheDescriptionHasNoCache) {
    constexpr std::size_t mib = 1 << 20;
    EXPECT_EQ(cache_capacity({}).total, CacheCapacity{}.total) << "no description from a launcher";
    EXPECT_EQ(cache_capacity({}).per_core, CacheCapacity{}.per_core);
    EXPECT_EQ(CacheCapacity{}.total, 33 * mib);
    EXPECT_EQ(CacheCapacity{}.per_core, mib);
    topo::NodeMap map = node("socket:2 core:4", 8);
    EXPECT_EQ(cache_capacity(map).total, 32 * mib + 8 * mib) << "one last-level cache unless the description has more";
    map.machine.caches.last_level_count = map.machine.count(topo::Level::l3);
    EXPECT_EQ(cache_capacity(map).total, 2 * 32 * mib + 8 * mib);
    map.machine.caches.private_size = mib / 2;
    EXPECT_EQ(cache_capacity(map).total, 2 * 32 * mib + 4 * mib);
    EXPECT_EQ(cache_capacity(map).per_core, mib / 2);
}

}   // namespace
}   // namespace tutti
