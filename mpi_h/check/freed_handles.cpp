// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_h/check/freed_handles.hpp"

#include <cstdio>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/diagnosis/mistake.hpp"
#include "runtime/trace/call_stack.hpp"

namespace tutti {
namespace {

std::uint64_t here(Process const& process) { return program_site(process.call_site); }

}   // namespace

void FreedHandles::note(Process const& process, int handle) {
    places_[place_of(handle)] = {handle, process.call_name, here(process)};
}

void FreedHandles::refuse(Process& process, std::string const& call, char const* argument, int handle) const {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
    Place const& freed = places_[place_of(handle)];
    bool const known = freed.call && freed.handle == handle;
    std::vector<Mistake::Part> parts;
    if (known) parts.push_back({process.rank(), freed.call, join(argument, " ends here"), freed.site});
    parts.push_back({process.rank(), call, join(argument, " is ", text), here(process)});
    char const* const what =
        known ? " that is freed or complete already" : " that was never made, or was freed already";
    report(process,
           {"T13", join("rank ", process.rank(), " uses a handle as ", argument, what),
            "set variables of handles to their null values (MPI_REQUEST_NULL, MPI_COMM_NULL …) until they have "
            "one, keep no copies of what is freed, and free at the end",
            parts});
}

}   // namespace tutti
