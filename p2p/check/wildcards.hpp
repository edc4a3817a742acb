// SPDX-License-Identifier: BSD-3-Clause
// Detects receives from any source that could have matched the message of another sender, whatever came first in this
// run.
//
// **Condition.** A receive R from any source has received message m, and a receive X that began after R has received
// message m' of another sender. m' could have matched R if R matches its tag, it is the first such message of its
// sender, and its send does not know that R was complete (VectorClock). DAMPI decides in the same way by Lamport
// clocks: Vo, Aananthakrishnan, Gopalakrishnan, de Supinski, Schulz, Bronevetsky, "A Scalable and Distributed Dynamic
// Formal Verifier for MPI Programs", SC 2010, section III; vector clocks miss no such pair and add none. All of it
// follows from the program's own order: delays, early receives and the order of arrival change which of two messages is
// m, but not the finding. What the sender of a synchronous message does after it also knows of R.
//
// **Exceptions.** Many correct programs do not depend on which message comes first. Nothing is reported if
//  * X could have received m as well (so no rank would wait for it), and the program reads both statuses: it can see
//    the sender in MPI_SOURCE, as a master with workers does;
//  * X could have received m, the program reads neither status, and the messages do not differ: they have the same tag,
//    and no data or the same data in the same buffer, such as messages that only say that a rank is done;
//  * X could have received m, the program reads neither status, both receives use MPI_ANY_TAG, and the messages have
//    the same tag: neither side distinguishes messages;
//  * both are receives with MPI_ANY_TAG into the same buffer that get equally many messages from all other members of
//    the communicator; or both are one receive in a loop that overwrites integers and gets equally many messages, more
//    than one, from each of its senders. Such a loop treats all senders alike. That is decided in MPI_Finalize, which
//    reports the other findings of this kind.
//
// Everything else is reported, once per call site of R.
//
// A message is identified by its piggyback (SendPiggyback in p2p/check/order.hpp). If the sender's knowledge is
// uncertain, nothing is reported. At most 1024 completed receives are remembered. Messages that are never received are
// reported separately (T07).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "p2p/check/order.hpp"
#include "p2p/matching/matching.hpp"
#include "runtime/diagnostic.hpp"

namespace tutti::p2p {

/// The state of one rank; called with its lock held. A receive is identified by the address of its request, or of its
/// operation if it has no request, from its beginning until it is completed or forgotten.
class Wildcards {
public:
    Wildcards(Matching& matching, VectorClock& clock)
        : matching_(matching), process_(matching.process()), clock_(clock) {}

    /// A receive begins. `buffer`: the program's buffer.
    void on_begin(void const* receive, Key const& wanted, std::byte const* buffer);
    /// The receive has its message, whose data is in `data`. Forgets the receive if the message has no piggyback.
    void on_arrived(void const* receive, Key const& message, Piggyback const& piggyback, Data const& data);
    /// MPI_Mprobe or MPI_Improbe with this key has removed a message from the matching queues: counts as a completed
    /// receive. MPI_Mrecv later shows whether the program reads the status.
    void on_mprobe(void const* receive, Key const& wanted, Unexpected const& message, bool status_read);
    /// The program knows that a receive on `comm` is complete. `status_read`: it reads the status.
    void on_complete(void const* receive, Comm const& comm, bool status_read);
    void forget(void const* receive) { open_.erase(receive); }
    /// Called by MPI_Finalize: reports the findings that could not be decided before.
    void report_deferred();

private:
    struct TrackedReceive {
        std::uint64_t sequence = 0;   ///< order of beginning
        Key wanted, message;
        Function function;
        std::uint64_t site = 0;
        std::byte const* buffer = nullptr;
        std::shared_ptr<SendPiggyback const> sent;   ///< null: the message has not arrived
        std::uint64_t content = 0;                   ///< digest of the data, for receives from any source
        bool is_empty = false;                       ///< the message has no data
        bool is_integer_data = false;                ///< the data consists of integers
        std::uint32_t known_at = 0;                  ///< the event of this rank by which it is complete; 0: it is not
        bool status_read = false;
        std::map<int, std::uint32_t> candidates{};   ///< by sender: the first message that could have matched it

        bool is_any() const { return wanted.source == any_source; }
    };
    /// Identifies receives from any source that may treat all senders alike: with MPI_ANY_TAG into one buffer, or by
    /// one call.
    using LoopKey = std::tuple<std::uint64_t, std::byte const*, std::uint64_t>;   ///< context, buffer, call site or 0
    struct Loop {
        std::map<int, std::uint64_t> messages;   ///< number of messages by sender
        std::size_t peers = 0;                   ///< members of the communicator other than this rank
    };
    /// A finding that is dropped if its loop turns out to treat all senders alike.
    struct Deferred {
        LoopKey loop;
        std::uint64_t site;
        std::vector<UsageError::Call> parts;
    };
    static LoopKey loop_of(TrackedReceive const& receive) {
        bool const is_any_tag = receive.wanted.tag == any_tag;
        return {receive.wanted.context, receive.buffer, is_any_tag ? 0 : receive.site};
    }
    static bool may_be_loop(TrackedReceive const& receive, TrackedReceive const& later);

    void compare(TrackedReceive& receive, TrackedReceive const& later, Comm const& comm);
    bool could_have_matched(TrackedReceive& receive, TrackedReceive const& later) const;
    bool is_first_of_its_sender(TrackedReceive const& receive, TrackedReceive const& later) const;
    bool is_benign(TrackedReceive const& receive, TrackedReceive const& later) const;
    void report(TrackedReceive const& receive, TrackedReceive const& later, Comm const& comm);
    void store_completed(TrackedReceive&& receive);

    static constexpr std::size_t max_completed = 1024;

    Matching& matching_;
    Process& process_;
    VectorClock& clock_;
    std::uint64_t begun_ = 0;
    std::map<void const*, TrackedReceive> open_;
    std::deque<TrackedReceive> completed_;   ///< from any source, ordered by `known_at`
    std::deque<TrackedReceive> later_;       ///< complete, and begun after a receive from any source that is still open
    std::map<LoopKey, Loop> loops_;
    std::vector<Deferred> deferred_;
    std::set<std::uint64_t> reported_;   ///< call sites of receives
};

}   // namespace tutti::p2p
