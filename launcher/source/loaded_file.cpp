// SPDX-License-Identifier: BSD-3-Clause
// By /proc/PID/maps.
#include "launcher/source/loaded_file.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fcntl.h>

#include "launcher/base/proc.hpp"

namespace tutti::launcher {
namespace {

/// From a line "begin-end rights offset device inode path"; nothing for memory without a file.
std::optional<LoadedFile> mapping_of(std::string const& line) {
    std::istringstream words(line);
    LoadedFile mapping;
    char dash = 0;
    std::string rights, skipped;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> rights >> skipped >> skipped >> skipped >> std::ws;
    if (!std::getline(words, mapping.path) || (mapping.path[0] != '/' && mapping.path != vdso_name)) return {};
    mapping.executable = rights.find('x') != std::string::npos;
    return mapping;
}

}   // namespace

std::vector<LoadedFile> loaded_files(std::istream& maps) {
    std::vector<LoadedFile> files;
    for (std::string line; std::getline(maps, line);) {
        std::optional<LoadedFile> mapping = mapping_of(line);
        if (!mapping) continue;
        if (files.empty() || files.back().path != mapping->path) {
            files.push_back(std::move(*mapping));
        } else {
            files.back().end = mapping->end;
            files.back().executable |= mapping->executable;
        }
    }
    std::erase_if(files, [](LoadedFile const& file) { return !file.executable; });
    return files;
}

std::vector<LoadedFile> loaded_files(pid_t process) {
    std::ifstream maps(process_folder(process) + "/maps");
    return loaded_files(maps);
}

int open_loaded_file(pid_t process, std::string const& path) {
    std::string const folder = process_folder(process);
    auto const try_open = [](std::string const& name) { return open(name.c_str(), O_RDONLY | O_CLOEXEC); };
    if (path.ends_with(deleted_ending)) {
        std::error_code error;
        bool const program = std::filesystem::read_symlink(folder + "/exe", error) == path && !error;
        return program ? try_open(folder + "/exe") : -1;
    }
    int const file = try_open(folder + "/root" + path);
    return file >= 0 ? file : try_open(path);
}

}   // namespace tutti::launcher
