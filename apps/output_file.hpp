// SPDX-License-Identifier: BSD-3-Clause
// Output files: whether a program may write one, checked before the work whose results it is for, and its replacement.
// Used by tutti-bench and tutti-tune. Needs only the standard library and POSIX.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace apps {

inline std::string not_writable(std::string const& file, int error) {
    return file + " cannot be written: " + std::strerror(error);
}

/// The file that replaces another one when it is complete.
inline std::string temporary_name(std::string const& file) { return file + "." + std::to_string(getpid()) + ".new"; }

/// Creates the temporary file and returns its descriptor, or -1 and errno. The file must not exist: in a folder that
/// everyone can write to, a link of that name might lead elsewhere.
inline int create_temporary(std::string const& file) {
    return open(temporary_name(file).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// Returns whether the file is empty, or begins as one of the program's outputs does; blanks do not count.
inline bool is_earlier_output(std::string const& file, std::vector<std::string> const& beginnings) {
    std::ifstream in(file);
    char head[256];
    in.read(head, sizeof head);
    std::string text(head, std::size_t(in.gcount()));
    std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
    return text.empty() || std::any_of(beginnings.begin(), beginnings.end(),
                                       [&](std::string const& beginning) { return text.rfind(beginning, 0) == 0; });
}

/// Returns why the program cannot write this file, or must not, because it is no earlier output of it: a message
/// without the final full stop. Returns an empty string if it may. `beginnings`: how its outputs begin, without blanks.
inline std::string output_error(std::string const& file, std::string const& program,
                                std::vector<std::string> const& beginnings) {
    struct stat status;
    if (stat(file.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) return not_writable(file, EISDIR);
        if (!S_ISREG(status.st_mode)) return file + " cannot be written: it is a device or a pipe";
        if (access(file.c_str(), W_OK) != 0) return not_writable(file, errno);
        if (!is_earlier_output(file, beginnings))
            return file + " exists and was not written by " + program + "; remove it or choose another name";
    } else if (errno != ENOENT) {
        return not_writable(file, errno);
    }
    int const trial = create_temporary(file);
    if (trial < 0) return not_writable(file, errno);
    close(trial);
    unlink(temporary_name(file).c_str());
    return "";
}

/// Replaces the file atomically, so that another program reads the old contents or the new ones. Returns an error
/// message without the final full stop, or an empty string.
inline std::string replace_file(std::string const& file, std::string const& text) {
    int const descriptor = create_temporary(file);
    std::FILE* const out = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
    if (!out) return not_writable(file, errno);
    errno = 0;
    bool written = std::fputs(text.c_str(), out) >= 0;
    written = std::fclose(out) == 0 && written;
    if (written && std::rename(temporary_name(file).c_str(), file.c_str()) == 0) return "";
    int const error = errno ? errno : EIO;
    unlink(temporary_name(file).c_str());
    return not_writable(file, error);
}

}   // namespace apps
