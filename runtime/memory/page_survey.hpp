// SPDX-License-Identifier: BSD-3-Clause
// Surveys where memory lies according to the kernel. Inspects existing pages only and never creates any.
#pragma once

#include <string>

#include "runtime/memory/numa.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti {

/// Records in each rank's state (Placed) where samples of its memory lie. Called by the launcher after its ranks have
/// ended; does nothing if there is nothing to choose.
void survey(Segment const& segment);

/// What the system permits this process, tried with one page per node.
struct PlacementTest {
    bool succeeded = false;   ///< each page came from the requested node
    std::string message;      ///< without a full stop: the findings, or why memory is not placed
};
PlacementTest test_placement(NumaSystem& system);

}   // namespace tutti
