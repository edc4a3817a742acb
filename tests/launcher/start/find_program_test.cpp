// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/commands.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "launcher/base/job.hpp"

namespace tutti::launcher {
namespace {

namespace fs = std::filesystem;

class FindProgram : public testing::Test {
protected:
    FindProgram() : folder_(fs::path(testing::TempDir()) / "tutti_find_program") {
        fs::create_directories(folder_ / "bin");
        make("bin/tool", true);
        make("here", true);
        make("text", false);
    }
    ~FindProgram() override { fs::remove_all(folder_); }

    void make(char const* name, bool executable) {
        std::ofstream(folder_ / name) << "#!/bin/sh\n";
        fs::permissions(folder_ / name, executable ? fs::perms::owner_all : fs::perms::owner_read);
    }

    std::string find(std::string const& name) {
        return find_program(name, folder_, "/nowhere:" + (folder_ / "bin").string());
    }

    int code(std::string const& name) {
        try {
            find(name);
        } catch (LaunchError const& c) { return c.exit_code; }
        return 0;
    }

    fs::path folder_;
};

TEST_F(FindProgram, searches_path_then_the_folder) {
    EXPECT_EQ(find("tool"), (folder_ / "bin/tool").string());
    EXPECT_EQ(find("here"), "./here");
    EXPECT_EQ(find("./here"), "./here");
    EXPECT_EQ(find("bin/tool"), "bin/tool");
}

TEST_F(FindProgram, reports_programs_found_only_in_the_folder) {
    bool in_folder = false;
    find_program("tool", folder_, (folder_ / "bin").string(), &in_folder);
    find_program("./here", folder_, "", &in_folder);
    find_program("here", folder_, ".", &in_folder);
    EXPECT_FALSE(in_folder);
    find_program("here", folder_, (folder_ / "bin").string(), &in_folder);
    EXPECT_TRUE(in_folder);
}

TEST_F(FindProgram, reports_errors_by_exit_code) {
    EXPECT_EQ(code("nowhere"), 127);
    EXPECT_EQ(code("./nowhere"), 127);
    EXPECT_EQ(code(""), 127);
    EXPECT_EQ(code("./text"), 126);
    EXPECT_EQ(code("text"), 126);
    EXPECT_EQ(code("./bin"), 126);
}

}   // namespace
}   // namespace tutti::launcher
