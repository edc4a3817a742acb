// SPDX-License-Identifier: BSD-3-Clause
// Limits that the system puts on this process (setrlimit), and naming the one behind an error.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

#include <sys/resource.h>

namespace tutti {

using LimitKind = decltype(RLIMIT_AS);

/// What this process may have of something at most; all bits set: any amount.
inline std::uint64_t limit_on(LimitKind what) {
    rlimit limit{};
    return getrlimit(what, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/// The limit that a failed call may have met, as the end of a message: "; the limit on addresses (ulimit -v) is
/// 1000000 KiB". Empty when no limit of this process explains the error.
inline std::string limit_behind(int error) {
    struct Words {
        int error;
        LimitKind limit;
        std::uint64_t unit;
        char const *what, *of;
    };
    static constexpr Words all[] = {{ENOMEM, RLIMIT_AS, 1024, "addresses (ulimit -v)", " KiB"},
                                    {EFBIG, RLIMIT_FSIZE, 1024, "the length of files (ulimit -f)", " KiB"},
                                    {EMFILE, RLIMIT_NOFILE, 1, "open files (ulimit -n)", ""},
                                    {EAGAIN, RLIMIT_MEMLOCK, 1024, "locked memory (ulimit -l)", " KiB"}};
    for (Words const& one : all) {
        std::uint64_t const limit = limit_on(one.limit);
        if (one.error == error && limit != RLIM_INFINITY)
            return std::string("; the limit on ") + one.what + " is " + std::to_string(limit / one.unit) + one.of;
    }
    return {};
}

}   // namespace tutti
