// SPDX-License-Identifier: BSD-3-Clause
// Where memory lies, as the kernel sees it: asked of pages that are there, never by making any.
#pragma once

#include <string>

#include "runtime/memory/placement/numa.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti {

/// Notes on the state of each rank (Placed) where samples of its memory lie. For the launcher, when its ranks have
/// ended; does nothing where there is nothing to choose.
void survey(Segment const& segment);

/// What the system lets this process do, tried with a page for each node.
struct Trial {
    bool places = false;    ///< each page came from where it was asked for
    std::string sentence;   ///< without its full stop: what was found, or why nothing is placed
};
Trial try_placement(NumaSystem& system);

}   // namespace tutti
