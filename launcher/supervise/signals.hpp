// SPDX-License-Identifier: BSD-3-Clause
// Signals as a descriptor, so that mpiexec waits for everything in one poll. Ranks start with the signal mask that
// mpiexec was started with.
#pragma once

#include <csignal>
#include <optional>

#include "launcher/base/proc.hpp"

namespace tutti::launcher {

/// Returns true if the process has a handler for the signal; false if the process has gone.
bool has_handler(pid_t process, int signal);

class Signals {
public:
    /// Blocks the signals that are forwarded and those that poll reports. A signal that was ignored (nohup) remains
    /// ignored.
    Signals();

    sigset_t const& original_mask() const { return original_; }
    int descriptor() const { return descriptor_.get(); }
    /// Returns the next signal that has arrived, if any.
    std::optional<int> next();
    /// Returns true if this blocked signal has come and has not been read yet.
    static bool is_pending(int signal);

private:
    sigset_t original_;
    Descriptor descriptor_;
};

}   // namespace tutti::launcher
