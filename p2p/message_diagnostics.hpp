// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of sends, receives and probes for reports: of a wait that has become long, and of errors in the messages
// of the program.
#pragma once

#include <span>
#include <string>

#include "p2p/matching/operation.hpp"
#include "p2p/p2p.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {

/// Describes an operation: "1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD". For messages of the library itself, returns
/// the name of the communicator only. Ranks are those of `comm`, the communicator of the operation.
std::string describe_operation(Comm const& comm, Send const& op);
std::string describe_operation(Comm const& comm, Receive const& op);
std::string describe_operation(Comm const& comm, Key const& probe);

/// Return the kind of a call that waits for the operation.
CallKind kind_of(Send const& op);
CallKind kind_of(Receive const& op);
CallKind kind_of(Key const& probe);

/// Adds to `blocked` the ranks that could complete the operation, and a hint if an unexpected message differs from the
/// awaited one in its tag or source only.
void add_awaited_ranks(Comm const& comm, Send const& op, BlockedCall& blocked);
void add_awaited_ranks(Comm const& comm, Receive const& op, BlockedCall& blocked);
void add_awaited_ranks(Comm const& comm, Key const& probe, BlockedCall& blocked);

/// The operation that a blocking call waits for, as Reason::about. The object and its operation must stay in place
/// while the wait lasts.
template <class Op>
struct AwaitedOperation {
    Comm const& comm;
    Op const& op;
    char const* call;

    Reason reason() const { return {call, -1, -1, describe, this, comm.policy()}; }

private:
    static void describe(void const* about, BlockedCall& blocked) {
        auto const& self = *static_cast<AwaitedOperation const*>(about);
        blocked.call = std::string(self.call) + "(" + describe_operation(self.comm, self.op) + ")";
        blocked.kind = kind_of(self.op);
        add_awaited_ranks(self.comm, self.op, blocked);
    }
};
template <class Op>
AwaitedOperation(Comm const&, Op const&, char const*) -> AwaitedOperation<Op>;

// Reports of errors in the messages of the program: type mismatches, sends to the own rank that block, messages that
// are never received.

/// Reports a receive whose message has other types than the receive (Receive::mismatched_types) and ends the job. The
/// report names both sides; `call` is the MPI function that completed the receive. Has no effect for messages of the
/// library itself, if the communicator's errors are not fatal, or with TUTTI_DIAGNOSIS=no.
void report_type_mismatch(Comm const& comm, Receive const& op, char const* call);

/// Reports a blocking send of this rank to itself for which no receive has begun and no other thread can begin one, and
/// ends the job as deadlocked. Throws an error instead if the communicator's errors are not fatal.
[[noreturn]] void report_self_send(Comm const& comm, Send const& op, char const* call);

/// Warns of messages that have arrived and were never received. `comms`: all communicators of the program. Must be
/// called in MPI_Finalize, when no more messages can arrive.
void report_unreceived_messages(Process& process, std::span<Comm const* const> comms);

}   // namespace tutti::p2p
