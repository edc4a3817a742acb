// SPDX-License-Identifier: BSD-3-Clause
// Parses /proc/PID/maps. Cgroups are tested by their users: usable_test.cpp and the launcher's memory_watch_test.cpp.
#include "topo/files.hpp"

#include <filesystem>

#include <gmock/gmock.h>

namespace tutti::topo {
namespace {

constexpr std::string_view maps =
    "1000-2000 r-xp 0 00:00 0                    /my programs/a (deleted)\n"
    "2000-3000 rw-s 0 00:00 0 [heap]\n"
    "no mapping\n"
    "4000 5000 r-xp 0 0 0 /b\n"
    "5000-6000 rw-p 0 0 0";

TEST(Mapping, HasItsRightsAndItsName) {
    std::vector<Mapping> all;
    for_each_mapping(maps, [&](const Mapping& one) { all.push_back(one); });
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].begin, 0x1000u);
    EXPECT_EQ(all[0].end, 0x2000u);
    EXPECT_EQ(all[0].name, "/my programs/a (deleted)");
    EXPECT_TRUE(all[0].executable() && all[0].is_private() && all[0].is_file());
    EXPECT_EQ(all[1].name, "[heap]");
    EXPECT_EQ(all[1].line, "2000-3000 rw-s 0 00:00 0 [heap]");
    EXPECT_FALSE(all[1].executable() || all[1].is_private() || all[1].is_file());
    EXPECT_EQ(all[2].name, "");
}

TEST(Mapping, IsFoundByAnAddressInIt) {
    EXPECT_EQ(find_mapping(maps, 0x1fff)->begin, 0x1000u);
    EXPECT_EQ(find_mapping(maps, 0x2000)->begin, 0x2000u);
    EXPECT_EQ(find_mapping(maps, 0x5fff)->begin, 0x5000u);
    EXPECT_FALSE(find_mapping(maps, 0x4000));
    EXPECT_FALSE(find_mapping("", 0));
}

TEST(Mapping, OfThisProcessIncludesItsProgram) {
    const std::string own = read_system_file("/proc/self/maps");
    const auto here = find_mapping(own, reinterpret_cast<std::uintptr_t>(&parse_mapping));
    ASSERT_TRUE(here);
    EXPECT_TRUE(here->executable());
    EXPECT_EQ(std::filesystem::path(here->name).parent_path(), program_folder());
}

TEST(SystemFile, IsEmptyIfItCannotBeRead) { EXPECT_EQ(read_system_file("/proc/self/absent"), ""); }

TEST(SystemFile, IsReadUpToALimit) {
    EXPECT_LE(read_system_file("/proc/self/maps", 1).size(), 4096u);
    EXPECT_GT(read_system_file("/proc/self/maps").size(), 0u);
}

}   // namespace
}   // namespace tutti::topo
