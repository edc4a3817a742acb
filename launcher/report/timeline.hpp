// SPDX-License-Identifier: BSD-3-Clause
// A recording, assembled: the calls of each rank in order, messages with both of their ends, collectives with all of
// their members, and names with the same numbers for all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/recording.hpp"

namespace tutti::launcher {

/// Why a call waited: Scalasca's patterns (Wolf and Mohr, 2003).
enum class WaitCause : std::uint8_t {
    none,
    late_sender,
    late_receiver,
    wait_at_barrier,
    wait_at_collective,   ///< all ranks need data of all ranks (N x N)
    late_broadcast,       ///< all ranks need data of the root
    early_reduce,         ///< the root needs data of all ranks
    early_scan,           ///< a rank needs data of the ranks before it
    never_ended,          ///< the call had not returned when the job ended
    other,                ///< no rank was late: the message or the operation itself took the time
    last = other
};

struct RecordedCall {
    std::int64_t begin = 0, length = 0, waited = 0;   ///< nanoseconds; `begin` since Timeline::zero
    int name = 0, source_line = 0;                    ///< indices in Timeline's lists
    int count = 1;   ///< number of equal calls that it stands for: the tests of a polling loop
    int thread = 0;
    WaitCause cause = WaitCause::none;
    int culprit = -1;            ///< world rank that arrived last
    int culprit_line = 0;        ///< where that rank was late
    std::int64_t caused = 0;     ///< part of `waited` that this explains
    std::string description{};   ///< for a call that never ended: the call with its arguments

    std::int64_t end() const { return begin + length; }
};

/// Index of a call in its rank's list; −1: unknown.
using CallIndex = std::int64_t;

struct RecordedMessage {
    int from = -1, to = -1;                  ///< world ranks; −1: this end was overwritten or never recorded
    std::int64_t sent = -1, received = -1;   ///< −1 likewise
    std::int64_t bytes = 0;
    int tag = 0, comm = 0;
    bool receive_first = false;   ///< the receive was posted before the message arrived
    CallIndex send_call = -1, receive_call = -1;
};

struct CollectiveEntry {
    int rank = 0;   ///< in MPI_COMM_WORLD
    std::int64_t entry = 0;
    CallIndex call = -1;   ///< the member leaves a blocking collective at the end of this call
};

/// One call of a collective operation by all members of a communicator.
struct RecordedCollective {
    int algorithm = 0;   ///< index in Timeline::algorithms
    int comm = 0;
    int root = -1;                          ///< world rank
    std::int64_t number = 0, bytes = 0;     ///< bytes: maximum over the members
    std::vector<CollectiveEntry> entries;   ///< by time
};

struct Algorithm {
    std::string collective, levels, name;   ///< "bcast", "numa+node", "pipelined_chain"
};

struct RankTimeline {
    int rank = 0;
    std::int64_t started = 0, ended = 0, complete_from = 0;
    std::vector<RecordedCall> calls;   ///< by begin
};

struct Timeline {
    /// `zero`: clock value at the first rank's start; `length`: nanoseconds from there to the last rank's end
    std::int64_t zero = 0, length = 0;
    std::vector<std::string> names, source_lines;   ///< source line 0 means unknown
    std::vector<Algorithm> algorithms;
    std::vector<RecordedComm> comms;
    std::vector<RankTimeline> ranks;
    std::vector<RecordedMessage> messages;         ///< by time of sending
    std::vector<RecordedCollective> collectives;   ///< by first entry

    /// Returns the timeline of a world rank; null if it was not recorded.
    RankTimeline const* rank_timeline(int rank) const;
    /// Returns a call of a world rank; null if it is unknown.
    RecordedCall const* call(int rank, CallIndex index) const;
};

/// Assembles a recording. classify_waits adds the causes of waits.
Timeline timeline_of(Recording const& recording);

/// Determines for each call that waited why it did, and which rank was late.
void classify_waits(Timeline& timeline);

/// Returns the cause's name, such as "late sender".
std::string_view name_of(WaitCause cause);
/// Returns what the cause means.
std::string_view meaning_of(WaitCause cause);
/// Returns what helps against it. `oversubscribed`: the node is oversubscribed, so that a late rank mostly had no core.
std::string_view advice_for(WaitCause cause, bool oversubscribed = false);

}   // namespace tutti::launcher
