// SPDX-License-Identifier: BSD-3-Clause
// Comparison of calls between nodes. For each communicator over several nodes, the lowest rank of each node (its
// master) sends its calls to the master of the next node, in batches that no rank waits for, and compares its own calls
// with those it receives from the previous node. Together with the comparisons on each node (call_records.hpp) this
// covers all members and all calls, however far apart the nodes are. MPI_Finalize waits for batches in flight.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "coll/match/amounts.hpp"
#include "coll/match/call_record.hpp"

namespace tutti {
class Comm;
class Process;
}   // namespace tutti

namespace tutti::coll {

/// Consecutive calls of one rank on a communicator.
struct CallBatch {
    static constexpr std::size_t max_calls = MemberRecords::block;   ///< calls

    std::uint64_t context = 0;
    std::uint64_t first = 1;             ///< number of the first call
    bool is_last = false;                ///< the rank makes no more calls,
    Starts starts;                       ///< and, if starts.rank is not −1, starts no more persistent collectives
    std::vector<std::uint8_t> calls;     ///< by number: index into `records`
    std::vector<RecordedCall> records;   ///< the distinct calls; number 0: not known

    std::uint64_t end() const { return first + calls.size(); }
    RecordedCall const& call(std::uint64_t number) const { return records[calls[number - first]]; }
    void add(RecordedCall const& call);

    std::vector<std::byte> to_bytes() const;
    static CallBatch from_bytes(std::span<std::byte const> bytes);
};

/// Exchanges batches for all communicators of a process.
class NodeExchange {
public:
    explicit NodeExchange(Process& process) : process_(process), mailbox_(process, batch_tag) {}
    NodeExchange(NodeExchange const&) = delete;
    NodeExchange& operator=(NodeExchange const&) = delete;

    /// Sends calls of this rank, the master of its node in `comm`, to the next node, and keeps them for comparison
    /// here. Batches of a communicator must be given in order.
    void send(Comm const& comm, NameLookup const& names, CallBatch batch);
    /// Receives and compares the batches that have arrived. Does not return if it finds an error.
    void receive();
    /// Called in MPI_Finalize after all communicators have given their last batch: waits for the last batches of the
    /// other nodes.
    void finish();

private:
    /// The exchange with the neighbouring nodes about one communicator.
    struct NodePair {
        int next = -1, previous = -1;   ///< ranks in MPI_COMM_WORLD
        NameLookup names;
        bool errors_return = false;   ///< as CallRecords::errors_return
        bool is_last_sent = false, is_last_received = false;
        std::deque<CallBatch> sent, received;   ///< not compared yet
        Starts sent_starts, received_starts;
    };
    static constexpr int batch_tag = 1402;   // messages in the library's own context
    /// Bounds the memory on each side if another node is far behind: older batches are dropped without comparison.
    static constexpr std::size_t max_batches = 256;

    NodePair& pair_of(Comm const& comm, NameLookup const& names);
    void receive(CallBatch batch);
    void compare(std::uint64_t context);
    void report(NodePair const& pair, RecordedCall const& here, RecordedCall const& there, Difference what);

    Process& process_;
    Mailbox mailbox_;
    std::map<std::uint64_t, NodePair> pairs_;   ///< by context
};

}   // namespace tutti::coll
