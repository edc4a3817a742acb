// SPDX-License-Identifier: BSD-3-Clause
// The external32 representation byte by byte (MPI 3.1, 13.5.2), and round trips.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/datatype/datatype.hpp"
#include "tests/runtime/datatype/type_map.hpp"

namespace tutti {
namespace {

using Bytes = std::vector<unsigned char>;

template <class T>
Bytes packed(T const& value, Datatype const& type) {
    Bytes out(static_cast<std::size_t>(external_size(1, type)));
    EXPECT_EQ(pack_external(&value, 1, type, out.data()), static_cast<std::int64_t>(out.size()));
    return out;
}

TEST(External32, NumbersAreBigEndian) {
    EXPECT_EQ(packed(0x01020304, *TypeBuilder::predefined(Basic::int32)), (Bytes{1, 2, 3, 4}));
    EXPECT_EQ(packed(1.0, *TypeBuilder::predefined(Basic::float64)), (Bytes{0x3f, 0xf0, 0, 0, 0, 0, 0, 0}));
    float const complex[] = {1.0f, -2.0f};
    EXPECT_EQ(packed(complex, *TypeBuilder::predefined(Basic::complex32)), (Bytes{0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}));
}

TEST(External32, ALongHasFourBytesAndKeepsItsSign) {
    Elementary unit = elementary(Basic::int64);
    unit.external = 4;
    Ref<Datatype> type = TypeBuilder::predefined("MPI_LONG", Basic::int64, unit);
    EXPECT_EQ(packed(-2L, *type), (Bytes{0xff, 0xff, 0xff, 0xfe}));
    Bytes const in = {0xff, 0xff, 0xff, 0xfe};
    long value = 0;
    EXPECT_EQ(unpack_external(&value, 1, *type, in.data()), 4);
    EXPECT_EQ(value, -2);
}

TEST(External32, ALongDoubleIsQuadruplePrecision) {
    Bytes one(16, 0);
    one[0] = 0x3f;
    one[1] = 0xff;
    EXPECT_EQ(packed(1.0L, *TypeBuilder::predefined(Basic::float80)), one);
}

TEST(External32, RandomTypesRoundTrip) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        test::RandomTypes types(seed);
        test::BothForms type = types.type(2);
        std::size_t size = static_cast<std::size_t>(type.real->size());
        std::vector<char> external(2 * size);
        std::vector<std::int64_t> places = type.naive.bytes(2);
        std::int64_t low = 0, high = 0;
        for (std::int64_t p : places) low = std::min(low, p), high = std::max(high, p);
        std::vector<char> field(static_cast<std::size_t>(high - low + 1)), copy(field.size());
        for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<char>(i * 7);
        char *origin = field.data() - low, *target = copy.data() - low;
        ASSERT_EQ(external_size(2, *type.real), static_cast<std::int64_t>(external.size()));
        pack_external(origin, 2, *type.real, external.data());
        unpack_external(target, 2, *type.real, external.data());
        for (std::int64_t p : places) ASSERT_EQ(target[p], origin[p]) << "seed " << seed;
    }
}

}   // namespace
}   // namespace tutti
