// SPDX-License-Identifier: BSD-3-Clause
// Mistakes of the program in its messages, put into words for whoever reports them.
#pragma once

#include <span>

#include "p2p/p2p.hpp"

namespace tutti::p2p {

/// A receive has got a message of other types (Receive::other_types): ends the job with what both sides do, by the MPI
/// function `call` that has completed it. Says nothing where errors are the program's to handle.
void tell_types(Comm const& comm, Receive const& op, char const* call);

/// A blocking send to this rank itself, for which no receive has begun, and no other thread can begin one: ends the job
/// as a deadlock. Throws where errors are the program's to handle.
[[noreturn]] void refuse_send_to_oneself(Comm const& comm, Send const& op, char const* call);

/// Warns of messages that have arrived and nobody has received. `comms`: all that the program has. For MPI_Finalize,
/// when nothing more comes.
void tell_messages_left(Process& process, std::span<Comm const* const> comms);

}   // namespace tutti::p2p
