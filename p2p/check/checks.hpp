// SPDX-License-Identifier: BSD-3-Clause
// What `mpiexec --check` looks for in the messages of one rank: buffers that are touched while they are not the
// program's, receives that several senders could have met, requests that are given up. Called inside the rank's lock,
// with the program's own operations only. A mistake ends the job; what may be meant is a warning, once per place.
#pragma once

#include <set>
#include <utility>

#include "p2p/check/call_order.hpp"
#include "p2p/check/given_up.hpp"
#include "p2p/check/memory.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "p2p/check/order.hpp"
#include "p2p/check/pending.hpp"
#include "p2p/check/wildcards.hpp"
#include "p2p/matching/matching.hpp"
#include "runtime/diagnosis/mistake.hpp"

namespace tutti::p2p {

/// Messages of the program, not of the library itself or of a collective.
inline bool of_program(Key const& key) { return key.context >> 60 == 0; }

class Checks {
public:
    explicit Checks(Matching& matching)
        : process_(matching.process()), memory_(process_), order_(process_.cluster.size(), process_.rank()),
          given_up_(process_, order_), wildcards_(matching, order_) {}

    /// What this rank knows of the others. A layer that carries knowledge by other means than messages adds it here.
    Order& order() { return order_; }

    /// A send is about to begin. One of a request is kept until the program hears of its end.
    void sends(Send& op);
    /// A receive is about to begin, and may get its message at once. What a request receives is laid aside until all of
    /// it is there, so that it shows whether the program has touched the buffer, which it must not before it hears of
    /// the end. `at_once`: its message is here, and nobody can have touched anything before that is in the buffer.
    void receives(Receive& op, bool at_once = false);
    /// A receive of a call that waits for it has its message.
    void received(Receive const& op, Comm const& comm, bool status_taken);
    /// A probe has found a message.
    void seen(Unexpected const& message);
    /// As Wildcards has it, of a message that has become `owner`'s.
    void claimed(void const* owner, Key const& wanted, Unexpected const& message, bool status_taken) {
        wildcards_.claimed(owner, wanted, message, status_taken);
    }
    void claimed_received(void const* owner, Comm const& comm, bool status_taken) {
        wildcards_.completed(owner, comm, status_taken);
    }
    /// The message of a request is there, or the receive was cancelled: it goes to the buffer.
    void arrives(Request& request, Receive& op);
    /// The program hears of the end of a complete request.
    void settle(Request& request);
    /// MPI_Cancel: from now on the program may free the request.
    void cancels(Request const& request);
    /// The program will not, because it frees the request.
    void forget(Request& request);
    /// A request is gone.
    void gone(Request const& request) {
        wildcards_.forget(&request);
        pending_.remove(request);
    }

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
    /// MPI_Finalize: warns of those that never were, and of what is only known then.
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

    Note note_of(Send const& op);

    Process& process_;
    MappedMemory memory_;
    PendingOperations pending_;
    Order order_;
    GivenUp given_up_;
    Wildcards wildcards_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> overlapping_;   ///< places of two calls that have been reported
    std::set<std::uint64_t> without_memory_;                          ///< places of receives that a warning has named
};

}   // namespace tutti::p2p
