// SPDX-License-Identifier: BSD-3-Clause
// Sizes and bounds of every constructor, as defined by the standard (MPI 3.1, 4.1.6 to 4.1.9) and returned by MPICH.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "runtime/datatype/builder.hpp"

namespace tutti {
namespace {

using Type = Ref<Datatype>;
using Numbers = std::vector<std::int64_t>;

/// size, lb, extent, true lb, true extent
using Shape = std::array<std::int64_t, 5>;
Shape shape(Type const& t) { return {t->size(), t->lb(), t->extent(), t->true_lb(), t->true_extent()}; }

Type const byte_type = TypeBuilder::predefined(Basic::int8), int_type = TypeBuilder::predefined(Basic::int32),
           double_type = TypeBuilder::predefined(Basic::float64);

Type structure(Numbers blocks, Numbers places, std::vector<Type> const& parts) {
    std::vector<Datatype const*> types;
    for (Type const& part : parts) types.push_back(part.get());
    return TypeBuilder::structure(blocks, places, types);
}

TEST(Bounds, PairTypesHaveTheLayoutOfC) {
    EXPECT_EQ(shape(TypeBuilder::predefined(Basic::float_int)), (Shape{8, 0, 8, 0, 8}));
    EXPECT_EQ(shape(TypeBuilder::predefined(Basic::double_int)), (Shape{12, 0, 16, 0, 12}));
    EXPECT_EQ(shape(TypeBuilder::predefined(Basic::long_int)), (Shape{12, 0, 16, 0, 12}));
    EXPECT_EQ(shape(TypeBuilder::predefined(Basic::short_int)), (Shape{6, 0, 8, 0, 8}));
    EXPECT_EQ(shape(TypeBuilder::predefined(Basic::two_int)), (Shape{8, 0, 8, 0, 8}));
    EXPECT_EQ(shape(TypeBuilder::predefined(Basic::long_double_int)), (Shape{20, 0, 32, 0, 20}));
}

TEST(Bounds, AStructIsPaddedToItsAlignment) {
    EXPECT_EQ(shape(structure({1, 1}, {0, 8}, {double_type, byte_type})), (Shape{9, 0, 16, 0, 9}));
    EXPECT_EQ(shape(structure({1, 3}, {0, 4}, {int_type, byte_type})), (Shape{7, 0, 8, 0, 7}));
    Type long_double = TypeBuilder::predefined(Basic::float80), complex = TypeBuilder::predefined(Basic::complex64);
    EXPECT_EQ(structure({1, 1}, {0, 16}, {long_double, byte_type})->extent(), 32);
    EXPECT_EQ(structure({1, 1}, {0, 16}, {complex, byte_type})->extent(), 24) << "aligned as the parts of a complex";
    Type inner = structure({1, 1}, {0, 8}, {double_type, byte_type});
    EXPECT_EQ(structure({1, 1}, {0, 16}, {inner, byte_type})->extent(), 24) << "alignment is inherited";
}

TEST(Bounds, MarkersOfMpi1) {
    Type lower = TypeBuilder::marker("MPI_LB", false), upper = TypeBuilder::marker("MPI_UB", true);
    Type one = structure({1, 1, 1}, {-3, 0, 6}, {lower, int_type, upper});
    EXPECT_EQ(shape(one), (Shape{4, -3, 9, 0, 4}));
    EXPECT_EQ(shape(TypeBuilder::contiguous(2, *one)), (Shape{8, -3, 18, 0, 13}));
    EXPECT_EQ(shape(structure({1, 1}, {0, 20}, {one, int_type})), (Shape{8, -3, 9, 0, 24})) << "explicit bounds win";
    EXPECT_EQ(structure({0, 1}, {-3, 0}, {lower, int_type})->lb(), 0) << "a marker with count 0 has no effect";
}

TEST(Bounds, VectorsInAllDirections) {
    EXPECT_EQ(shape(TypeBuilder::hvector(3, 2, 40, *double_type)), (Shape{48, 0, 96, 0, 96}));
    EXPECT_EQ(shape(TypeBuilder::hvector(3, 1, -8, *double_type)), (Shape{24, -16, 24, -16, 24}));
    EXPECT_EQ(shape(TypeBuilder::hvector(3, 2, 0, *double_type)), (Shape{48, 0, 16, 0, 16}));
    EXPECT_EQ(shape(TypeBuilder::hvector(0, 2, 8, *double_type)), (Shape{0, 0, 0, 0, 0}));
    EXPECT_EQ(shape(TypeBuilder::hvector(2, 0, 8, *double_type)), (Shape{0, 0, 0, 0, 0}));
    Type backwards = TypeBuilder::resized(*int_type, 0, -8);
    EXPECT_EQ(shape(TypeBuilder::contiguous(3, *backwards)), (Shape{12, -16, 8, -16, 20}));
}

TEST(Bounds, EmptyBlocksCountForNothing) {
    EXPECT_EQ(shape(TypeBuilder::hindexed(Numbers{0, 2, 0}, Numbers{-100, 8, 100}, *int_type)), (Shape{8, 8, 8, 8, 8}));
    EXPECT_EQ(shape(TypeBuilder::hindexed(Numbers{}, Numbers{}, *int_type)), (Shape{0, 0, 0, 0, 0}));
    Type nothing = TypeBuilder::contiguous(0, *int_type);
    EXPECT_EQ(shape(structure({5, 1}, {-40, 4}, {nothing, int_type})), (Shape{4, 4, 4, 4, 4}));
}

TEST(Bounds, ResizedKeepsTheTrueBounds) {
    Type wide = TypeBuilder::resized(*TypeBuilder::hvector(2, 1, 16, *int_type), -4, 64);
    EXPECT_EQ(shape(wide), (Shape{8, -4, 64, 0, 20}));
    EXPECT_EQ(shape(TypeBuilder::duplicate(*wide)), shape(wide));
    EXPECT_EQ(shape(TypeBuilder::resized(*TypeBuilder::contiguous(0, *int_type), 3, 5)), (Shape{0, 3, 5, 0, 0}));
}

TEST(Bounds, ASubarrayHasTheExtentOfTheArray) {
    Type part = TypeBuilder::subarray(Numbers{4, 6}, Numbers{2, 3}, Numbers{1, 2}, *int_type);
    EXPECT_EQ(shape(part), (Shape{24, 0, 96, 32, 36}));
}

TEST(Bounds, TooLargeASizeIsAnError) {
    Type large = TypeBuilder::contiguous(std::int64_t{1} << 58, *int_type);
    EXPECT_ANY_THROW(TypeBuilder::contiguous(4, *large));
    EXPECT_ANY_THROW(TypeBuilder::contiguous(std::int64_t{1} << 60, *int_type));
}

/// The parts of all processes must tile the array, in every distribution.
TEST(Darray, PartsTileTheArray) {
    using Kind = Distribution::Kind;
    for (Kind first : {Kind::block, Kind::cyclic, Kind::none})
        for (Kind second : {Kind::block, Kind::cyclic})
            for (std::int64_t argument : {0, 2, 3}) {
                std::int64_t const rows = 5, columns = 7, across = first == Kind::none ? 1 : 2, down = 3;
                std::vector<int> owners(rows * columns, 0);
                for (std::int64_t p = 0; p < across; ++p)
                    for (std::int64_t q = 0; q < down; ++q) {
                        Distribution const grid[] = {{rows, first, first == Kind::block ? 0 : argument, across, p},
                                                     {columns, second, second == Kind::block ? 0 : argument, down, q}};
                        Type part = TypeBuilder::darray(grid, *int_type);
                        ASSERT_EQ(part->extent(), rows * columns * 4);
                        std::vector<int> ones(static_cast<std::size_t>(part->size() / 4), 1), mine(rows * columns, 0);
                        part->unpack(mine.data(), 1, 0, ones.data(), ones.size() * sizeof(int));
                        for (std::size_t i = 0; i < owners.size(); ++i) owners[i] += mine[i];
                    }
                EXPECT_EQ(owners, std::vector<int>(rows * columns, 1)) << int(first) << int(second) << argument;
            }
}

TEST(Darray, CyclicBlocksFollowTheOrderOfTheArray) {
    Distribution const line[] = {{10, Distribution::Kind::cyclic, 2, 2, 1}};
    Type part = TypeBuilder::darray(line, *int_type);
    std::vector<int> array(10), mine(4);
    std::iota(array.begin(), array.end(), 0);
    ASSERT_EQ(part->pack(array.data(), 1, 0, mine.data(), 100), 16u);
    EXPECT_EQ(mine, (std::vector<int>{2, 3, 6, 7}));
}

}   // namespace
}   // namespace tutti
