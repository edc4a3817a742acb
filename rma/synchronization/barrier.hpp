// SPDX-License-Identifier: BSD-3-Clause
// The barrier of a window's members.
#pragma once

#include "rma/window/window.hpp"

namespace tutti::rma {

/// Collective: what any member has stored before it is visible to all after it.
void synchronize(Window& window, char const* call);
/// --check: all members have just waited for each other.
void note_meeting(Window& window);

}   // namespace tutti::rma
