// SPDX-License-Identifier: BSD-3-Clause
#include "topo/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace tutti::topo {
namespace {

// Returns true for a pipe of a shell's process substitution. Its writer is already running, so opening it does not
// block.
bool is_unnamed_pipe(const std::string& name) {
    struct statfs info {};
    return statfs(name.c_str(), &info) == 0 && info.f_type == PIPEFS_MAGIC;
}

// Returns an empty string if the file may be opened, else the reason.
std::string reason_unreadable(const std::string& name) {
    struct stat info {};
    if (stat(name.c_str(), &info) != 0) return std::strerror(errno);
    if (S_ISDIR(info.st_mode)) return "it is a folder";
    if (S_ISREG(info.st_mode) || (S_ISFIFO(info.st_mode) && is_unnamed_pipe(name))) return {};
    return "it is a device or a pipe, not a file";
}

std::string format_mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}   // namespace

Result<std::string> read_text_file(const std::string& name, std::size_t most) {
    using Text = Result<std::string>;
    if (std::string reason = reason_unreadable(name); !reason.empty()) return Text::failure(std::move(reason));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "re"), std::fclose);
    if (!file) return Text::failure(std::strerror(errno));
    std::string text;
    char piece[1 << 16];
    while (const std::size_t n = std::fread(piece, 1, sizeof piece, file.get())) {
        text.append(piece, n);
        if (text.size() > most) return Text::failure("it is larger than " + format_mebibytes(most));
    }
    if (std::ferror(file.get())) return Text::failure(std::strerror(errno));
    return text;
}

}   // namespace tutti::topo
