// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking operations that the program has not completed yet, found by their requests and by the memory that
// belongs to them until then; and requests that the program freed while they were active (FreedActiveRequests).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "p2p/check/order.hpp"
#include "p2p/matching/operation.hpp"
#include "runtime/base/function.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

/// Requests that the program freed while they were active. MPI permits that if the program learns by other means that
/// the operation is complete (MPI 4.1, 3.7.3):
///
///  * For a receive there are no such means, because its buffer cannot be read. MPI_Finalize always reports it, unless
///    it was cancelled.
///  * For a send, the receiver's answer or a collective can show it, and finally MPI_Finalize itself, as in the
///    standard's example of MPI_Isend, MPI_Request_free, MPI_Finalize. A program that frees the request immediately
///    after the start intends that. A program that keeps the request, receives messages of other ranks, and frees the
///    request where MPI_Wait is due mistakes MPI_Request_free for a completion. MPI_Finalize reports the request if no
///    message that this rank has received since came from a rank that knew of any event of this rank since the send
///    began (VectorClock), and no collective followed. That does not depend on whether the send was complete in this
///    run.
class FreedActiveRequests {
public:
    FreedActiveRequests(Process& process, VectorClock const& clock) : process_(process), clock_(clock) {}

    /// The time at which an operation began, for add().
    struct StartPoint {
        std::uint32_t event = 0;     ///< the last event of this rank; for a send, the send itself
        std::uint64_t updates = 0;   ///< value of VectorClock::updates
    };
    StartPoint start_point() const { return {clock_.last_event(), clock_.updates()}; }

    /// Called when the running call frees an active request that `call` began at `site`.
    void add(bool receives, StartPoint const& start, std::string call, std::uint64_t site);
    /// Called by MPI_Finalize: warns of requests whose completion the program cannot know.
    void finish();

private:
    struct Record {
        bool receives;
        std::uint32_t event;
        std::string call;
        std::uint64_t site, freed_at;
        int times;
    };
    static constexpr std::size_t max_records = 1024;   ///< different ones; bounds the memory that a loop takes

    Process& process_;
    VectorClock const& clock_;
    std::vector<Record> all_;
};

/// Stores a message until it may be written to its buffer.
class StagingBuffer {
public:
    std::byte* allocate(std::size_t bytes) {
        in_use_ = true;
        if (bytes > inline_.size()) heap_.reset(new std::byte[bytes]);
        return get();
    }
    void reset() {
        in_use_ = false;
        heap_.reset();
    }
    /// Returns null if no memory is in use.
    std::byte* get() { return !in_use_ ? nullptr : heap_ ? heap_.get() : inline_.data(); }

private:
    bool in_use_ = false;
    std::unique_ptr<std::byte[]> heap_;   ///< null: the message fits into `inline_`
    std::array<std::byte, 64> inline_{};
};

class OperationBuffers;

struct Pending {
    Request const* request;   ///< null: one buffer of an operation that may have several
    bool receives;
    Data data;                             ///< the program's memory
    std::optional<std::uint64_t> digest;   ///< digest of `data` at the beginning; none: unknown
    Function function;                     ///< the function that began the operation
    std::uint64_t site;                    ///< its call site
    Function comm_freed_by{};              ///< the function that has freed its communicator; none: not freed
    std::uint64_t comm_freed_at = 0;       ///< its call site
    bool is_freed = false;                 ///< freed by MPI_Request_free; removed when its message has arrived
    FreedActiveRequests::StartPoint start{};
    bool is_cancelled = false;               ///< MPI_Cancel was called, whatever its result
    StagingBuffer staging{};                 ///< temporary memory for the message; empty: received directly into `data`
    OperationBuffers* operation = nullptr;   ///< the operation that this buffer belongs to; null: a send or receive

    /// Describes the operation: "MPI_Isend(4 MPI_INT to rank 1, tag 8, MPI_COMM_WORLD)".
    std::string describe() const;
    /// Returns the role of the buffer in the operation: "send".
    char const* role() const;
    /// Returns until when the buffer must not be used: "MPI_Wait or MPI_Test reports that the send is complete".
    char const* reuse_condition() const;
    /// Returns the calls that complete the operation: "MPI_Wait".
    char const* completing_calls() const;
};

class PendingOperations {
    // Operations begin and end with every message, so the nodes of the tree are reused.
    using ByAddress = std::multimap<std::uintptr_t, Pending>;

public:
    using Part = ByAddress::iterator;

    /// Adds an operation and replaces an earlier one of the same request. Data with gaps is not checked for overlaps,
    /// because other operations may use the gaps. The returned object stays in place until it is removed.
    Pending& add(Pending&& operation);
    Pending* find(Request const& request);
    /// Allocates nothing, as remove_part.
    void remove(Request const& request);
    /// Adds one buffer of an operation. The part stays valid until it is removed.
    Part add_part(Pending&& part);
    void remove_part(Part part);
    /// Returns an operation whose memory overlaps `data`. Null: there is none, or `data` has gaps. `also_sends`:
    /// consider the buffers of sends as well as those of receives.
    Pending const* overlapping(Data const& data, bool also_sends) const;
    /// Returns the operations on this communicator.
    std::vector<Pending*> on(Comm const& comm);
    /// Returns the operations whose communicator has been freed.
    std::vector<Pending const*> with_freed_comm() const;

private:
    struct Entry {
        Request const* request = nullptr;   ///< null: the entry is empty
        ByAddress::iterator at;
    };

    std::size_t home_index(Request const* request) const;
    std::size_t next(std::size_t index) const { return (index + 1) & (table_.size() - 1); }
    std::size_t index_of(Request const* request) const;
    void grow();
    void close_gap(std::size_t gap);

    ByAddress all_;                             ///< by start address
    std::vector<ByAddress::node_type> spare_;   ///< has room for all nodes
    /// Open addressing by request, linear probing. The size is a power of two, and at most half of it is used.
    std::vector<Entry> table_ = std::vector<Entry>(64);
    std::size_t longest_ = 0;   ///< the largest number of bytes of any operation so far
};

}   // namespace tutti::p2p
