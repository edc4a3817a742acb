// SPDX-License-Identifier: BSD-3-Clause
// A flag that is true while the thread is inside a block.
#pragma once

namespace tutti {

/// Sets a flag, and clears it on destruction, also when an exception leaves the block. Does not nest.
struct ScopedFlag {
    explicit ScopedFlag(bool& flag) : flag(flag) { flag = true; }
    ~ScopedFlag() { flag = false; }
    ScopedFlag(ScopedFlag const&) = delete;
    ScopedFlag& operator=(ScopedFlag const&) = delete;
    bool& flag;
};

}   // namespace tutti
