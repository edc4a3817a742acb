// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/diagnosis/source_lines.hpp"

#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

TEST(FunctionName, of_c_is_the_symbol_and_debug_information_knows_better) {
    EXPECT_EQ(function_name("pass"), "pass()");
    EXPECT_EQ(function_name("pass.constprop.0"), "pass()");
    EXPECT_EQ(function_name("pass_", "pass"), "pass()");
    EXPECT_EQ(function_name("", "pass"), "pass()");
    EXPECT_EQ(function_name(""), "");
}

TEST(FunctionName, of_cxx_is_without_arguments_and_result) {
    EXPECT_EQ(function_name("_ZN6solver4stepEi"), "solver::step()");
    EXPECT_EQ(function_name("_ZN12_GLOBAL__N_14passEv"), "pass()");
    EXPECT_EQ(function_name("_Z4passIiSt6vectorIiSaIiEEEvT_T0_"),
              "pass<int, std::vector<int, std::allocator<int> > >()");
    EXPECT_EQ(function_name("_ZNK6solverclEi"), "solver::operator()()");
    EXPECT_EQ(function_name("_ZlsRSo6solver"), "operator<<()");
    EXPECT_EQ(function_name("_ZN6solvercvbEv"), "solver::operator bool()");
    EXPECT_EQ(function_name("_Z4passB5cxx11v"), "pass()");
    EXPECT_EQ(function_name("_Z4passPFviE.cold"), "pass()");
    EXPECT_EQ(function_name("_ZZ4mainENKUlvE_clEv"), "a lambda in main()");
    EXPECT_EQ(function_name("_ZZN6solver4stepEiENKUliE_clEi"), "a lambda in solver::step()");
    EXPECT_EQ(function_name("_ZZ4mainENKUlT_E_clIiEEDaS_"), "a lambda in main()");
    EXPECT_EQ(function_name("_ZZ4mainENK3$_0clIiEEDaT_"), "a lambda in main()");
    EXPECT_EQ(function_name("_ZNSt17_Function_handlerIFiiEZ4mainEUliE_E9_M_invokeEv"),
              "std::_Function_handler<int (int), main::{lambda(int)#1}>::_M_invoke()");
    EXPECT_EQ(function_name("_Znot_a_name"), "_Znot_a_name()");
}

TEST(FunctionName, of_fortran_names_the_module) {
    EXPECT_EQ(function_name("__mesh_MOD_step", "step"), "step() of module mesh");
    EXPECT_EQ(function_name("MAIN__", "ring"), "main program");
}

}   // namespace
}   // namespace tutti::launcher
