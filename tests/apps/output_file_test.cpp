// SPDX-License-Identifier: BSD-3-Clause
// The files that a program may write: those that it creates, its earlier outputs, and nothing else of the user's.
#include "apps/output_file.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

namespace apps {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

/// A folder of the test, removed at its end.
class OutputFile : public testing::Test {
protected:
    OutputFile() {
        std::string name = (fs::temp_directory_path() / "output-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~OutputFile() override { fs::remove_all(folder_); }

    std::string path(std::string const& name) const { return folder_ + "/" + name; }

    std::string file_with(std::string const& name, std::string const& text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }

    static std::string contents(std::string const& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    static std::string error(std::string const& file, Writing writing) {
        return output_error(file, "tool --out", beginning_with({"{\"tool\""}), writing);
    }

    /// Returns the number of files in the folder.
    std::size_t files() const { return std::size_t(std::distance(fs::directory_iterator(folder_), {})); }

private:
    std::string folder_;
};

TEST_F(OutputFile, may_be_new_empty_or_an_earlier_output) {
    const std::string empty = file_with("empty", ""), earlier = file_with("earlier", "\n{ \"tool\": 1 }");
    for (Writing const writing : {Writing::replace, Writing::in_place}) {
        for (std::string const& file : {path("new"), empty, earlier}) EXPECT_THAT(error(file, writing), IsEmpty());
        EXPECT_EQ(files(), 2u) << "the check left a file";
    }
    EXPECT_EQ(contents(earlier), "\n{ \"tool\": 1 }");
}

TEST_F(OutputFile, of_another_program_is_refused) {
    const std::string other = file_with("script", "#!/bin/sh\n"), blank = file_with("blank", " \n");
    fs::create_symlink(other, path("link"));
    for (Writing const writing : {Writing::replace, Writing::in_place})
        for (std::string const& file : {other, blank, path("link")})
            EXPECT_EQ(error(file, writing),
                      file + " exists and was not written by tool --out; remove it or choose another name");
}

TEST_F(OutputFile, needs_a_folder_in_which_a_file_can_be_created) {
    for (Writing const writing : {Writing::replace, Writing::in_place}) {
        EXPECT_EQ(error(path("no/such/file"), writing),
                  path("no/such/file") + " cannot be written: the folder " + path("no/such") + " does not exist");
        EXPECT_EQ(error(path(""), writing), path("") + " is a folder; name a file in it");
        EXPECT_EQ(error("/dev/null/file", writing), "/dev/null/file cannot be written: Not a directory");
        EXPECT_THAT(error("/proc/self/file", writing), StartsWith("/proc/self/file cannot be written: "));
    }
}

TEST_F(OutputFile, may_be_a_device_or_a_pipe_only_in_place) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    for (std::string const& file : {std::string("/dev/null"), path("pipe")}) {
        EXPECT_EQ(error(file, Writing::replace), file + " cannot be written: it is a device or a pipe");
        EXPECT_THAT(error(file, Writing::in_place), IsEmpty());
    }
}

TEST_F(OutputFile, is_replaced_and_not_followed) {
    const std::string victim = file_with("victim", "mine");
    fs::create_symlink(victim, path("link"));
    EXPECT_THAT(replace_file(path("link"), "text"), IsEmpty());
    EXPECT_EQ(contents(victim), "mine");
    EXPECT_FALSE(fs::is_symlink(path("link")));
    EXPECT_EQ(contents(path("link")), "text");
    EXPECT_THAT(replace_file(path("no/file"), "text"), EndsWith("cannot be written: No such file or directory"));
    EXPECT_EQ(files(), 2u);
}

}   // namespace
}   // namespace apps
