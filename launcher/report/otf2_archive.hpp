// SPDX-License-Identifier: BSD-3-Clause
// The same events as an OTF2 archive (Open Trace Format 2, Eschweiler and others, 2012), which Vampir, Scalasca's tools
// and otf2-print read: a location group is a rank, a location one of its threads, a region an MPI function.
#pragma once

#include <string>
#include <string_view>

#include "launcher/report/analysis/timeline.hpp"

namespace tutti::launcher {

/// Is that the name of such an archive's anchor file, "run.otf2"?
bool names_otf2_archive(std::string_view file);

/// Throws Error when this build has no libotf2.
void require_otf2(std::string const& file);

/// Beside "run.otf2" there are then run.def and the folder run/; those of an earlier archive of that name go away.
/// Throws Error when a file cannot be written, or when this build has no libotf2.
/// Messages and collectives are told as blocking ones inside the call in which they happened; those of which a call is
/// not known are left out. Calls carry their place and what they waited for as attributes.
void write_otf2_archive(std::string const& file, Recording const& recording, Timeline const& timeline);

}   // namespace tutti::launcher
