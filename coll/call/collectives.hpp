// SPDX-License-Identifier: BSD-3-Clause
// The collectives as mpi_h/ calls them, each in three forms from one algorithm: at once, as a request, as a
// persistent request (MPI 3.1, chapter 5; MPI 4.0, 6.13). Arguments are checked already, parameters are filled in here.
#pragma once

#include <vector>

#include "coll/call/bytes.hpp"
#include "coll/env/arguments.hpp"
#include "coll/match/call_record.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::coll {

/// Lists made for the call that its arguments point to; they may go when it returns.
struct Lists {
    std::vector<Datatype const*> send_types, receive_types;
    std::vector<int> counts;
};

/// What is called, whatever its form. Args is the type of the collective (ArgsOf, coll/algorithms/algorithm.hpp).
template <class Args>
struct BoundCall {
    Comm& comm;
    Collective collective;
    Args args;
    std::uint32_t choice_key = 0;   ///< under which its communicator's choices have its decision; 0: not known yet
    std::uint8_t function = 0;      ///< of the program's call (coll/match/functions.hpp); 0: the call is the library's
    CallRecord::Prepared note{};    ///< of that, once it has been run
};

/// Whom a call waits for, if its function waits at all: its members; members and other ranks; no rank.
enum class Waits { for_members, for_others, for_none };

/// Notes a call of the program that makes a communicator or the like, which all members of `comm` make. Under --check
/// one that waits for its members alone lets them wait for each other.
void note(Comm& comm, char const* function, Waits waits = Waits::for_members);
/// The program's call on `comm` orders ranks in a way that --check does not follow (p2p/check/order.hpp).
void forget_order(Comm const& comm);
/// MPI_Comm_free, MPI_Win_free: have the members of this communicator called the same? Each compares as far as it sees.
void compare_last_calls(Comm const& comm);
/// MPI_Finalize: the same of all communicators.
void compare_calls(Process const& process);
/// Before an error of a call on `comm` ends the job: reports the reason instead, if that is that other members call
/// another collective or with other arguments. Returns where it is not, or not known.
void report_mismatch(Comm const& comm, Error const& error);
/// MPI_Finalize, of all ranks: between nodes.
void finish_comparing_between_nodes(Process const& process);

/// Blocking. What is found out about the call (kernels, key, parameters) is filled in; the same call, with other
/// addresses, may then be run again and again.
template <class Args>
void run(BoundCall<Args>& call);
template <class Args>
void run(BoundCall<Args>&& call) {
    run(call);
}

/// Nonblocking: begun as far as it goes without waiting. Buffers belong to it until it is complete; communicator,
/// datatypes and operator may be freed before, and all lists that the arguments point to when this returns.
template <class Args>
Ref<Request> start(BoundCall<Args> const& call);

/// Persistent: the algorithm is chosen and memory agreed upon now, which is collective; MPI_Start begins it, in any
/// order with other calls. It, too, has lists of its own.
template <class Args>
Ref<Request> init(BoundCall<Args> const& call);

}   // namespace tutti::coll
