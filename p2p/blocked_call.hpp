// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of sends, receives and probes for the report of a wait that has become long.
#pragma once

#include <string>

#include "p2p/matching/operation.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {

/// Describes an operation: "1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD". For messages of the library itself, returns
/// the name of the communicator only. Ranks are those of `comm`, the communicator of the operation.
std::string words(Comm const& comm, Send const& op);
std::string words(Comm const& comm, Receive const& op);
std::string words(Comm const& comm, Key const& probe);

/// Adds to `blockage` the ranks that could complete the operation, and a hint if an unexpected message differs from the
/// awaited one in its tag or source only.
void tell(Comm const& comm, Send const& op, Blockage& blockage);
void tell(Comm const& comm, Receive const& op, Blockage& blockage);
void tell(Comm const& comm, Key const& probe, Blockage& blockage);

/// The operation that a blocking call waits for, as Reason::about. The object and its operation must stay in place
/// while the wait lasts.
template <class Op>
struct BlockedIn {
    Comm const& comm;
    Op const& op;
    char const* call;

    Reason reason() const { return {call, -1, -1, tell_of, this, comm.policy()}; }

private:
    static void tell_of(void const* about, Blockage& blockage) {
        auto const& self = *static_cast<BlockedIn const*>(about);
        blockage.call = std::string(self.call) + "(" + words(self.comm, self.op) + ")";
        tell(self.comm, self.op, blockage);
    }
};
template <class Op>
BlockedIn(Comm const&, Op const&, char const*) -> BlockedIn<Op>;

}   // namespace tutti::p2p
