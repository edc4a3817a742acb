// SPDX-License-Identifier: BSD-3-Clause
// A flag that says that this thread is inside something.
#pragma once

namespace tutti {

/// The flag is true while this object lives, however its block is left.
struct Mark {
    explicit Mark(bool& flag) : flag(flag) { flag = true; }
    ~Mark() { flag = false; }
    Mark(Mark const&) = delete;
    Mark& operator=(Mark const&) = delete;
    bool& flag;
};

}   // namespace tutti
