// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/mpi_library.hpp"

#include <filesystem>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

TEST(MpiLibrary, is_known_by_its_name_and_its_abi) {
    for (char const* name : {"libmpi.so", "libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi.so.40.30.4"})
        EXPECT_TRUE(is_mpi_library(name)) << name;
    for (char const* name : {"libmpi_cxx.so.40", "libc.so.6", "libmpi.soup", "mpi", ""})
        EXPECT_FALSE(is_mpi_library(name)) << name;
    EXPECT_TRUE(has_our_abi("libmpich.so.12") && has_our_abi("libmpi.so.12.1.8"));
    EXPECT_FALSE(has_our_abi("libmpi.so.40") || has_our_abi("libmpi.so.120") || has_our_abi("libmpi.so"));
}

TEST(MpiLibrary, is_asked_of_the_loader_which_runs_nothing) {
    std::string const self = std::filesystem::read_symlink("/proc/self/exe");   // the loader has another "self"
    std::vector<ResolvedLibrary> const all = resolved_libraries(self, {});
    EXPECT_THAT(all, testing::Contains(testing::Field(&ResolvedLibrary::name, "libc.so.6")));
    for (ResolvedLibrary const& one : all) EXPECT_TRUE(one.file.starts_with('/')) << one.name;
    EXPECT_EQ(linked_mpi(self, {}).kind, LinkedMpi::Kind::none);
    EXPECT_EQ(loader_error(self, {}), "");
    EXPECT_TRUE(resolved_libraries("/nowhere", {}).empty());
    EXPECT_EQ(mapped_foreign_library(getpid()).file, "") << "this program has none";
    EXPECT_FALSE(is_our_library("/nowhere"));
}

}   // namespace
}   // namespace tutti::launcher
