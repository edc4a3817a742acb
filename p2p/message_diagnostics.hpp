// SPDX-License-Identifier: BSD-3-Clause
// Reports of errors in the messages of the program: type mismatches, sends to the own rank that block, messages that
// are never received.
#pragma once

#include <span>

#include "p2p/p2p.hpp"

namespace tutti::p2p {

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
