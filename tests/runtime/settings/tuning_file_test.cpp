// SPDX-License-Identifier: BSD-3-Clause
// Which tuning file is used, and why one is not.
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

TEST_F(TuningFiles, AreTheOneNamedOrTheFirstThatIsThere) {
    std::string const user = (folder / "user").string(), installed = write("installed", text_for("1", "Processor 7"));
    EXPECT_EQ(find_tuning("", {user, installed}, machine).name, installed);
    EXPECT_EQ(find_tuning("", {user, installed}, machine).text, text_for("1", "Processor 7"));
    write("user", text_for("1", "Processor 7"));
    EXPECT_EQ(find_tuning("", {user, installed}, machine).name, user);
    EXPECT_EQ(find_tuning(installed, {user, installed}, machine).name, installed);
    EXPECT_EQ(find_tuning("none", {user, installed}, machine).name, "");
    EXPECT_EQ(find_tuning("", {"/nowhere/tuning"}, machine).complaint, "");
}

TEST_F(TuningFiles, OfAnotherMachineAreUsedOnlyWhenNamed) {
    std::string const name = write("tuning", text_for("1", "Processor 8"));
    TuningFile const found = find_tuning("", {name}, machine);
    EXPECT_EQ(found.text, "");
    EXPECT_THAT(found.complaint, StartsWith(name + " was measured on another machine (Processor 8) and is not used"));
    EXPECT_NE(find_tuning(name, {}, machine).text, "");
    EXPECT_NE(find_tuning("", {write("written_by_hand", "# tutti tuning 1\nbcast slots\n")}, machine).text, "")
        << "a file that names no machine is for all";
}

TEST_F(TuningFiles, OfAnotherVersionAndWhatIsNoneAreTold) {
    auto complaint = [&](std::string const& name) {
        TuningFile const file = find_tuning(name, {}, machine);
        EXPECT_EQ(file.text, "") << name;
        return file.complaint;
    };
    EXPECT_THAT(complaint(write("new", text_for("2", "Processor 7"))), HasSubstr("new:1: version 2 of the format"));
    EXPECT_THAT(complaint(write("other", "bcast slots\n")), HasSubstr("other:1: this is no tuning file"));
    EXPECT_THAT(complaint(write("empty", "")), HasSubstr("empty:1: this is no tuning file"));
    EXPECT_THAT(complaint("/nowhere/tuning"), StartsWith("/nowhere/tuning cannot be read"));
    EXPECT_THAT(complaint("/dev/zero"), HasSubstr("a device or a pipe, not a file")) << "which would be read for ever";
    EXPECT_THAT(complaint(folder), HasSubstr("cannot be read as a tuning file: it is a folder"));
    std::string const large = write("large", text_for("1", "Processor 7"));
    std::filesystem::resize_file(large, most_tuning_bytes);
    EXPECT_NE(find_tuning(large, {}, machine).text, "");
    std::filesystem::resize_file(large, most_tuning_bytes + 1);
    EXPECT_THAT(complaint(large), HasSubstr("it is larger than 1 MiB"));
    EXPECT_THAT(complaint(folder), HasSubstr("cannot be read as a tuning file: it is a folder"));
}

TEST_F(TuningFiles, LieInTheUsersConfigurationFolderFirst) {
    setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    std::vector<std::string> const places = tuning_places("../etc");
    ASSERT_EQ(places.size(), 2u);
    EXPECT_EQ(places[0], "/somewhere/tutti/tuning");
    EXPECT_THAT(places[1], testing::EndsWith("/etc/tutti/tuning"));
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/home/me", 1);
    EXPECT_EQ(user_tuning_name(), "/home/me/.config/tutti/tuning");
}

TEST_F(TuningFiles, SayTheMachineInWords) {
    EXPECT_EQ(machine_words(machine), "Processor 7; 1 socket, 1 NUMA node, 4 cores");
    machine.cpu.clear();
    EXPECT_EQ(machine_words(machine), "this machine; 1 socket, 1 NUMA node, 4 cores");
}

}   // namespace
}   // namespace tutti
