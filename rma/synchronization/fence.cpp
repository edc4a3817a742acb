// SPDX-License-Identifier: BSD-3-Clause
// Fences (MPI 3.1, 11.5.1).
#include "coll/call/collectives.hpp"
#include "rma/messages/messages.hpp"
#include "rma/synchronization/matching.hpp"
#include "rma/synchronization/synchronization.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

void fence(Window& window, Assertions assertions, char const* call) {
    if (window.everybody != Access::fence)
        if (std::string const open = open_epochs(window); !open.empty())
            fail(ErrorClass::rma_sync, "a fence while ", open, " is open");
    if (window.messages) messages(window).flush_all(call);
    window.complete_here(-1);
    if (assertions.no_precede && assertions.no_succeed) {
        coll::note(*window.comm, "MPI_Win_fence", coll::Waits::for_none);   // nothing ends and nothing begins
    } else {
        if (window.accesses) {
            exchange_at_fence(window, assertions, call);
            exchange_shared(window, call);
        }
        coll::run(window.fence_call);   // on the node everything is done when its call returns
    }
    window.everybody = assertions.no_succeed ? Access::none : Access::fence;
    if (assertions.no_succeed) window.open_towards_nobody();
    else window.open_towards_all(false);
    window.fence_used = false;
}

}   // namespace tutti::rma
