// SPDX-License-Identifier: BSD-3-Clause
// The checks of `mpiexec --check` on the messages of one rank: buffers that the program uses during an operation,
// receives that several senders could have matched, requests and communicators freed too early. All functions are
// called with the rank's lock held, and with operations of the program only. An error ends the job; what may be
// intended is a warning, issued once per call site.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "p2p/check/mapped_memory.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "p2p/check/order.hpp"
#include "p2p/check/pending.hpp"
#include "p2p/check/wildcards.hpp"
#include "p2p/matching/matching.hpp"
#include "p2p/matching/operation.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/diagnostic.hpp"

namespace tutti::p2p {

/// Returns true for messages of the program, false for those of the library itself or of a collective.
inline bool is_user_point_to_point(Key const& key) { return key.context >> 60 == 0; }

class Checks {
public:
    explicit Checks(Matching& matching)
        : process_(matching.process()), memory_(process_), clock_(process_.cluster.size(), process_.rank()),
          freed_active_(process_, clock_), wildcards_(matching, clock_) {}

    /// The knowledge that this rank has of the events of other ranks. A layer that conveys such knowledge by other
    /// means than messages adds it here.
    VectorClock& vector_clock() { return clock_; }

    /// Called before a send begins. The send of a request is kept until the program is notified of its completion.
    void on_send(Send& op);
    /// Called before a receive begins, which may match immediately. The data for a request is stored elsewhere until it
    /// is complete, unless it is too large, to detect whether the program has changed the buffer, which it must not
    /// before it is notified of the completion. `already_arrived`: the message has already arrived, so the buffer
    /// cannot be changed before the data is in it.
    void on_receive(Receive& op, bool already_arrived = false);
    /// Called when the receive of a blocking call has its message. `status_read`: the program reads the status.
    void on_blocking_receive(Receive const& op, Comm const& comm, bool status_read);
    /// Called when a probe has found a message.
    void on_probe(Unexpected const& message);
    /// As Wildcards::on_mprobe and on_complete, for MPI_Mprobe and MPI_Mrecv. `owner` identifies the receive.
    void on_mprobe(void const* owner, Key const& wanted, Unexpected const& message, bool status_read) {
        wildcards_.on_mprobe(owner, wanted, message, status_read);
    }
    void on_mrecv(void const* owner, Comm const& comm, bool status_read) {
        wildcards_.on_complete(owner, comm, status_read);
    }
    /// Called when the message of a request has arrived completely, or the receive was cancelled: moves the data to the
    /// buffer.
    void on_arrived(Request& request, Receive& op);
    /// Called when the program is notified of the completion of a request.
    void before_completion(Request& request);
    /// Called by MPI_Cancel: the program may free the request from now on.
    void on_cancel(Request const& request);
    /// Called by MPI_Request_free: the program will not be notified.
    void on_request_free(Request& request);
    /// Called when a request is destroyed.
    void on_request_destroyed(Request const& request) {
        wildcards_.forget(&request);
        pending_.remove(request);
    }

    /// Ends the job if memory that the running call is about to use belongs to a pending operation. `receives`: the
    /// call writes to it.
    void check_overlap(Data const& data, bool receives) const;
    /// Called before an operation of the program begins; its buffers belong to it from now on.
    void on_begin(OperationBuffers& buffers);
    /// Called when everything that the operation receives has arrived.
    void on_arrived(OperationBuffers& buffers);
    /// Called before the program is notified of the completion. May be called repeatedly.
    void before_completion(OperationBuffers& buffers);
    /// Called when the operation no longer uses its buffers and their contents need no comparison.
    void release(OperationBuffers& buffers);

    /// Called by MPI_Comm_free: pending operations continue and may still be completed.
    void on_comm_free(Comm const& comm, Function function);
    /// Called by MPI_Comm_disconnect: ends the job if there are pending operations.
    void on_comm_disconnect(Comm const& comm, Function function);
    /// Called by MPI_Finalize: warns of operations that were never completed, and of findings that are decided only
    /// then.
    void on_finalize();

    CallOrder call_order;

private:
    Pending& add_pending(Data const& data, Request& request, bool receives, std::optional<std::uint64_t> digest);
    std::optional<std::uint64_t> digest_if_mapped(Data const& data);
    void compare(Pending const& pending);
    /// Handles a one-sided operation that writes to the results of earlier ones: warns, once per pair of call sites.
    void release_overlapped_results(OperationBuffers const& buffers, Data const& data);
    /// Reports by `emit`: report() or warn().
    void report_overlap(Pending const& other, Data const& data, bool receives,
                        void (*emit)(Process&, UsageError const&)) const;
    /// Warns, once per call site, if the memory of a receive buffer is not all mapped.
    void check_buffer_mapped(Receive const& op);
    [[noreturn]] void report_changed(Pending const& pending, bool freed) const;
    std::string describe_call(Data const& data) const;

    Piggyback make_piggyback(Send const& op);

    Process& process_;
    MappedMemory memory_;
    PendingOperations pending_;
    VectorClock clock_;
    FreedActiveRequests freed_active_;
    Wildcards wildcards_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> reported_overlaps_;   ///< pairs of call sites that were reported
    std::set<std::uint64_t> reported_unmapped_;   ///< call sites of receives that were reported
};

// Digests of buffers, computed at memory bandwidth, to detect whether a buffer has changed.

/// Returns the memory range that contains all elements of `data`, including gaps.
AddressRange range_of(Data const& data);
/// Returns a digest of the bytes of the elements, without gaps. All of their memory must be mapped. The digests of two
/// buffers differ if exactly one word of eight bytes differs, and with probability 1 − 2⁻⁶⁴ if several do.
std::uint64_t digest_of(Data const& data);

}   // namespace tutti::p2p
