// SPDX-License-Identifier: BSD-3-Clause
// A recording put together: calls of each rank in order, messages with both of their ends, collectives with all of
// their members, and names numbered alike for all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/recording/recording.hpp"

namespace tutti::launcher {

/// Why a call waited, in the words of the field (Scalasca's patterns: Wolf and Mohr, 2003).
enum class WaitCause : std::uint8_t {
    none,
    late_sender,
    late_receiver,
    wait_at_barrier,
    wait_at_collective,   ///< all need something of all (N x N)
    late_broadcast,       ///< all need something of the root
    early_reduce,         ///< the root needs something of all
    early_scan,           ///< a rank needs something of those before it
    never_ended,          ///< the call was not over when the job ended
    other,                ///< nobody was late: the message or the operation itself took its time
    last = other
};

struct RecordedCall {
    std::int64_t begin = 0, length = 0, waited = 0;   ///< nanoseconds; `begin` since the recording's begin
    int name = 0, place = 0;                          ///< in Timeline's lists
    int count = 1;                                    ///< equal calls that it stands for: looks of a polling loop
    int thread = 0;
    WaitCause cause = WaitCause::none;
    int culprit = -1;          ///< rank of the world that came last
    int culprit_place = 0;     ///< where it was late
    std::int64_t caused = 0;   ///< of `waited`, because of that
    std::string shown{};       ///< of one that never ended: with its arguments

    std::int64_t end() const { return begin + length; }
};

/// A call of a rank; −1: not known.
using CallIndex = std::int64_t;

struct RecordedMessage {
    int from = -1, to = -1;                  ///< world ranks; −1: that end was overwritten or never came
    std::int64_t sent = -1, received = -1;   ///< likewise
    std::int64_t bytes = 0;
    int tag = 0, comm = 0;
    bool receive_first = false;   ///< the receive had waited for it
    CallIndex send_call = -1, receive_call = -1;
};

struct CollectiveEntry {
    int rank = 0;   ///< of the world
    std::int64_t entry = 0;
    CallIndex call = -1;   ///< at whose end it leaves, as far as blocking ones are concerned
};

/// One call of a collective operation by all members of a communicator.
struct RecordedCollective {
    int algorithm = 0;   ///< in Timeline::algorithms
    int comm = 0;
    int root = -1;                          ///< rank of the world
    std::int64_t number = 0, bytes = 0;     ///< bytes: the largest of any member
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
    std::int64_t zero = 0, length = 0;   ///< the clock at its begin; nanoseconds from the first rank's start to the end
    std::vector<std::string> names, places;   ///< place 0 is unknown
    std::vector<Algorithm> algorithms;
    std::vector<RecordedComm> comms;
    std::vector<RankTimeline> ranks;
    std::vector<RecordedMessage> messages;         ///< by time of sending
    std::vector<RecordedCollective> collectives;   ///< by first entry

    /// Where a world rank's timeline is; null: it is not recorded.
    RankTimeline const* of_rank(int rank) const;
    RecordedCall const* call(int rank, CallIndex index) const;
};

Timeline timeline_of(Recording const& recording);

/// Says of each call that waited why, and who was late.
void explain_waits(Timeline& timeline);

/// "late sender"
std::string_view name_of(WaitCause cause);
/// What it means and what helps against it. `crowded`: where ranks outnumber cores, so that a late rank is mostly one
/// that had no core.
std::string_view advice_on(WaitCause cause, bool crowded = false);

}   // namespace tutti::launcher
