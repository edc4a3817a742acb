// SPDX-License-Identifier: BSD-3-Clause
// A folder of test files that stands in for the kernel's.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace tutti::topo {

class Files : public testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "tutti-files-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root = name;
    }
    void TearDown() override { std::filesystem::remove_all(root); }

    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path whole = root + path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << text << '\n';
    }

    std::string root;
};

}   // namespace tutti::topo
