// SPDX-License-Identifier: BSD-3-Clause
// A flag that is true while the thread is inside a block.
#pragma once

namespace tutti {

/// Sets a flag, and clears it on destruction, also when an exception leaves the block. Does not nest.
struct Mark {
    explicit Mark(bool& flag) : flag(flag) { flag = true; }
    ~Mark() { flag = false; }
    Mark(Mark const&) = delete;
    Mark& operator=(Mark const&) = delete;
    bool& flag;
};

}   // namespace tutti
