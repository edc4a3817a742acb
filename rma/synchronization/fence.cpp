// SPDX-License-Identifier: BSD-3-Clause
// Fences (MPI 3.1, 11.5.1).
#include "coll/call/collectives.hpp"
#include "p2p/p2p.hpp"
#include "rma/messages/messages.hpp"
#include "rma/synchronization/barrier.hpp"
#include "rma/synchronization/synchronization.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

void synchronize(Window& window, char const*) {
    // On the node everything is done when its call returns: the flags of the barrier order it.
    coll::run(coll::BoundCall<coll::BarrierArgs>{*window.comm, coll::Collective::barrier, {}, 0});
}

namespace {

constexpr int accesses_tag = 1401;   // of messages in the window's own communicator

/// Each member tells each other one what it has done to its part, and looks at what all have done to its own.
void exchange_accesses(Window& window, char const* call) {
    Accesses& mine = *window.accesses;
    std::span<Accessed const> const own = mine.of(window.rank());
    std::vector<Accessed> here(own.begin(), own.end());
    for (int step = 1; step < window.size(); ++step) {
        int const to = (window.rank() + step) % window.size(),
                  from = (window.rank() - step + window.size()) % window.size();
        std::span<Accessed const> const out = mine.of(to);
        std::uint64_t const n = out.size();
        std::uint64_t more = 0;
        p2p::sendrecv_bytes(*window.comm, &n, sizeof n, to, &more, sizeof more, from, accesses_tag, call);
        here.resize(here.size() + more);
        p2p::sendrecv_bytes(*window.comm, out.data(), out.size_bytes(), to, here.data() + here.size() - more,
                            more * sizeof(Accessed), from, accesses_tag, call);
    }
    mine.compare(here);
    mine.forget();
}

}   // namespace

void fence(Window& window, Assertions assertions, char const* call) {
    if (window.everybody != Access::fence)
        if (std::string const open = open_epochs(window); !open.empty())
            fail(ErrorClass::rma_sync, "a fence while ", open, " is open");
    if (window.messages) messages(window).flush_all(call);
    if (window.accesses && !(assertions.no_precede && assertions.no_succeed)) exchange_accesses(window, call);
    // Nothing to end and nothing to begin: nobody needs to be waited for.
    if (!(assertions.no_precede && assertions.no_succeed)) synchronize(window, call);
    window.everybody = assertions.no_succeed ? Access::none : Access::fence;
    if (assertions.no_succeed) window.open_towards_nobody();
    else window.open_towards_all(false);
    window.fence_used = false;
}

}   // namespace tutti::rma
