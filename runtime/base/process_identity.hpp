// SPDX-License-Identifier: BSD-3-Clause
// Identity of a process that holds even if its number is reused. Processes of a node that are not each other's children
// watch one another by it. No allocation and no exceptions, because arenas are claimed inside malloc.
//
// A process number identifies a process only within one pid namespace; in another one, as in a container, it means
// another process or none. A number that another process has written is therefore used only if both processes are known
// to be in the same namespace.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>


namespace tutti {

/// Identifies the pid namespace of the calling process among those of the machine; 0 if it is not known, for example
/// without /proc.
inline std::uint64_t pid_namespace() {
    struct stat info {};
    return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

/// Returns true if process numbers of namespace `other` have the same meaning in `own`; false if either is not known.
inline bool same_pid_namespace(std::uint64_t own, std::uint64_t other) { return own != 0 && own == other; }

/// A process's number and the time at which it started (in clock ticks since the machine booted; 0: not known), packed
/// into one word that fits into shared memory. The word 0 identifies no process.
class ProcessIdentity {
public:
    ProcessIdentity() = default;
    explicit ProcessIdentity(std::uint64_t word) : word_(word) {}
    /// Returns the identity of the process that has this number now.
    static ProcessIdentity of(pid_t pid) {
        return ProcessIdentity(start_of(pid) << pid_bits | static_cast<std::uint64_t>(pid));
    }

    std::uint64_t word() const { return word_; }
    pid_t pid() const { return static_cast<pid_t>(word_ & ((std::uint64_t{1} << pid_bits) - 1)); }
    /// Returns true if the number still belongs to this process, as far as its start time is known.
    bool is_current() const {
        std::uint64_t const start = word_ >> pid_bits, now = start == 0 ? 0 : start_of(pid());
        return now == start || now == 0;
    }

private:
    static constexpr int pid_bits = 22;   // Linux has no larger process numbers

    /// Parses field 22 of /proc/PID/stat, after the process name, which may contain any character.
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

/// Detects the end of a process, which need not be a child. Uses its pidfd; if the kernel or a sandbox provides none,
/// its number and start time.
class ProcessWatch {
public:
    explicit ProcessWatch(ProcessIdentity process) : process_(process) {
        descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, process.pid(), 0));
        ended_ = (descriptor_ < 0 && errno == ESRCH) || !process.is_current();
    }
    ProcessWatch(ProcessWatch&& other) noexcept
        : process_(other.process_), descriptor_(std::exchange(other.descriptor_, -1)), ended_(other.ended_) {}
    ProcessWatch& operator=(ProcessWatch&& other) noexcept {
        std::swap(process_, other.process_);
        std::swap(descriptor_, other.descriptor_);
        std::swap(ended_, other.ended_);
        return *this;
    }
    ~ProcessWatch() {
        if (descriptor_ >= 0) close(descriptor_);
    }

    ProcessIdentity process() const { return process_; }
    /// Returns false once the process has ended; a zombie counts as ended if there is a pidfd.
    bool is_alive() {
        if (ended_) return false;
        if (descriptor_ >= 0) {
            pollfd one{descriptor_, POLLIN, 0};
            ended_ = poll(&one, 1, 0) > 0;
        } else {
            ended_ = (kill(process_.pid(), 0) != 0 && errno != EPERM) || !process_.is_current();
        }
        return !ended_;
    }

private:
    ProcessIdentity process_;
    int descriptor_ = -1;
    bool ended_ = false;
};

}   // namespace tutti
