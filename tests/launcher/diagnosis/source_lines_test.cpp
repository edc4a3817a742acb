// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of source locations, and locations in this process; source_lines_test.sh tests other programs.
#include "launcher/diagnosis/source_lines.hpp"

#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <search.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::launcher {
namespace {

using testing::HasSubstr;

[[gnu::noinline]] std::uint64_t where_it_was_called() {
    return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

[[gnu::noinline]] std::uint64_t within_a_function() { return where_it_was_called() + (getpid() == 0); }

std::uint64_t called_back_from = 0;

int note_the_caller(void const*, void const*) {
    called_back_from = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
    return 0;
}

std::uint64_t within_libc() {
    std::size_t count = 1;
    lfind(&count, &count, &count, sizeof count, note_the_caller);
    return called_back_from;
}

TEST(SourceLines, names_a_function_of_this_program) {
    SourceLine const found = SourceLines(getpid()).at(within_a_function());
    EXPECT_EQ(found.function, "tutti::launcher::within_a_function()");
    EXPECT_EQ(found.module, "tests_launcher");
    if (found.has_line()) {   // sanitizers need -g
        EXPECT_THAT(found.file, HasSubstr("source_lines_test.cpp"));
    }
}

TEST(SourceLines, names_a_function_of_a_library_by_its_symbols) {
    SourceLine const found = SourceLines(getpid()).at(within_libc());
    EXPECT_EQ(found.function, "lfind()");
    EXPECT_EQ(found.module, "libc.so.6");
}

TEST(SourceLines, returns_nothing_for_addresses_outside_mapped_files) {
    SourceLines lines(getpid());
    int local = 0;
    for (std::uint64_t address :
         {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, reinterpret_cast<std::uint64_t>(&local)}) {
        EXPECT_EQ(lines.at(address).module, "");
        EXPECT_EQ(describe(lines.at(address)), "");
    }
}

TEST(SourceLines, returns_nothing_for_an_ended_process) {
    pid_t const child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(describe(SourceLines(child).at(within_a_function())), "");
    EXPECT_EQ(describe(SourceLines(-1).at(within_a_function())), "");
}

// Return addresses come from a rank's own memory and may be anything.
TEST(SourceLines, survives_any_address_in_a_file) {
    SourceLines lines(getpid());
    std::uint64_t const inside = within_a_function();
    for (std::uint64_t step = 1; step < 1 << 22; step += step / 3 + 1) {
        describe(lines.at(inside + step));
        describe(lines.at(inside - step));
    }
}

TEST(SourceLineWords, contain_the_known_facts) {
    EXPECT_EQ(describe({"pass()", "/home/me/ring.c", 30, "ring", 0x1234, true}), "ring.c:30 in pass()");
    EXPECT_EQ(describe({"", "ring.c", 30, "ring", 0x1234, true}), "ring.c:30");
    EXPECT_EQ(describe({"pass()", "", 0, "ring", 0x1234, false}), "in pass() of ring");
    EXPECT_EQ(describe({"", "", 0, "libfoo.so.1", 0x123, false}), "in libfoo.so.1 (+0x123)");
    EXPECT_EQ(describe({}), "");
}

}   // namespace
}   // namespace tutti::launcher
