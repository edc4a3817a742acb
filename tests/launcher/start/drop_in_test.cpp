// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/mpi_library.hpp"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

TEST(DropIn, reads_the_libraries_of_this_program) {
    Linkage linkage = read_linkage("/proc/self/exe");
    EXPECT_TRUE(linkage.elf);
    EXPECT_TRUE(linkage.dynamic);
    EXPECT_THAT(linkage.libraries, testing::Contains("libc.so.6"));
    EXPECT_FALSE(needs_preload("/proc/self/exe"));
}

TEST(DropIn, preloads_our_malloc_for_programs_that_load_mpi_indirectly) {
    EXPECT_TRUE(needs_arena("/usr/bin/env")) << "not linked with MPI, but may load it, or start a program that does";
    EXPECT_FALSE(read_linkage("/proc/self/exe").loader.empty());
    std::string file = testing::TempDir() + "tutti_needs_arena";
    auto needs = [&](std::string const& text) {
        std::ofstream(file) << text;
        return needs_arena(file);
    };
    EXPECT_TRUE(needs("#!/bin/sh\n"));
    EXPECT_TRUE(needs("#! /usr/bin/env python3\nprint()\n"));
    EXPECT_TRUE(needs("echo a shell runs this\n"));
    EXPECT_FALSE(needs("#!/nowhere/interpreter\n"));
    EXPECT_FALSE(needs("\177ELF\1\1\1")) << "32 bits";
    EXPECT_FALSE(needs("\177ELF\2\1\1" + std::string(90, '\377')));
    std::remove(file.c_str());
}

TEST(DropIn, leaves_everything_else_alone) {
    std::string file = testing::TempDir() + "tutti_drop_in";
    for (std::string text : {std::string("#!/bin/sh\n"), std::string("\177ELF"),
                             std::string("\177ELF\2\1\1") + std::string(90, '\377'), std::string()}) {
        std::ofstream(file) << text;
        EXPECT_FALSE(read_linkage(file).dynamic);
    }
    std::remove(file.c_str());
    EXPECT_FALSE(read_linkage("/nowhere").elf);
}

}   // namespace
}   // namespace tutti::launcher
