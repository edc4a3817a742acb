// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic with the numbers of bytes that a type is made of: whatever a program asks for, a type that would reach
// further than can be counted is refused (ErrorClass::type) in place of being a small one by overflow.
#pragma once

#include <cstdint>

#include "runtime/base/error.hpp"

namespace tutti {

/// No bound, size or extent is larger. Two of them can be added, and half a step more goes without overflow.
inline constexpr std::int64_t type_reach = std::int64_t{1} << 61;

[[noreturn]] inline void type_too_large() { fail(ErrorClass::type, "the type would reach over more than 2^61 bytes"); }

inline std::int64_t type_bytes(std::int64_t value) {
    if (value > type_reach || value < -type_reach) [[unlikely]]
        type_too_large();
    return value;
}

inline std::int64_t type_product(std::int64_t a, std::int64_t b) {
    std::int64_t result;
    if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
        type_too_large();
    return type_bytes(result);
}

inline std::int64_t type_sum(std::int64_t a, std::int64_t b) {
    std::int64_t result;
    if (__builtin_add_overflow(a, b, &result)) [[unlikely]]
        type_too_large();
    return type_bytes(result);
}

}   // namespace tutti
