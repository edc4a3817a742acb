// SPDX-License-Identifier: BSD-3-Clause
// Reading files: those of the system (the mappings of a process, the file of the running program, the cgroup of this
// process), and text files that the user names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/result.hpp"

namespace tutti::topo {

/// Returns the text of a file in /proc or /sys; empty if it cannot be read. Stops soon after `most` bytes.
std::string read_system_file(const std::string& name, std::size_t most = ~std::size_t{0});

/// A line of /proc/PID/maps, "begin-end rights offset device inode name".
struct Mapping {
    std::uint64_t begin = 0, end = 0;   ///< addresses
    std::string_view rights{};          ///< "r-xp"; "rw-s" for shared memory
    std::string_view name{};   ///< a path, to which the kernel appends " (deleted)" if the file is, or "[heap]"; may be
                               ///< empty
    std::string_view line{};

    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
    bool executable() const { return rights[2] == 'x'; }
    bool is_private() const { return rights[3] == 'p'; }
    bool is_file() const { return name.starts_with('/'); }
};

/// Parses one line; returns nothing for other text.
std::optional<Mapping> parse_mapping(std::string_view line);

/// Calls `visit` with each mapping in the text of /proc/PID/maps, in ascending order.
template <class Visit>
void for_each_mapping(std::string_view maps, Visit&& visit) {
    while (!maps.empty()) {
        const std::string_view line = maps.substr(0, maps.find('\n'));
        maps.remove_prefix(line.size() < maps.size() ? line.size() + 1 : line.size());
        if (const auto mapping = parse_mapping(line)) visit(*mapping);
    }
}

/// Returns the mapping that contains the address; nothing if there is none.
std::optional<Mapping> find_mapping(std::string_view maps, std::uint64_t address);

/// Returns the folder of the running program's file; empty if it cannot be found.
std::string program_folder();

/// The folder of a cgroup that contains this process.
struct CgroupFolder {
    std::string path;
    int version;   ///< 1 or 2: determines the names of its files
};

/// Returns the folders in which the cgroup of this process and its ancestors may limit or count what `controller`
/// controls ("cpu", "memory"); each cgroup precedes its ancestors. In a container, the path in /proc/self/cgroup may be
/// the host's, whose first folders are not mounted; they are removed until the remaining path exists. `root` is
/// prepended to /proc and /sys, for tests.
std::vector<CgroupFolder> cgroup_folders(std::string_view controller, const std::string& root = "");

// Files that the user names: tuning files, host and rank lists, options, machine descriptions.

/// Returns the whole text of a file of at most `most` bytes. On failure the error is only the reason, which fits after
/// "cannot be read: " and has no full stop. Devices and named pipes, whose input may never end, are rejected without
/// being opened; a pipe of the shell, as in `-hostfile <(command)`, is read like a file.
Result<std::string> read_text_file(const std::string& name, std::size_t most);

/// Size limit for lists that a user or a resource manager writes.
inline constexpr std::size_t max_list_bytes = 16 << 20;

}   // namespace tutti::topo
