// SPDX-License-Identifier: BSD-3-Clause
// Construction of windows, and their descriptions in messages.
#include "rma/window.hpp"

#include "coll/match/call_record.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

Window::Window(Process& p, Ref<Comm> own, Flavor f)
    : process(p), counts(p.rank_state().one_sided), comm(std::move(own)),
      flavor(f), fence_call{*comm, coll::Collective::barrier, {}, 0, coll::function_named("MPI_Win_fence")} {
    if (p.variables.diagnosis == "full") {
        accesses = std::make_unique<Accesses>(p);
        stores = std::make_unique<LocalStores>();
        origins = std::make_unique<OriginBuffers>(p);
    }
    if (p.variables.stats) recording = std::make_unique<Recording>(p.segment.call_statistics(p.place()));
}
Window::~Window() = default;

std::string Window::words() const {
    return name.empty() ? join("a window of ", size(), size() == 1 ? " rank" : " ranks") : join("window \"", name, '"');
}

void Window::add_name(void const* window, Blockage& blockage) {
    blockage.call += "(" + static_cast<Window const*>(window)->words() + ")";
}

std::string open_epochs(Window const& window) {
    if (window.started) return "an access epoch of MPI_Win_start";
    if (window.posted) return "an exposure epoch of MPI_Win_post";
    if (window.everybody == Access::lock_all) return "MPI_Win_lock_all";
    for (int r = 0; r < window.size() && window.locks > 0; ++r)
        if (window.targets[static_cast<std::size_t>(r)].access == Access::lock) return join("a lock on rank ", r);
    if (window.everybody == Access::fence && window.fence_used) return "an epoch of MPI_Win_fence";
    return "";
}

void not_open(Window const& window, int rank) {
    std::string const open = open_epochs(window);
    fail(ErrorClass::rma_sync, "rank ", rank, " may not be accessed now: no epoch towards it is open (",
         open.empty() ? "MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all opens one" : "open is " + open,
         ")");
}

void beyond(Window const& window, int rank, std::int64_t disp, std::int64_t first, std::int64_t bytes) {
    Target const& t = window.targets[static_cast<std::size_t>(rank)];
    fail(ErrorClass::rma_range, "displacement ", disp, " with ", bytes, bytes == 1 ? " byte" : " bytes",
         " reaches from byte ", first, " to byte ", first + bytes, " of the window at rank ", rank, ", which has ",
         t.bytes);
}

}   // namespace tutti::rma
