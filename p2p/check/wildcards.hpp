// SPDX-License-Identifier: BSD-3-Clause
// Receives from any source that could have met the message of another sender, whatever came first in this run.
//
// **When.** A receive R from any source has taken message m, and a receive X that was begun after R has taken message
// m' of another sender. m' could have come to R if R takes its tag, it is the first such message of its sender, and its
// send does not know that R was complete (Order; DAMPI decides in the same way by Lamport clocks: Vo, Aananthakrishnan,
// Gopalakrishnan, de Supinski, Schulz, Bronevetsky, "A Scalable and Distributed Dynamic Formal Verifier for MPI
// Programs", SC 2010, section III; vector clocks leave out none and add none). All of it follows from the program's own
// order: pauses, early receives and the order of arrival change which of two messages is m, and not the finding. What
// the sender of a synchronous message does behind it knows of R, too.
//
// **What is no finding.** Many right programs do not care which message comes first. Nothing is said where
//  * X could have taken m as well (so no rank would wait for it), and the program takes both statuses: it can see in
//    MPI_SOURCE whom it has received from, as masters of workers do;
//  * X could have taken m, it takes neither status, and the messages do not differ: they have the same tag, and no
//    data, or the same data in the same buffer, as those that say only that a rank is done;
//  * X could have taken m, it takes neither status, both receive with MPI_ANY_TAG, and the messages have the same tag:
//    neither side tells messages apart;
//  * both are receives with MPI_ANY_TAG into the same buffer that get equally many messages from all other members of
//    the communicator, or one receive in a loop that overwrites whole numbers, of which it gets equally many, and more
//    than one, from each of its senders: such a loop treats all alike. That is known in MPI_Finalize, which reports the
//    others of this kind.
// Everything else is reported, once per place of R.
//
// A message is known by its note (sent_note.hpp). Where knowledge is uncertain, nothing is said. Of all receives that
// are complete 1024 are remembered, and messages that are never received are reported as such (T07).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "p2p/check/sent_note.hpp"
#include "p2p/matching/matching.hpp"
#include "runtime/diagnosis/mistake.hpp"

namespace tutti::p2p {

/// Of one rank; called inside its lock. A receive is named by the address of its request, or of its operation where it
/// has none, from its beginning until it is completed or forgotten.
class Wildcards {
public:
    Wildcards(Matching& matching, Order& order) : matching_(matching), process_(matching.process()), order_(order) {}

    /// A receive begins. `buffer`: the program's.
    void begins(void const* receive, Key const& wanted, std::byte const* buffer);
    /// It has its message, whose data lies in `data`, or the receive has no message that is known.
    void arrives(void const* receive, Key const& message, Note const& note, Data const& data);
    /// A message is taken out of matching by MPI_Mprobe or MPI_Improbe with this key: that is a receive which is
    /// complete, and of which it is known by MPI_Mrecv how the program completes it.
    void claimed(void const* receive, Key const& wanted, Unexpected const& message, bool status_taken);
    /// The program knows that a receive on `comm` is complete, and takes its status or not.
    void completed(void const* receive, Comm const& comm, bool status_taken);
    void forget(void const* receive) { open_.erase(receive); }
    /// MPI_Finalize: reports what could not be decided before.
    void finish();

private:
    struct Received {
        std::uint64_t sequence = 0;   ///< of its beginning
        Key wanted, message;
        char const* call = nullptr;
        std::uint64_t site = 0;
        std::byte const* buffer = nullptr;
        std::shared_ptr<SentNote const> sent;   ///< null: its message is not there
        std::uint64_t content = 0;              ///< digest, of a receive from any source
        bool is_empty = false;                  ///< a message without data
        bool is_whole = false;                  ///< of integers
        std::uint32_t known_at = 0;             ///< the event of this rank by which it is complete; 0: it is not
        bool status_taken = false;
        std::map<int, std::uint32_t> met{};   ///< by sender: the first message that could have come to it

        bool is_any() const { return wanted.source == any_source; }
    };
    /// Receives from any source that may treat all senders alike: with MPI_ANY_TAG into one buffer, or by one call.
    using LoopKey = std::tuple<std::uint64_t, std::byte const*, std::uint64_t>;   ///< context, buffer, place or 0
    struct Loop {
        std::map<int, std::uint64_t> messages;   ///< by sender, how many
        std::size_t peers = 0;                   ///< members of the communicator but this rank
    };
    /// A finding that is none if the loop it belongs to turns out to treat all senders alike.
    struct Deferred {
        LoopKey loop;
        std::uint64_t site;
        std::vector<Mistake::Part> parts;
    };
    static LoopKey loop_of(Received const& receive) {
        bool const is_any_tag = receive.wanted.tag == any_tag;
        return {receive.wanted.context, receive.buffer, is_any_tag ? 0 : receive.site};
    }
    static bool may_be_loop(Received const& receive, Received const& later);

    void compare(Received& receive, Received const& later, Comm const& comm);
    bool could_meet(Received& receive, Received const& later) const;
    bool is_first_of_its_sender(Received const& receive, Received const& later) const;
    bool is_known_to_be_alike(Received const& receive, Received const& later) const;
    void report(Received const& receive, Received const& later, Comm const& comm);
    void remember(Received&& receive);

    static constexpr std::size_t most_done = 1024;

    Matching& matching_;
    Process& process_;
    Order& order_;
    std::uint64_t begun_ = 0;
    std::map<void const*, Received> open_;
    std::deque<Received> done_;    ///< from any source, by `known_at`
    std::deque<Received> later_;   ///< complete, and begun after one from any source that is open
    std::map<LoopKey, Loop> loops_;
    std::vector<Deferred> deferred_;
    std::set<std::uint64_t> reported_;   ///< places of receives
};

}   // namespace tutti::p2p
