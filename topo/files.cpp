// SPDX-License-Identifier: BSD-3-Clause
// Files in /proc have no size and may change while they are read, so the whole text is read before it is parsed.
#include "topo/files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tutti::topo {

std::string read_system_file(const std::string& name, std::size_t most) {
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::string text;
    char part[4096];
    for (ssize_t bytes; text.size() < most && (bytes = read(file, part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(bytes));
    close(file);
    return text;
}

std::optional<Mapping> parse_mapping(std::string_view line) {
    Mapping mapping{.line = line};
    const char *at = line.data(), *const end = at + line.size();
    const auto [dash, bad_begin] = std::from_chars(at, end, mapping.begin, 16);
    if (bad_begin != std::errc{} || dash == end || *dash != '-') return {};
    const auto [blank, bad_end] = std::from_chars(dash + 1, end, mapping.end, 16);
    if (bad_end != std::errc{} || blank == end || *blank != ' ') return {};
    std::string_view rest = line.substr(static_cast<std::size_t>(blank - at));
    std::string_view fields[4];   // rights, offset, device, inode
    for (std::string_view& field : fields) {
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        field = rest.substr(0, rest.find(' '));
        rest.remove_prefix(field.size());
    }
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    mapping.rights = fields[0];
    mapping.name = rest;
    if (mapping.rights.size() != 4) return {};
    return mapping;
}

std::optional<Mapping> find_mapping(std::string_view maps, std::uint64_t address) {
    std::optional<Mapping> found;
    for_each_mapping(maps, [&](const Mapping& one) {
        if (one.contains(address)) found = one;
    });
    return found;
}

std::string program_folder() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

namespace {

// Adds the folders of a cgroup and of its ancestors, innermost first; the last one is the mount point.
void add_folders(std::vector<CgroupFolder>& folders, int version, const std::string& mount, std::string path) {
    while (!path.empty() && access((mount + path).c_str(), F_OK) != 0) path.erase(0, path.find('/', 1));
    for (;;) {
        while (!path.empty() && path.back() == '/') path.pop_back();
        folders.push_back({mount + path, version});
        if (path.empty()) return;
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

}   // namespace

std::vector<CgroupFolder> cgroup_folders(std::string_view controller, const std::string& root) {
    const std::string groups = read_system_file(root + "/proc/self/cgroup"), mount = root + "/sys/fs/cgroup";
    const std::string wanted = "," + std::string(controller) + ",";
    std::vector<CgroupFolder> folders;
    for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end + 1) {
        end = std::min(groups.find('\n', begin), groups.size());
        const std::string line = groups.substr(begin, end - begin);   // number:controllers:path
        const std::size_t first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
        if (second == line.npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        if (controllers.empty()) {
            add_folders(folders, 2, mount, path);
            add_folders(folders, 2, mount + "/unified", path);
        } else if (("," + controllers + ",").find(wanted) != std::string::npos) {
            add_folders(folders, 1, mount + "/" + controllers, path);
            if (controllers != controller) add_folders(folders, 1, mount + "/" + std::string(controller), path);
        }
    }
    return folders;
}

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
