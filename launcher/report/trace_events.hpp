// SPDX-License-Identifier: BSD-3-Clause
// The same events as a file in the Trace Event format, which https://ui.perfetto.dev and chrome://tracing read: a
// process is a node, a thread a rank, a flow a message.
#pragma once

#include <iosfwd>

#include "launcher/report/analysis/timeline.hpp"

namespace tutti::launcher {

void write_trace_events(std::ostream& out, Recording const& recording, Timeline const& timeline);

}   // namespace tutti::launcher
