// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc. Any thread about which it says too little counts as one that may act.
#include "runtime/wait/other_threads.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <dirent.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "topo/files.hpp"

namespace tutti {
namespace {

using Threads = std::vector<pid_t>;

template <class Number>
Number number_at(std::string_view text, int base = 10) {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

/// Returns the value of `key` in a file with lines "key:\tvalue"; empty if there is no such line.
std::string_view value_of(std::string_view text, std::string_view key) {
    for (std::size_t at = 0; (at = text.find(key, at)) != text.npos; at += key.size()) {
        std::size_t const colon = at + key.size();
        if ((at != 0 && text[at - 1] != '\n') || colon >= text.size() || text[colon] != ':') continue;
        std::string_view value = text.substr(colon + 1);
        value = value.substr(0, value.find('\n'));
        value.remove_prefix(std::min(value.find_first_not_of("\t "), value.size()));
        return value;
    }
    return {};
}

/// How a thread sleeps, and how often it has run before.
struct SleepState {
    FutexSleep futex;
    std::uint64_t runs = 0;

    bool operator==(SleepState const& other) const { return futex.word == other.futex.word && runs == other.runs; }
};

SleepState sleep_of(pid_t thread) {
    std::string const folder = join("/proc/self/task/", thread), status = topo::read_system_file(folder + "/status");
    if (!value_of(status, "State").starts_with('S')) return {};
    std::string_view const voluntary = value_of(status, "voluntary_ctxt_switches"),
                           involuntary = value_of(status, "nonvoluntary_ctxt_switches");
    if (voluntary.empty() || involuntary.empty()) return {};
    return {parse_futex_sleep(topo::read_system_file(folder + "/syscall")),
            number_at<std::uint64_t>(voluntary) + number_at<std::uint64_t>(involuntary)};
}

bool is_private_memory(std::string_view maps, std::uintptr_t address) {
    std::optional<topo::Mapping> const mapping = topo::find_mapping(maps, address);
    return mapping && mapping->is_private();
}

/// Returns true if a handler of this signal cannot wake a thread (see the head of other_threads.hpp).
bool cannot_wake(int signal, std::string_view maps, bool main_thread_waits) {
    constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    if (std::ranges::find(faults, signal) != faults.end()) return true;
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) != 0) return true;   // a signal that the C library uses between its threads
    auto const handler = topo::find_mapping(maps, reinterpret_cast<std::uintptr_t>(action.sa_handler));
    std::string_view library = handler ? handler->name : std::string_view();
    library.remove_prefix(std::min(library.rfind('/'), library.size()));
    return library.starts_with("/libgfortran.so") ||
           (main_thread_waits && (library.starts_with("/python3") || library.starts_with("/libpython3")));
}

bool signals_may_wake(std::string_view maps, bool main_thread_waits) {
    std::string const status = topo::read_system_file("/proc/self/status");
    std::string_view const caught = value_of(status, "SigCgt");
    if (caught.empty()) return true;
    auto const handled = number_at<std::uint64_t>(caught, 16);
    for (int signal = 1; signal <= 64; ++signal)
        if ((handled >> (signal - 1) & 1) != 0 && !cannot_wake(signal, maps, main_thread_waits)) return true;
    return false;
}

}   // namespace

FutexSleep parse_futex_sleep(std::string_view syscall_line) {
    constexpr std::size_t call = 0, word = 1, operation = 2, limit = 4;
    std::array<std::uint64_t, 5> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::size_t const end = syscall_line.find(' ');
        if (end == syscall_line.npos) return {};
        std::string_view number = syscall_line.substr(0, end);
        syscall_line.remove_prefix(end + 1);
        if (number.starts_with("0x")) number.remove_prefix(2);
        auto const [rest, error] =
            std::from_chars(number.data(), number.data() + number.size(), numbers[i], i == call ? 10 : 16);
        if (error != std::errc{} || rest != number.data() + number.size()) return {};
    }
    std::uint64_t const what = numbers[operation] & ~std::uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
    bool const waits = numbers[call] == SYS_futex && (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET);
    if (!waits || numbers[limit] != 0) return {};
    return {numbers[word], (numbers[operation] & FUTEX_PRIVATE_FLAG) == 0};
}

// The list may lack entries only if a thread ends while it is read: those behind that thread, which itself is listed.
std::vector<pid_t> threads_of_process() {
    DIR* const folder = opendir("/proc/self/task");
    if (!folder) return {};
    Threads all;
    while (dirent const* entry = readdir(folder))
        if (entry->d_name[0] != '.') all.push_back(number_at<pid_t>(entry->d_name));
    closedir(folder);
    return all;
}

bool others_may_act(std::span<pid_t const> waiting, std::size_t max_others) {
    Threads const all = threads_of_process();
    if (all.empty() || all.size() < waiting.size()) return true;
    auto const is_waiting = [&](pid_t thread) { return std::ranges::find(waiting, thread) != waiting.end(); };
    Threads others;
    std::ranges::remove_copy_if(all, std::back_inserter(others), is_waiting);
    if (all.size() != waiting.size() + others.size()) return true;
    if (others.empty()) return false;
    if (others.size() > max_others) return true;
    std::vector<SleepState> sleeps;
    for (pid_t thread : others) {
        sleeps.push_back(sleep_of(thread));
        if (sleeps.back().futex.word == 0) return true;
    }
    for (std::size_t i = 0; i < others.size(); ++i)
        if (!(sleep_of(others[i]) == sleeps[i])) return true;
    if (threads_of_process() != all) return true;
    std::string const maps = topo::read_system_file("/proc/self/maps");
    auto const other_process_may_wake = [&](SleepState const& one) {
        return one.futex.shared && !is_private_memory(maps, one.futex.word);
    };
    return std::ranges::any_of(sleeps, other_process_may_wake) || signals_may_wake(maps, is_waiting(getpid()));
}

}   // namespace tutti
