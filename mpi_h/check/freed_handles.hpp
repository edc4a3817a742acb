// SPDX-License-Identifier: BSD-3-Clause
// Where handles were freed, so that who uses one again can be told. Numbers of handles are used again in time; then
// nothing is known of them any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/process.hpp"

namespace tutti {

class FreedHandles {
public:
    /// The call that this rank is in has freed it, or completed its request.
    void note(Process const& process, int handle);
    /// Ends the job: the call that this rank is in, which `call` describes with its arguments, was given a handle as
    /// `argument` that names nothing.
    [[noreturn]] void refuse(Process& process, std::string const& call, char const* argument, int handle) const;

private:
    struct Place {
        int handle = 0;
        char const* call = nullptr;   ///< null: nothing is known
        std::uint64_t site = 0;
    };
    static constexpr unsigned kept = 4096;

    static std::size_t place_of(int handle) { return static_cast<unsigned>(handle) * 0x9e3779b1U >> 20; }

    std::vector<Place> places_ = std::vector<Place>(kept);   ///< by handle; who shares a place pushes the other out
};

}   // namespace tutti
