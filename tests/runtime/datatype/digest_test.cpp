// SPDX-License-Identifier: BSD-3-Clause
// The type digests that messages carry: which ones match, and which ones do not.
#include "runtime/datatype/digest.hpp"

#include <gtest/gtest.h>

#include "runtime/datatype/builder.hpp"

namespace tutti::test {
namespace {

using Type = Ref<Datatype>;

Type basic(Basic kind) { return TypeBuilder::predefined(kind); }
/// A struct of these types, without gaps.
Type sequence(std::vector<Basic> const& kinds) {
    std::vector<std::int64_t> lengths, places;
    std::vector<Datatype const*> types;
    std::vector<Type> owned;
    std::int64_t at = 0;
    for (Basic kind : kinds) {
        owned.push_back(basic(kind));
        types.push_back(owned.back().get());
        lengths.push_back(1);
        places.push_back(at);
        at += owned.back()->size();
    }
    return TypeBuilder::structure(lengths, places, types);
}
TypeDigest sent(Datatype const& type, std::int64_t count) {
    return type.digest().mixed() ? TypeDigest::of(*type.signature(), count) : type.digest();
}
/// Does a message of `count` elements match a receive of up to `room` elements of the other type?
bool fits(Type const& from, std::int64_t count, Type const& to, std::int64_t room) {
    return sent(*from, count).fits(static_cast<std::size_t>(count * from->size()), *to, room);
}

TEST(TypeDigest, DiffersForDifferentNumericTypes) {
    EXPECT_FALSE(fits(basic(Basic::int32), 1, basic(Basic::float32), 1));
    EXPECT_FALSE(fits(basic(Basic::int32), 1, basic(Basic::float64), 1));
    EXPECT_FALSE(fits(basic(Basic::float64), 1, basic(Basic::int32), 2));
    EXPECT_FALSE(fits(basic(Basic::int64), 1, basic(Basic::float64), 1));
    EXPECT_FALSE(fits(basic(Basic::int16), 2, basic(Basic::int32), 1));
    EXPECT_FALSE(fits(basic(Basic::int32), 1, basic(Basic::uint32), 1));
    EXPECT_FALSE(fits(basic(Basic::uint64), 2, basic(Basic::int64), 2));
    EXPECT_FALSE(fits(basic(Basic::uint16), 2, sequence({Basic::uint16, Basic::int16}), 1));
    EXPECT_TRUE(fits(basic(Basic::uint16), 2, sequence({Basic::uint16, Basic::uint16}), 1));
}

TEST(TypeDigest, IsEqualForTypesWithEqualLayout) {
    EXPECT_TRUE(fits(basic(Basic::complex64), 2, basic(Basic::float64), 4));
    EXPECT_TRUE(fits(basic(Basic::two_int), 3, basic(Basic::int32), 6));
    EXPECT_TRUE(fits(basic(Basic::fortran_logical), 1, basic(Basic::int32), 1));
}

TEST(TypeDigest, OfBytesMatchesAnyType) {
    EXPECT_EQ(basic(Basic::byte_)->digest(), TypeDigest());
    EXPECT_TRUE(fits(basic(Basic::byte_), 8, basic(Basic::float64), 1));
    EXPECT_TRUE(fits(basic(Basic::float64), 1, basic(Basic::byte_), 8));
    EXPECT_TRUE(fits(sequence({Basic::byte_, Basic::int32}), 1, basic(Basic::float32), 2));
}

TEST(TypeDigest, DependsOnTheOrderOfTypes) {
    Type const a = sequence({Basic::float64, Basic::int32}), b = sequence({Basic::int32, Basic::float64});
    for (std::int64_t count : {1, 2, 7}) {
        EXPECT_TRUE(fits(a, count, a, count));
        EXPECT_TRUE(fits(a, count, a, count + 3));
        EXPECT_FALSE(fits(a, count, b, count));
    }
    Type const whole = TypeBuilder::contiguous(3, *a);
    EXPECT_TRUE(fits(a, 3, whole, 1));
    EXPECT_TRUE(fits(a, 2, whole, 1));
    EXPECT_TRUE(fits(whole, 2, a, 6));
}

TEST(TypeDigest, OfAShorterMessageMatchesThePrefix) {
    Type const a = sequence({Basic::float64, Basic::int32});
    EXPECT_TRUE(fits(basic(Basic::float64), 1, a, 1));
    EXPECT_FALSE(fits(basic(Basic::int32), 1, a, 1) && fits(basic(Basic::int64), 1, a, 1));
    EXPECT_FALSE(fits(basic(Basic::float64), 2, sequence({Basic::float64, Basic::int32, Basic::int32}), 1));
    EXPECT_TRUE(fits(a, 1, sequence({Basic::float64, Basic::int32, Basic::int16}), 1));
    EXPECT_TRUE(fits(basic(Basic::float32), 0, basic(Basic::int32), 5));   // an empty message matches every type
}

TEST(TypeDigest, HasANumberAndAName) {
    TypeDigest const d = basic(Basic::int32)->digest();
    EXPECT_STREQ(d.c_name(), "MPI_INT");
    EXPECT_EQ(d.unit(), 4u);
    EXPECT_EQ(d.with_number(5).number(), 5u);
    EXPECT_TRUE(d.matches(d.with_number(7)));
    EXPECT_STREQ(basic(Basic::float64)->digest().c_name(), "MPI_DOUBLE");
    EXPECT_EQ(sequence({Basic::float64, Basic::int32})->digest().unit(), 0u);
}

}   // namespace
}   // namespace tutti::test
