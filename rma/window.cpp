// SPDX-License-Identifier: BSD-3-Clause
// Construction of windows, and their descriptions in messages.
#include "rma/window.hpp"

#include "coll/match/call_record.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

Window::Window(Process& p, Ref<Comm> own, Flavor f)
    : process(p), counts(p.rank_state().one_sided), comm(std::move(own)),
      flavor(f), fence_call{*comm, coll::Collective::barrier, {}, "MPI_Win_fence"} {
    if (p.variables.diagnosis == "full") {
        access_log = std::make_unique<AccessLog>(p);
        local_stores = std::make_unique<LocalStores>();
        origin_buffers = std::make_unique<OriginBuffers>(p);
    }
    if (p.variables.stats) recording = std::make_unique<Recording>(p.segment.call_statistics(p.local_rank()));
}
Window::~Window() = default;

std::string Window::description() const {
    return name.empty() ? join("a window of ", size(), size() == 1 ? " rank" : " ranks") : join("window \"", name, '"');
}

void Window::add_description(void const* window, BlockedCall& blocked) {
    blocked.kind = CallKind::rma;
    blocked.call += "(" + static_cast<Window const*>(window)->description() + ")";
}

std::string open_epochs(Window const& window) {
    if (window.started) return "an access epoch of MPI_Win_start";
    if (window.posted) return "an exposure epoch of MPI_Win_post";
    if (window.global_epoch == AccessEpoch::lock_all) return "MPI_Win_lock_all";
    for (int r = 0; r < window.size() && window.locks > 0; ++r)
        if (window.targets[static_cast<std::size_t>(r)].epoch == AccessEpoch::lock) return join("a lock on rank ", r);
    if (window.global_epoch == AccessEpoch::fence && window.fence_used) return "an epoch of MPI_Win_fence";
    return "";
}

void throw_not_open(Window const& window, int rank) {
    std::string const open = open_epochs(window);
    if (open.empty()) fail(ErrorClass::rma_sync, "no access epoch towards rank ", rank, " is open");
    fail(ErrorClass::rma_sync, "no access epoch towards rank ", rank, " is open, only ", open);
}

void throw_out_of_range(Window const& window, int rank, std::int64_t disp, std::int64_t first, std::int64_t bytes) {
    Target const& t = window.targets[static_cast<std::size_t>(rank)];
    fail(ErrorClass::rma_range, "bytes ", first, " to ", first + bytes, " (displacement ", disp,
         ") are not all in the window of rank ", rank, ", which has ", t.bytes, t.bytes == 1 ? " byte" : " bytes");
}

}   // namespace tutti::rma
