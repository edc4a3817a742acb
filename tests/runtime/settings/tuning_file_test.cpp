// SPDX-License-Identifier: BSD-3-Clause
// Which tuning file is used, and the diagnostics for files that are not.
#include "runtime/settings/tuning_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TuningFiles : public testing::Test {
protected:
    TuningFiles() : folder(std::filesystem::temp_directory_path() / ("tutti-tuning." + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder);
        int const numbers[] = {0, 1, 2, 3};
        machine = topo::Machine::plain(numbers);
        machine.cpu = "Processor 7";
    }
    ~TuningFiles() override { std::filesystem::remove_all(folder); }
    std::string write(char const* name, std::string const& text) {
        std::ofstream(folder / name) << text;
        return folder / name;
    }
    std::filesystem::path folder;
    topo::Machine machine;
};

std::string text_for(char const* version, char const* machine) {
    return std::string("# tutti tuning ") + version + "\n# machine: " + machine + "; 1 socket\nbcast slots\n";
}

TEST_F(TuningFiles, AreTheNamedOneOrTheFirstThatExists) {
    std::string const user = (folder / "user").string(), installed = write("installed", text_for("1", "Processor 7"));
    EXPECT_EQ(find_tuning_file("", {user, installed}, machine).name, installed);
    EXPECT_EQ(find_tuning_file("", {user, installed}, machine).text, text_for("1", "Processor 7"));
    write("user", text_for("1", "Processor 7"));
    EXPECT_EQ(find_tuning_file("", {user, installed}, machine).name, user);
    EXPECT_EQ(find_tuning_file(installed, {user, installed}, machine).name, installed);
    EXPECT_EQ(find_tuning_file("none", {user, installed}, machine).name, "");
    EXPECT_EQ(find_tuning_file("", {"/nowhere/tuning"}, machine).diagnostic, "");
}

TEST_F(TuningFiles, OfAnotherMachineAreUsedOnlyIfNamed) {
    std::string const name = write("tuning", text_for("1", "Processor 8"));
    TuningFile const found = find_tuning_file("", {name}, machine);
    EXPECT_EQ(found.text, "");
    EXPECT_THAT(found.diagnostic, StartsWith(name + " was measured on another machine (Processor 8) and is not used"));
    EXPECT_NE(find_tuning_file(name, {}, machine).text, "");
    EXPECT_NE(find_tuning_file("", {write("written_by_hand", "# tutti tuning 1\nbcast slots\n")}, machine).text, "")
        << "a file without a machine applies to all";
}

TEST_F(TuningFiles, OfAnotherVersionAndInvalidFilesAreReported) {
    auto diagnostic_of = [&](std::string const& name) {
        TuningFile const file = find_tuning_file(name, {}, machine);
        EXPECT_EQ(file.text, "") << name;
        return file.diagnostic;
    };
    EXPECT_THAT(diagnostic_of(write("new", text_for("2", "Processor 7"))), HasSubstr("new:1: version 2 of the format"));
    EXPECT_THAT(diagnostic_of(write("other", "bcast slots\n")), HasSubstr("other:1: this is not a tuning file"));
    EXPECT_THAT(diagnostic_of(write("empty", "")), HasSubstr("empty:1: this is not a tuning file"));
    EXPECT_THAT(diagnostic_of("/nowhere/tuning"), StartsWith("/nowhere/tuning cannot be read"));
    EXPECT_THAT(diagnostic_of("/dev/zero"), HasSubstr("a device or a pipe, not a file")) << "its contents have no end";
    EXPECT_THAT(diagnostic_of(folder), HasSubstr("cannot be read as a tuning file: it is a folder"));
    std::string const large = write("large", text_for("1", "Processor 7"));
    std::filesystem::resize_file(large, max_tuning_bytes);
    EXPECT_NE(find_tuning_file(large, {}, machine).text, "");
    std::filesystem::resize_file(large, max_tuning_bytes + 1);
    EXPECT_THAT(diagnostic_of(large), HasSubstr("it is larger than 1 MiB"));
    EXPECT_THAT(diagnostic_of(folder), HasSubstr("cannot be read as a tuning file: it is a folder"));
}

TEST_F(TuningFiles, AreSearchedInTheUsersConfigurationFolderFirst) {
    setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    std::vector<std::string> const places = tuning_locations("../etc");
    ASSERT_EQ(places.size(), 2u);
    EXPECT_EQ(places[0], "/somewhere/tutti/tuning");
    EXPECT_THAT(places[1], testing::EndsWith("/etc/tutti/tuning"));
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/home/me", 1);
    EXPECT_EQ(user_tuning_path(), "/home/me/.config/tutti/tuning");
}

TEST_F(TuningFiles, DescribeTheMachine) {
    EXPECT_EQ(machine_summary(machine), "Processor 7; 1 socket, 1 NUMA node, 4 cores");
    machine.cpu.clear();
    EXPECT_EQ(machine_summary(machine), "this machine; 1 socket, 1 NUMA node, 4 cores");
}

}   // namespace
}   // namespace tutti
