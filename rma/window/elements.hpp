// SPDX-License-Identifier: BSD-3-Clause
// Both sides of an operation.
#pragma once

#include <cstdint>

#include "runtime/datatype/datatype.hpp"

namespace tutti::rma {

/// Elements in this process's memory.
struct Local {
    void* buffer;   ///< read only, where the operation only reads
    std::int64_t count;
    Datatype const& type;

    static Local of(void const* buffer, std::int64_t count, Datatype const& type) {
        return {const_cast<void*>(buffer), count, type};
    }
};

/// Elements in a target's window.
struct Remote {
    int rank;
    std::int64_t disp;   ///< in the target's disp_unit; of a dynamic window an address
    std::int64_t count;
    Datatype const& type;
};

}   // namespace tutti::rma
