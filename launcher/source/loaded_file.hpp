// SPDX-License-Identifier: BSD-3-Clause
// The files with machine code that a process has mapped.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// All mappings of a file in a row.
struct LoadedFile {
    std::uint64_t begin = 0, end = 0;   ///< addresses
    bool executable = false;            ///< any of them is
    std::string path{};                 ///< as /proc/PID/maps has it: " (deleted)" ends one that is gone

    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

inline constexpr char deleted_ending[] = " (deleted)";
/// What the kernel maps into each process, without a file.
inline constexpr char vdso_name[] = "[vdso]";

/// Those with executable mappings, from the text of /proc/PID/maps; the kernel's vdso counts as one.
std::vector<LoadedFile> loaded_files(std::istream& maps);
/// Of a process as it is now; empty without the rights to see that, or when it is gone.
std::vector<LoadedFile> loaded_files(pid_t process);

/// Opens the file as the process sees it, which may be in a container. One that is deleted can be opened while it runs,
/// if it is the program itself: a library of the same name may be another one by now. -1: it cannot be opened.
int open_loaded_file(pid_t process, std::string const& path);

}   // namespace tutti::launcher
