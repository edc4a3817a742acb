// SPDX-License-Identifier: BSD-3-Clause
// Numbers in as few bytes as they need, seven bits in each, for the page to read: small ones are the rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::launcher {

class PackedNumbers {
public:
    void add(std::uint64_t value) {
        for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
        bytes_ += static_cast<char>(value);
    }
    /// Of either sign: 0, −1, 1, −2, … are 0, 1, 2, 3, …
    void add_signed(std::int64_t value) {
        add(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    }
    /// What shall not be negative, and is where clocks differ by a little, is 0.
    void add_length(std::int64_t value) { add(value < 0 ? 0 : static_cast<std::uint64_t>(value)); }
    std::string_view bytes() const { return bytes_; }

private:
    std::string bytes_;
};

std::string base64(std::string_view bytes);

}   // namespace tutti::launcher
