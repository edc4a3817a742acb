// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking of random types at every position, compared with a walk over their type maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/datatype/layout.hpp"
#include "tests/runtime/datatype/type_map.hpp"

namespace tutti {
namespace {

using test::BothForms;
using test::NaiveType;
using test::RandomTypes;

/// A user's buffer large enough for every byte in `places`, with its origin somewhere inside.
struct Field {
    explicit Field(std::vector<std::int64_t> const& places) {
        if (!places.empty()) low = *std::min_element(places.begin(), places.end());
        std::int64_t high = places.empty() ? 0 : *std::max_element(places.begin(), places.end());
        bytes.resize(static_cast<std::size_t>(high - low + 1));
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37 + 11);
    }
    void* origin() {
        auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
        return reinterpret_cast<void*>(first - static_cast<std::uintptr_t>(low));
    }
    char& operator[](std::int64_t place) { return bytes[static_cast<std::size_t>(place - low)]; }

    std::int64_t low = 0;
    std::vector<char> bytes;
};

/// Types whose type map is small enough to try every position.
BothForms modest(RandomTypes& types, int depth) {
    for (;;) {
        BothForms made = types.type(depth);
        if (made.naive.size() <= 600) return made;
    }
}

TEST(Pack, RandomTypesAtEveryPosition) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        RandomTypes types(seed);
        BothForms type = modest(types, 1 + static_cast<int>(seed % 4));
        std::int64_t count = types.number(0, 3);
        std::vector<std::int64_t> places = type.naive.bytes(count);
        Field field(places);
        ASSERT_EQ(type.real->size(), type.naive.size());
        for (std::size_t position = 0; position <= places.size(); ++position) {
            auto length = static_cast<std::size_t>(types.number(0, static_cast<std::int64_t>(places.size())));
            std::vector<char> out(length + 1, 'x');
            std::size_t expected = std::min(length, places.size() - position);
            std::size_t packed = type.real->pack(field.origin(), count, position, out.data(), length);
            ASSERT_EQ(packed, expected) << "seed " << seed;
            for (std::size_t i = 0; i < expected; ++i)
                ASSERT_EQ(out[i], field[places[position + i]]) << "seed " << seed << " byte " << position + i;
            ASSERT_EQ(out[expected], 'x') << "wrote past the end, seed " << seed;
        }
    }
}

TEST(Unpack, RandomTypesInTwoPiecesWriteNothingElse) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        RandomTypes types(seed + 1000);
        BothForms type = modest(types, 1 + static_cast<int>(seed % 4));
        std::int64_t count = types.number(1, 3);
        std::vector<std::int64_t> places = type.naive.bytes(count);
        std::vector<char> in(places.size());
        std::iota(in.begin(), in.end(), 'a');
        for (std::size_t cut = 0; cut <= places.size(); ++cut) {
            Field field(places), expected(places);
            for (std::size_t i = 0; i < places.size(); ++i) expected[places[i]] = in[i];
            ASSERT_EQ(type.real->unpack(field.origin(), count, 0, in.data(), cut), cut);
            ASSERT_EQ(type.real->unpack(field.origin(), count, cut, in.data() + cut, in.size()), in.size() - cut);
            ASSERT_EQ(field.bytes, expected.bytes) << "seed " << seed << " cut " << cut;
        }
    }
}

TEST(CopyTyped, MovesDataBetweenTwoTypesOfOneSize) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        RandomTypes types(seed + 5000);
        BothForms from = modest(types, 2), to = seed % 2 ? from : modest(types, 2);
        std::int64_t from_count = types.number(0, 40), to_count = seed % 2 ? from_count : types.number(0, 40);
        std::vector<std::int64_t> sources = from.naive.bytes(from_count), targets = to.naive.bytes(to_count);
        Field source(sources), target(targets);
        std::size_t n = std::min(sources.size(), targets.size());
        Field expected(targets);
        for (std::size_t i = 0; i < n; ++i) expected[targets[i]] = source[sources[i]];
        EXPECT_EQ(copy_typed(target.origin(), to_count, *to.real, source.origin(), from_count, *from.real), n);
        EXPECT_EQ(target.bytes, expected.bytes) << "seed " << seed;
    }
}

TEST(Layout, AVectorOfAMillionBlocksIsOneLoop) {
    Ref<Datatype> element = TypeBuilder::predefined(Basic::float64);
    Ref<Datatype> column = TypeBuilder::hvector(1'000'000, 1, 800, *element);
    EXPECT_EQ(column->layout()->form, TypeLayout::Form::repeat);
    Ref<Datatype> planes = TypeBuilder::hvector(1000, 1, 800'000'000, *column);
    EXPECT_EQ(planes->layout()->form, TypeLayout::Form::repeat);
    EXPECT_EQ(planes->layout()->count, 1'000'000'000) << "consecutive loops become one";
    EXPECT_EQ(planes->size(), 8'000'000'000);
}

TEST(Layout, RegularListsAndAdjoiningBlocksAreRecognised) {
    Ref<Datatype> element = TypeBuilder::predefined(Basic::int32);
    std::int64_t const ones[] = {1, 1, 1}, regular[] = {0, 12, 24}, adjoining[] = {8, 12, 16};
    EXPECT_EQ(TypeBuilder::hindexed(ones, regular, *element)->layout()->form, TypeLayout::Form::repeat);
    Ref<Datatype> run = TypeBuilder::hindexed(ones, adjoining, *element);
    EXPECT_EQ(run->layout()->form, TypeLayout::Form::run);
    EXPECT_TRUE(run->dense(1));
    EXPECT_TRUE(run->dense(7));
    EXPECT_EQ(run->true_lb(), 8);
}

TEST(Dense, OnlyWhereCopiesAdjoin) {
    Ref<Datatype> pair = TypeBuilder::predefined(Basic::double_int);
    EXPECT_TRUE(pair->dense(1));
    EXPECT_FALSE(pair->dense(2));
    Ref<Datatype> element = TypeBuilder::predefined(Basic::int32);
    EXPECT_TRUE(TypeBuilder::contiguous(0, *element)->dense(5));
    EXPECT_FALSE(TypeBuilder::resized(*element, 0, 8)->dense(2));
    std::int64_t const ones[] = {1, 1}, reversed[] = {4, 0};
    EXPECT_FALSE(TypeBuilder::hindexed(ones, reversed, *element)->dense(1)) << "displacements decrease";
}

TEST(Elements, CountsBasicElementsOfPartialData) {
    Ref<Datatype> d = TypeBuilder::predefined(Basic::float64), c = TypeBuilder::predefined(Basic::int8);
    std::int64_t const blocks[] = {2, 3}, places[] = {0, 16};
    Datatype const* types[] = {d.get(), c.get()};
    Ref<Datatype> s = TypeBuilder::contiguous(3, *TypeBuilder::structure(blocks, places, types));
    std::vector<std::int64_t> ends = {0};
    for (int i = 0; i < 3; ++i)
        for (std::int64_t size : {8, 8, 1, 1, 1}) ends.push_back(ends.back() + size);
    for (std::int64_t bytes = 0; bytes <= 2 * s->size(); ++bytes) {
        auto found = std::find(ends.begin(), ends.end(), bytes % s->size());
        std::int64_t expected = found == ends.end() - 1 || found == ends.end() ? -1 : found - ends.begin();
        if (expected >= 0) expected += bytes / s->size() * 15;
        EXPECT_EQ(s->elements(static_cast<std::size_t>(bytes)), expected) << bytes << " bytes";
    }
    EXPECT_EQ(TypeBuilder::predefined(Basic::short_int)->elements(6), 2);
    EXPECT_EQ(TypeBuilder::predefined(Basic::complex64)->elements(32), 2);
}

}   // namespace
}   // namespace tutti
