// SPDX-License-Identifier: BSD-3-Clause
// Which operators are defined on which types (MPI 3.1, 5.9.2), the error messages otherwise, and user operators.
#include <gtest/gtest.h>

#include "runtime/base/error.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/datatype/op.hpp"

namespace tutti {
namespace {

std::string error_text(BuiltinOp builtin, Datatype const& type) {
    Op op;
    op.builtin = builtin;
    try {
        op.check(type);
    } catch (Error const& error) {
        EXPECT_EQ(error.error_class, ErrorClass::op);
        return error.what();
    }
    return "";
}

TEST(OpCheck, NamesOperatorAndType) {
    Ref<Datatype> d = TypeBuilder::predefined("MPI_DOUBLE", Basic::float64, elementary(Basic::float64));
    EXPECT_EQ(error_text(BuiltinOp::band, *d),
              "MPI_BAND is not defined on MPI_DOUBLE: it is for integers and MPI_BYTE");
    EXPECT_EQ(error_text(BuiltinOp::sum, *d), "");
    Ref<Datatype> c = TypeBuilder::predefined("MPI_C_DOUBLE_COMPLEX", Basic::complex64, elementary(Basic::complex64));
    EXPECT_NE(error_text(BuiltinOp::max, *c), "");
    EXPECT_EQ(error_text(BuiltinOp::prod, *c), "");
    EXPECT_NE(error_text(BuiltinOp::minloc, *d), "");
    EXPECT_NE(error_text(BuiltinOp::sum, *TypeBuilder::predefined(Basic::double_int)), "");
    EXPECT_EQ(error_text(BuiltinOp::maxloc, *TypeBuilder::predefined(Basic::double_int)), "");
    EXPECT_NE(error_text(BuiltinOp::sum, *TypeBuilder::predefined(Basic::byte_)), "");
    EXPECT_NE(error_text(BuiltinOp::replace, *d), "");
}

TEST(OpCheck, DerivedTypesNeedAUserOperator) {
    Ref<Datatype> d = TypeBuilder::predefined(Basic::float64);
    Ref<Datatype> two = TypeBuilder::contiguous(2, *d);
    EXPECT_EQ(error_text(BuiltinOp::sum, *two).substr(0, 42), "MPI_SUM is not defined on a derived dataty");
    EXPECT_EQ(error_text(BuiltinOp::sum, *TypeBuilder::duplicate(*d)), "");
    Op op;
    op.user = [](void const*, void*, int, Datatype const&) {};
    EXPECT_NO_THROW(op.check(*two));
}

TEST(OpApply, BuiltInAndUserOperators) {
    Ref<Datatype> i = TypeBuilder::predefined(Basic::int32);
    std::int32_t const in[] = {1, 2, 3};
    std::int32_t inout[] = {10, 20, 30};
    Op sum;
    sum.builtin = BuiltinOp::sum;
    sum.apply(in, inout, 3, *i);
    EXPECT_EQ(inout[2], 33);
    Op minus;
    minus.user = [](void const* a, void* b, int count, Datatype const&) {
        auto left = static_cast<std::int32_t const*>(a);
        auto right = static_cast<std::int32_t*>(b);
        for (int n = 0; n < count; ++n) right[n] = left[n] - right[n];
    };
    minus.apply(in, inout, 3, *i);
    EXPECT_EQ(inout[0], 1 - 11);
    EXPECT_EQ(inout[2], 3 - 33);
}

}   // namespace
}   // namespace tutti
