// SPDX-License-Identifier: BSD-3-Clause
// What is told of a send, a receive or a probe that somebody has waited for for long.
#pragma once

#include <string>

#include "p2p/matching/operation.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {

/// "1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD"; of the library's own messages the communicator alone. Ranks are
/// those of the communicator, on which the operation is.
std::string words(Comm const& comm, Send const& op);
std::string words(Comm const& comm, Receive const& op);
std::string words(Comm const& comm, Key const& probe);

/// Whose act would end the operation, and whether a message that has come is nearly the one that is waited for.
void tell(Comm const& comm, Send const& op, Blockage& blockage);
void tell(Comm const& comm, Receive const& op, Blockage& blockage);
void tell(Comm const& comm, Key const& probe, Blockage& blockage);

/// An operation that a blocking call waits for, as Reason::about.
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
