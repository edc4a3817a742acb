// SPDX-License-Identifier: BSD-3-Clause
// Strings that the library writes into a program's memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

namespace tutti {

/// Copies as much of `text` as `room` characters hold, the final zero included; returns the length without it.
inline int copy_text(std::string const& text, char* to, std::size_t room) {
    std::size_t n = std::min(text.size(), room - 1);
    std::memcpy(to, text.data(), n);
    to[n] = '\0';
    return static_cast<int>(n);
}

}   // namespace tutti
