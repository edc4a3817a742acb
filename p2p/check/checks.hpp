// SPDX-License-Identifier: BSD-3-Clause
// What `mpiexec --check` looks for in the messages of one rank: buffers that are touched while they are not the
// program's, and receives that several senders could have met. Called inside the rank's lock, with the program's own
// operations only. A mistake ends the job; what may be meant is a warning, once per place.
#pragma once

#include <set>
#include <utility>

#include "p2p/check/call_order.hpp"
#include "p2p/check/memory.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "p2p/check/pending.hpp"
#include "p2p/matching/matching.hpp"
#include "runtime/diagnosis/mistake.hpp"

namespace tutti::p2p {

/// Messages of the program, not of the library itself or of a collective.
inline bool of_program(Key const& key) { return key.context >> 60 == 0; }

class Checks {
public:
    explicit Checks(Matching& matching) : matching_(matching), process_(matching.process()), memory_(process_) {}

    /// A send is about to begin. One of a request is kept until the program hears of its end.
    void sends(Send& op);
    /// A receive is about to begin, and may get its message at once. What a request receives is laid aside until all of
    /// it is there, so that it shows whether the program has touched the buffer, which it must not before it hears of
    /// the end. `at_once`: its message is here, and nobody can have touched anything before that is in the buffer.
    void receives(Receive& op, bool at_once = false);
    /// A receive from any source has begun and may have its message: warns when another sender's was there as well.
    void look_for_race(Receive const& op);
    /// The message of a request is there, or the receive was cancelled: it goes to the buffer.
    void arrives(Request& request, Receive& op);
    /// The program hears of the end of a complete request.
    void settle(Request& request);
    /// The program will not.
    void forget(Request& request);
    /// A request is gone.
    void gone(Request const& request) { pending_.remove(request); }

    /// The running call is about to use this memory: ends the job where a pending operation has it. `receives`: it
    /// writes to it.
    void refuse_overlap(Data const& data, bool receives) const;
    /// An operation of the program is about to begin, and has these buffers from now on.
    void begins(OperationBuffers& buffers);
    /// All that it receives is there.
    void arrives(OperationBuffers& buffers);
    /// The program is about to be notified that it is complete. May be called again.
    void settle(OperationBuffers& buffers);
    /// It has its buffers no more, and what is in them does not matter.
    void ends(OperationBuffers& buffers);

    /// MPI_Comm_free: operations that are not complete go on, and may still be completed.
    void communicator_freed(Comm const& comm, char const* call);
    /// MPI_Comm_disconnect: ends the job when there are any.
    void communicator_disconnected(Comm const& comm, char const* call);
    /// MPI_Finalize: warns of those that never were.
    void finish();

    CallOrder call_order;

private:
    Pending& keep(Data const& data, Request& request, bool receives, std::optional<std::uint64_t> digest);
    std::optional<std::uint64_t> digest_if_mapped(Data const& data);
    void compare(Pending const& pending);
    /// A one-sided operation that begins writes to the results of earlier ones: warns, once for each two places.
    void give_up_results(OperationBuffers const& buffers, Data const& data);
    /// By report() or warn().
    void tell_overlap(Pending const& other, Data const& data, bool receives,
                      void (*tell)(Process&, Mistake const&)) const;
    void look_for_memory(Receive const& op);
    [[noreturn]] void tell_changed(Pending const& pending, bool freed) const;
    std::string call_in_words(Data const& data) const;

    Matching& matching_;
    Process& process_;
    MappedMemory memory_;
    PendingOperations pending_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> overlapping_;   ///< places of two calls that have been reported
    std::set<std::uint64_t> raced_, without_memory_;   ///< places of receives of which a warning has been told
};

}   // namespace tutti::p2p
