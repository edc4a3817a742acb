// SPDX-License-Identifier: BSD-3-Clause
// The functions of MPI by number.
#include "runtime/base/function.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

Function calling_function(Function function = __builtin_FUNCTION()) { return function; }

Function PMPI_Ssend() { return calling_function(); }

TEST(Function, HasItsNameWithOrWithoutTheFirstP) {
    EXPECT_STREQ(Function("MPI_Send").name(), "MPI_Send");
    EXPECT_EQ(Function("PMPI_Send"), Function("MPI_Send"));
    EXPECT_FALSE(Function("MPI_T_finalize") == Function("MPI_Finalize"));
}

TEST(Function, AsADefaultArgumentIsTheCaller) { EXPECT_STREQ(PMPI_Ssend().name(), "MPI_Ssend"); }

TEST(Function, IsNoneInZeroedMemory) {
    EXPECT_FALSE(Function());
    EXPECT_EQ(Function().number(), 0);
    EXPECT_STREQ(Function().name(), "");
}

TEST(Function, HasNoNameWithANumberOutsideOfTheList) {
    for (int const number : {Function::count + 1, 0xffff})
        EXPECT_STREQ(Function::with_number(static_cast<std::uint16_t>(number)).name(), "");
}

TEST(Function, HasAllNumbersInTheOrderOfTheNames) {
    std::string before;
    for (std::uint16_t number = 1; number <= Function::count; ++number) {
        std::string const name = Function::with_number(number).name();
        EXPECT_LT(before, name);
        EXPECT_EQ(name.find("MPI_"), 0u) << name;
        before = name;
    }
    EXPECT_EQ(Function("MPI_Abort").number(), 1);
}

}   // namespace
}   // namespace tutti
