// SPDX-License-Identifier: BSD-3-Clause
// Resource limits of this process (setrlimit), and the limit that explains a failed call.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

#include <sys/resource.h>

namespace tutti {

using LimitKind = decltype(RLIMIT_AS);

/// Returns the soft limit on a resource, in the unit of setrlimit; all bits set (RLIM_INFINITY): unlimited.
inline std::uint64_t limit_on(LimitKind kind) {
    rlimit limit{};
    return getrlimit(kind, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/// Returns the limit that a call which failed with errno `error` may have reached, as the end of a message: "; the
/// limit on addresses (ulimit -v) is 1000000 KiB". Empty if no limit of this process explains the error.
inline std::string limit_behind(int error) {
    struct LimitText {
        int error;
        LimitKind limit;
        std::uint64_t unit;
        char const *name, *unit_name;
    };
    static constexpr LimitText limits[] = {{ENOMEM, RLIMIT_AS, 1024, "addresses (ulimit -v)", " KiB"},
                                           {EFBIG, RLIMIT_FSIZE, 1024, "the length of files (ulimit -f)", " KiB"},
                                           {EMFILE, RLIMIT_NOFILE, 1, "open files (ulimit -n)", ""},
                                           {EAGAIN, RLIMIT_MEMLOCK, 1024, "locked memory (ulimit -l)", " KiB"}};
    for (LimitText const& one : limits) {
        std::uint64_t const limit = limit_on(one.limit);
        if (one.error == error && limit != RLIM_INFINITY)
            return std::string("; the limit on ") + one.name + " is " + std::to_string(limit / one.unit) +
                   one.unit_name;
    }
    return {};
}

}   // namespace tutti
