// SPDX-License-Identifier: BSD-3-Clause
// Returns the class of the error that a call throws, or success.
#pragma once

#include "runtime/base/error.hpp"

namespace tutti {

inline ErrorClass error_of(auto&& call) {
    try {
        call();
    } catch (Error const& error) { return error.error_class; }
    return ErrorClass::success;
}

}   // namespace tutti
