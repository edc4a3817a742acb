// SPDX-License-Identifier: BSD-3-Clause
// Calls compared between nodes. Of each communicator over several nodes the lowest rank of a node (its master) sends
// its calls to the master of the next node, in batches that no rank waits for, and compares its own with those that
// come from the previous one. Together with the comparisons on each node (call_records.hpp) this covers all members and
// calls, however far apart the nodes are. MPI_Finalize waits for what is still on its way.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "coll/match/call_record.hpp"
#include "coll/match/differences.hpp"
#include "coll/match/mail.hpp"
#include "coll/match/starts.hpp"

namespace tutti {
class Comm;
class Process;
}   // namespace tutti

namespace tutti::coll {

/// Consecutive calls of one rank on a communicator.
struct CallBatch {
    static constexpr std::size_t most = MemberRecords::block;   ///< calls

    std::uint64_t context = 0;
    std::uint64_t first = 1;             ///< number of the first call
    bool is_last = false;                ///< the rank makes no more calls,
    Starts starts;                       ///< and, where this is known, will start no persistent collective any more
    std::vector<std::uint8_t> calls;     ///< by number, places in `records`
    std::vector<RecordedCall> records;   ///< the different ones; number 0: it is not known

    std::uint64_t end() const { return first + calls.size(); }
    RecordedCall const& call(std::uint64_t number) const { return records[calls[number - first]]; }
    void add(RecordedCall const& call);

    std::vector<std::byte> to_bytes() const;
    static CallBatch from_bytes(std::span<std::byte const> bytes);
};

/// Of a process.
class NodeExchange {
public:
    explicit NodeExchange(Process& process) : process_(process), mail_(process, batch_tag) {}
    NodeExchange(NodeExchange const&) = delete;
    NodeExchange& operator=(NodeExchange const&) = delete;

    /// Sends calls of this rank, the master of its node in `comm`, to the next node; to be compared here, too. Batches
    /// of a communicator come in order.
    void give(Comm const& comm, Wording const& wording, CallBatch batch);
    /// Compares with what has come meanwhile. Does not return where it finds an error.
    void take();
    /// MPI_Finalize, when all communicators have given their last batch: waits for those of the other nodes.
    void finish();

private:
    /// With the neighbouring nodes about one communicator.
    struct Conversation {
        int next = -1, previous = -1;   ///< ranks of MPI_COMM_WORLD
        Wording wording;
        bool errors_return = false;   ///< as CallRecords::errors_return
        bool is_last_given = false, is_last_taken = false;
        std::deque<CallBatch> given, taken;   ///< not compared yet
        Starts given_starts, taken_starts;
    };
    static constexpr int batch_tag = 1402;   // of messages in the library's own context
    /// Of each side, so that a node that is far behind takes no memory without bounds: older ones are not compared.
    static constexpr std::size_t most_batches = 256;

    Conversation& conversation(Comm const& comm, Wording const& wording);
    void take(CallBatch batch);
    void compare(std::uint64_t context);
    void report(Conversation const& about, RecordedCall const& here, RecordedCall const& there, Difference what);

    Process& process_;
    Mail mail_;
    std::map<std::uint64_t, Conversation> conversations_;   ///< by context
};

}   // namespace tutti::coll
