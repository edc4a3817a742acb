// SPDX-License-Identifier: BSD-3-Clause
// Fences (MPI 3.1, 11.5.1).
#include "coll/call/collectives.hpp"
#include "p2p/engine.hpp"
#include "rma/messages/messages.hpp"
#include "rma/synchronization/barrier.hpp"
#include "rma/synchronization/matching.hpp"
#include "rma/synchronization/synchronization.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

void synchronize(Window& window, char const*) {
    // On the node everything is done when its call returns: the flags of the barrier order it.
    coll::run(coll::BoundCall<coll::BarrierArgs>{*window.comm, coll::Collective::barrier, {}, 0});
    note_meeting(window);
}

void note_meeting(Window& window) {
    if (window.accesses && window.size() == window.process.size()) [[unlikely]]
        p2p::engine(window.process).checks()->order.met_all();
}

void fence(Window& window, Assertions assertions, char const* call) {
    if (window.everybody != Access::fence)
        if (std::string const open = open_epochs(window); !open.empty())
            fail(ErrorClass::rma_sync, "a fence while ", open, " is open");
    if (window.messages) messages(window).flush_all(call);
    window.complete_here(-1);
    ++window.fences;
    // Nothing to end and nothing to begin: nobody needs to be waited for.
    if (!(assertions.no_precede && assertions.no_succeed)) {
        note_fence(window);
        if (window.accesses) {
            exchange_at_fence(window, assertions, call);
            exchange_shared(window, call);
        }
        synchronize(window, call);
    }
    window.everybody = assertions.no_succeed ? Access::none : Access::fence;
    if (assertions.no_succeed) window.open_towards_nobody();
    else window.open_towards_all(false);
    window.fence_used = false;
}

}   // namespace tutti::rma
