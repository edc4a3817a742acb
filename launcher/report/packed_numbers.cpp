// SPDX-License-Identifier: BSD-3-Clause
// Bytes as text (RFC 4648, 4).
#include "launcher/report/packed_numbers.hpp"

namespace tutti::launcher {

std::string base64(std::string_view bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::size_t const there = bytes.size() - i;
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (k < there ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += k <= there ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

}   // namespace tutti::launcher
