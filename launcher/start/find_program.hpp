// SPDX-License-Identifier: BSD-3-Clause
// Finding the program of a rank, so that a wrong name is told once, in a sentence, before anything is started.
#pragma once

#include <string>

namespace tutti::launcher {

/// The path to execute: `name` itself when it contains a slash (as seen from `folder`), else the first executable in
/// `path` (as PATH), else one of that name in the folder, as under Open MPI; then `in_folder` becomes true, unless it
/// is null. Throws Complaint with exit code 127 or 126.
std::string find_program(std::string const& name, std::string const& folder, std::string const& path,
                         bool* in_folder = nullptr);

/// `file` as it is called from here when `folder` is where it is meant from; an empty folder is here.
std::string seen_from(std::string const& folder, std::string const& file);

}   // namespace tutti::launcher
