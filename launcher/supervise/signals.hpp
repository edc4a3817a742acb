// SPDX-License-Identifier: BSD-3-Clause
// Signals as descriptors: everything that mpiexec waits for, it waits for in one poll. Ranks start with the mask that
// mpiexec was started with.
#pragma once

#include <csignal>
#include <optional>

#include "launcher/base/descriptor.hpp"

namespace tutti::launcher {

/// Whether the process has a handler for it. False when it has gone.
bool catches(pid_t process, int signal);

class Signals {
public:
    /// Blocks what is passed on and what poll is to see. A signal that was ignored (nohup) stays ignored.
    Signals();

    sigset_t const& original_mask() const { return original_; }
    int descriptor() const { return descriptor_.get(); }
    /// The next signal that has arrived, if any.
    std::optional<int> next();
    /// Returns true if this blocked signal has come and has not been read yet.
    static bool is_pending(int signal);

private:
    sigset_t original_;
    Descriptor descriptor_;
};

}   // namespace tutti::launcher
