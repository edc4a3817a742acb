// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/drop_in.hpp"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

TEST(DropIn, reads_what_this_very_program_is_linked_with) {
    Linkage linkage = read_linkage("/proc/self/exe");
    EXPECT_TRUE(linkage.elf);
    EXPECT_TRUE(linkage.dynamic);
    EXPECT_THAT(linkage.libraries, testing::Contains("libc.so.6"));
    EXPECT_EQ(mpi_library_of("/proc/self/exe"), "");
    EXPECT_FALSE(needs_preload("/proc/self/exe"));
}

TEST(DropIn, leaves_everything_else_alone) {
    std::string file = testing::TempDir() + "tutti_drop_in";
    for (std::string text : {std::string("#!/bin/sh\n"), std::string("\177ELF"),
                             std::string("\177ELF\2\1\1") + std::string(90, '\377'), std::string()}) {
        std::ofstream(file) << text;
        EXPECT_FALSE(read_linkage(file).dynamic);
        EXPECT_EQ(mpi_library_of(file), "");
    }
    std::remove(file.c_str());
    EXPECT_FALSE(read_linkage("/nowhere").elf);
}

}  // namespace
}  // namespace tutti::launcher
