// SPDX-License-Identifier: BSD-3-Clause
// Output files: whether a program may write one, checked before the work whose results it is for, and its replacement.
// Used by tutti-bench, tutti-tune and mpiexec. Needs only the standard library and POSIX.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace apps {

inline std::string not_writable(std::string const& file, int error) {
    return file + " cannot be written: " + std::strerror(error);
}

/// How an output file is written.
enum class Writing {
    replace,    ///< by replace_file
    in_place,   ///< from its beginning; it may be a device or a pipe
};

/// The file that replaces another one when it is complete.
inline std::string temporary_name(std::string const& file) { return file + "." + std::to_string(getpid()) + ".new"; }

/// Creates a file and returns its descriptor, or -1 and errno. The file must not exist: in a folder that everyone can
/// write to, a link of that name might lead elsewhere.
inline int create_file(std::string const& file) {
    return open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// Creates and removes a file that does not exist. Returns the errno of a failure, or 0.
inline int try_to_create(std::string const& file) {
    int const descriptor = create_file(file);
    if (descriptor < 0) return errno;
    close(descriptor);
    unlink(file.c_str());
    return 0;
}

/// Returns the first bytes of a file, enough to recognize an output.
inline std::string first_bytes(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes(512, '\0');
    in.read(bytes.data(), std::streamsize(bytes.size()));
    bytes.resize(std::size_t(in.gcount()));
    return bytes;
}

/// Decides from its first bytes whether a file is an earlier output of the program.
using IsEarlier = std::function<bool(std::string const& begin)>;

/// Recognizes outputs that begin with one of these texts; blanks and line ends do not count.
inline IsEarlier beginning_with(std::vector<std::string> const& beginnings) {
    return [beginnings](std::string text) {
        std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
        return std::any_of(beginnings.begin(), beginnings.end(),
                           [&](std::string const& beginning) { return text.rfind(beginning, 0) == 0; });
    };
}

/// Returns why the program cannot write this file, or must not, because it has contents but is no earlier output of
/// `program` (with the option that names the file, if there are several: "mpiexec --trace"): a message without the
/// final full stop. Returns an empty string if it may. Devices and pipes are not read.
inline std::string output_error(std::string const& file, std::string const& program, IsEarlier const& is_earlier,
                                Writing writing = Writing::replace) {
    struct stat status, ignored;
    const std::string trial = writing == Writing::replace ? temporary_name(file) : file;
    if (stat(file.c_str(), &status) != 0) {
        int const error = errno;
        const std::string folder = std::filesystem::path(file).parent_path();
        if (error == ENOENT && !folder.empty() && stat(folder.c_str(), &ignored) != 0 && errno == ENOENT)
            return file + " cannot be written: the folder " + folder + " does not exist";
        int const failure = error == ENOENT ? try_to_create(trial) : error;
        return failure ? not_writable(file, failure) : "";
    }
    bool const regular = S_ISREG(status.st_mode);
    if (S_ISDIR(status.st_mode)) return file + " is a folder; name a file in it";
    if (!regular && writing == Writing::replace) return file + " cannot be written: it is a device or a pipe";
    if (access(file.c_str(), W_OK) != 0) return not_writable(file, errno);
    if (regular && status.st_size > 0 && !is_earlier(first_bytes(file)))
        return file + " exists and was not written by " + program + "; remove it or choose another name";
    int const failure = writing == Writing::replace ? try_to_create(trial) : 0;
    return failure ? not_writable(file, failure) : "";
}

/// Replaces the file atomically, so that another program reads the old contents or the new ones. Returns an error
/// message without the final full stop, or an empty string.
inline std::string replace_file(std::string const& file, std::string const& text) {
    int const descriptor = create_file(temporary_name(file));
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
