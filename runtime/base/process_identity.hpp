// SPDX-License-Identifier: BSD-3-Clause
// Which process is meant when its number may have been used again: processes of a node that are not children of each
// other watch one another by it. Nothing here allocates memory or throws.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti {

/// A process's number and the time at which it started (in clock ticks since the machine did; 0: not known), as one
/// word that fits into shared memory. A word of 0 is no process.
class ProcessIdentity {
public:
    ProcessIdentity() = default;
    explicit ProcessIdentity(std::uint64_t word) : word_(word) {}
    /// Of the process that has this number now.
    static ProcessIdentity of(pid_t pid) {
        return ProcessIdentity(start_of(pid) << pid_bits | static_cast<std::uint64_t>(pid));
    }

    std::uint64_t word() const { return word_; }
    pid_t pid() const { return static_cast<pid_t>(word_ & ((std::uint64_t{1} << pid_bits) - 1)); }
    /// Whether the process with the number is still this one, as far as its start is known.
    bool is_current() const {
        std::uint64_t const start = word_ >> pid_bits, now = start == 0 ? 0 : start_of(pid());
        return now == start || now == 0;
    }

private:
    static constexpr int pid_bits = 22;   // Linux has no larger numbers

    /// The 22nd word of /proc/PID/stat, behind a name that may contain anything.
    static std::uint64_t start_of(pid_t pid) {
        char name[32] = "/proc/", text[1024];
        std::size_t length = std::strlen(name);
        char digits[12];
        int count = 0;
        for (auto rest = static_cast<unsigned>(pid); rest != 0; rest /= 10) digits[count++] = char('0' + rest % 10);
        while (count > 0) name[length++] = digits[--count];
        std::memcpy(name + length, "/stat", sizeof "/stat");
        int const file = open(name, O_RDONLY | O_CLOEXEC);
        if (file < 0) return 0;
        ssize_t const bytes = read(file, text, sizeof text - 1);
        close(file);
        if (bytes <= 0) return 0;
        text[bytes] = 0;
        char const* word = std::strrchr(text, ')');
        for (int number = 2; word && number < 22; ++number) word = std::strchr(word + 1, ' ');
        return word ? std::strtoull(word, nullptr, 10) : 0;
    }

    std::uint64_t word_ = 0;
};

/// Sees the end of a process that may be anybody's. By its pidfd; where the kernel or a sandbox has none, by its number
/// and its start.
class ProcessWatch {
public:
    explicit ProcessWatch(ProcessIdentity process) : process_(process) {
        descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, process.pid(), 0));
        gone_ = (descriptor_ < 0 && errno == ESRCH) || !process.is_current();
    }
    ProcessWatch(ProcessWatch&& other) noexcept
        : process_(other.process_), descriptor_(std::exchange(other.descriptor_, -1)), gone_(other.gone_) {}
    ProcessWatch& operator=(ProcessWatch&& other) noexcept {
        std::swap(process_, other.process_);
        std::swap(descriptor_, other.descriptor_);
        std::swap(gone_, other.gone_);
        return *this;
    }
    ~ProcessWatch() {
        if (descriptor_ >= 0) close(descriptor_);
    }

    ProcessIdentity process() const { return process_; }
    /// False once it has ended; a zombie has.
    bool lives() {
        if (gone_) return false;
        if (descriptor_ >= 0) {
            pollfd one{descriptor_, POLLIN, 0};
            gone_ = poll(&one, 1, 0) > 0;
        } else {
            gone_ = (kill(process_.pid(), 0) != 0 && errno != EPERM) || !process_.is_current();
        }
        return !gone_;
    }

private:
    ProcessIdentity process_;
    int descriptor_ = -1;
    bool gone_ = false;
};

}   // namespace tutti
