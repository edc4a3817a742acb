// SPDX-License-Identifier: BSD-3-Clause
// Where handles were freed, so that who uses one again can be told. Numbers of handles are used again in time; then
// nothing is known of them any more.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "runtime/process.hpp"

namespace tutti {

class FreedHandles {
public:
    /// The call that this rank is in has freed it, or completed its request.
    void note(Process const& process, int handle);
    /// Ends the job: the call that this rank is in was given a handle as `argument` that names nothing.
    [[noreturn]] void refuse(Process& process, char const* argument, int handle) const;

private:
    struct Place {
        char const* call;
        std::uint64_t site;
    };
    static constexpr std::size_t most = 4096;   ///< kept

    std::map<int, Place> places_;
};

}   // namespace tutti
