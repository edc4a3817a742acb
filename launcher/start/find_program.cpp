// SPDX-License-Identifier: BSD-3-Clause
// Looking a program up, with a sentence for each way in which that fails.
#include "launcher/start/find_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr int not_found = 127, not_executable = 126;

bool is_folder(std::string const& file) {
    struct stat info {};
    return stat(file.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_executable(std::string const& file) { return !is_folder(file) && access(file.c_str(), X_OK) == 0; }

bool exists(std::string const& file) { return access(file.c_str(), F_OK) == 0; }

std::string check_path(std::string const& name, std::string const& file) {
    if (is_executable(file)) return name;
    if (is_folder(file)) throw Complaint(join("the program ", name, " is a folder"), not_executable);
    if (exists(file))
        throw Complaint(join("the program ", name, " is not executable (chmod +x makes it so)"), not_executable);
    throw Complaint(join("the program ", name, " cannot be found: ", std::strerror(errno)), not_found);
}

}   // namespace

std::string seen_from(std::string const& folder, std::string const& file) {
    return folder.empty() || file.starts_with('/') ? file : folder + "/" + file;
}

std::string find_program(std::string const& name, std::string const& folder, std::string const& path, bool* in_folder) {
    if (name.empty()) throw Complaint("the name of the program is empty", not_found);
    if (name.find('/') != std::string::npos) return check_path(name, seen_from(folder, name));
    for (std::string_view rest = path; !rest.empty();) {
        std::size_t colon = std::min(rest.find(':'), rest.size());
        std::string file = join(colon == 0 ? "." : rest.substr(0, colon), "/", name);
        if (is_executable(seen_from(folder, file))) return file;
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    std::string here = "./" + name;
    if (exists(seen_from(folder, here))) {
        if (in_folder) *in_folder = true;
        return check_path(here, seen_from(folder, here));
    }
    throw Complaint(join("the program ", name, " is neither in PATH nor in this folder"), not_found);
}

}   // namespace tutti::launcher
