// SPDX-License-Identifier: BSD-3-Clause
// Serialized layouts: random types, copied from any packed position into another layout.
#include "runtime/datatype/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/runtime/datatype/type_map.hpp"

namespace tutti {
namespace {

using test::BothForms;
using test::RandomTypes;

/// Memory for a random type; `range` has the owner's addresses, `here` is its mapping in another rank.
struct Side {
    Side(BothForms const& t, std::int64_t n) : type(t), count(n), places(t.naive.bytes(n)) {
        range = AddressRange::of(origin, count, t.real->extent(), t.real->true_lb(), t.real->true_extent());
        bytes.resize(range.bytes + 1);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37 + 11);
    }
    std::byte& at(std::size_t packed) {
        return bytes[static_cast<std::size_t>(origin + static_cast<std::uint64_t>(places[packed]) - range.first)];
    }

    static constexpr std::uint64_t origin = 1 << 30;   // an address of the owner
    BothForms const& type;
    std::int64_t count;
    std::vector<std::int64_t> places;
    AddressRange range{};
    std::vector<std::byte> bytes;
};

TEST(RemoteType, CopiesFromOneSerializedLayoutToAnother) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        RandomTypes types(seed + 9000);
        BothForms const one = types.type(2), other = seed % 2 ? one : types.type(2);
        Side from(one, types.number(0, 20)), to(other, seed % 4 == 1 ? from.count : types.number(0, 20));
        std::vector<std::int64_t> from_flat(20000), to_flat(20000);
        std::size_t const n = std::min(from.places.size(), to.places.size());
        if (n == 0) continue;
        ASSERT_GT(flatten(*one.real, from_flat), 0u);
        ASSERT_GT(flatten(*other.real, to_flat), 0u);
        RemoteType const from_type(from_flat.data()), to_type(to_flat.data());
        for (auto const& [side, type] : {std::pair{&from, &from_type}, std::pair{&to, &to_type}}) {
            AddressRange const range = type->range(Side::origin, side->count);
            auto const [low, high] = std::minmax_element(side->places.begin(), side->places.end());
            EXPECT_EQ(range.first, Side::origin + static_cast<std::uint64_t>(*low)) << "seed " << seed;
            EXPECT_EQ(range.bytes, static_cast<std::size_t>(*high - *low + 1)) << "seed " << seed;
        }
        auto const position = static_cast<std::size_t>(types.number(0, static_cast<std::int64_t>(n)));
        auto const length = static_cast<std::size_t>(types.number(0, static_cast<std::int64_t>(n - position)));
        Side expected = to;
        for (std::size_t i = position; i < position + length; ++i) expected.at(i) = from.at(i);
        EXPECT_EQ(copy_typed(to_type.at(to.bytes.data(), Side::origin, to.count),
                             from_type.at(from.bytes.data(), Side::origin, from.count), position, length),
                  length);
        EXPECT_EQ(to.bytes, expected.bytes) << "seed " << seed;
    }
}

/// Copies lists of segments as the system does.
void copy_segments(std::span<iovec> from, std::span<iovec> to) {
    ASSERT_LE(std::max(from.size(), to.size()), max_segments);
    std::string bytes;
    for (iovec const& one : from) bytes.append(static_cast<char const*>(one.iov_base), one.iov_len);
    std::size_t at = 0;
    for (iovec const& one : to) {
        ASSERT_GT(one.iov_len, 0u);
        ASSERT_LE(at + one.iov_len, bytes.size());
        std::memcpy(one.iov_base, bytes.data() + at, one.iov_len);
        at += one.iov_len;
    }
    ASSERT_EQ(at, bytes.size());
}

TEST(SegmentLists, CopyFromOneLayoutToAnother) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        RandomTypes types(seed + 5000);
        BothForms const one = types.type(2), other = seed % 2 ? one : types.type(2);
        Side from(one, types.number(0, 200)), to(other, seed % 4 == 1 ? from.count : types.number(0, 200));
        std::size_t const n = std::min(from.places.size(), to.places.size());
        if (n == 0) continue;
        auto const position = static_cast<std::size_t>(types.number(0, static_cast<std::int64_t>(n)));
        auto const length = static_cast<std::size_t>(types.number(0, static_cast<std::int64_t>(n - position)));
        auto const memory = [](Side& side) {
            auto const address = reinterpret_cast<std::uint64_t>(side.bytes.data()) + (Side::origin - side.range.first);
            return TypedMemory{address, side.count, side.type.real->extent(), side.type.real->layout()};
        };
        Side expected = to;
        for (std::size_t i = position; i < position + length; ++i) expected.at(i) = from.at(i);
        EXPECT_TRUE(move_segments(memory(from), memory(to), position, length, [](auto there, auto here) {
            copy_segments(there, here);
            return !testing::Test::HasFatalFailure();
        }));
        EXPECT_EQ(to.bytes, expected.bytes) << "seed " << seed;
    }
}

/// As few calls as the system permits, and no more after one that fails.
TEST(SegmentLists, HaveAsManySegmentsAsOneCallTakes) {
    constexpr std::int64_t blocks = 3 * max_segments + 7;
    auto const type = TypeBuilder::hvector(blocks, 8, 24, *TypeBuilder::predefined(Basic::uint8));
    std::vector<std::byte> spread(24 * blocks), dense(8 * blocks);
    auto const calls = [&](TypedMemory const& there, TypedMemory const& here, int allowed) {
        int made = 0;
        bool const done = move_segments(there, here, 0, 8 * blocks, [&](auto, auto) { return ++made <= allowed; });
        EXPECT_EQ(done, made <= allowed);
        return made;
    };
    TypedMemory const gaps = TypedMemory::of(spread.data(), 1, *type);
    EXPECT_EQ(calls(gaps, ContiguousMemory(dense.data(), dense.size()), 9), 4);
    EXPECT_EQ(calls(ContiguousMemory(dense.data(), dense.size()), gaps, 9), 4);
    EXPECT_EQ(calls(gaps, gaps, 9), 4);
    EXPECT_EQ(calls(ContiguousMemory(dense.data(), dense.size()), ContiguousMemory(dense.data(), dense.size()), 9), 1);
    EXPECT_EQ(calls(gaps, gaps, 1), 2);
}

TEST(RemoteType, IsSerializedCompletelyOrNotAtAll) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        RandomTypes types(seed);
        BothForms const type = types.type(3);
        std::vector<std::int64_t> out(100000);
        std::size_t const full = flatten(*type.real, out);
        EXPECT_EQ(flat_length(*type.real), full);
        for (std::size_t room = 0; room <= full && room < 40; ++room) {
            std::vector<std::int64_t> few(room + 1, -7);
            EXPECT_EQ(flatten(*type.real, {few.data(), room}), room < full ? 0 : full);
            EXPECT_EQ(few[room], -7);
        }
    }
}

TEST(RemoteType, OfNoDataIsNotSerialized) {
    std::int64_t out[16];
    EXPECT_EQ(flatten(*TypeBuilder::contiguous(0, *TypeBuilder::predefined(Basic::int32)), out), 0u);
}

TEST(SameLayout, DependsOnTheOffsetsOfBytes) {
    Ref<Datatype> element = TypeBuilder::predefined(Basic::int32), real = TypeBuilder::predefined(Basic::float32);
    auto layout = [](Ref<Datatype> const& t) -> TypeLayout const& { return *t->layout(); };
    Ref<Datatype> const a = TypeBuilder::hvector(5, 1, 12, *element), b = TypeBuilder::hvector(5, 1, 12, *real);
    EXPECT_TRUE(same_layout(layout(a), layout(b)));
    EXPECT_FALSE(same_layout(layout(a), layout(TypeBuilder::hvector(5, 1, 16, *element))));
    EXPECT_FALSE(same_layout(layout(a), layout(TypeBuilder::hvector(6, 1, 12, *element))));
    std::int64_t const ones[] = {1, 1, 1}, irregular[] = {0, 12, 20}, moved[] = {0, 12, 24 + 4};
    EXPECT_TRUE(same_layout(layout(TypeBuilder::hindexed(ones, irregular, *element)),
                            layout(TypeBuilder::hindexed(ones, irregular, *real))));
    EXPECT_FALSE(same_layout(layout(TypeBuilder::hindexed(ones, irregular, *element)),
                             layout(TypeBuilder::hindexed(ones, moved, *element))));
}

}   // namespace
}   // namespace tutti
