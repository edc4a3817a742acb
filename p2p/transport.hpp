// SPDX-License-Identifier: BSD-3-Clause
// What the engine knows of a way for messages: all that a new one has to be. It lives in a folder of its own, is named
// in p2p/transports.cpp, and nothing else changes. It carries messages between this rank and the peers that it reaches,
// and talks with the Matching (p2p/matching/matching.hpp) in between:
//
//  * To begin with: `begin` takes a send, and the transport gets its data, or an offer of it, to the receiver. What is
//    small goes without an operation where nothing is in its way (send_small, take_small).
//  * What comes in is matched there: the transport asks the Matching for the receive and fills it, or sets the message
//    aside as an Unexpected, which comes back by `take` once there is a receive.
//  * What ends it tells the Matching, too: `sent`, `finish`, and `lose` for a peer that nothing will come from again.
//
// Threads: one at a time, inside the rank's lock. Waiting: never; what cannot go on now goes on in `poll`, which is
// called again and again while the rank is in MPI, and only then. Order: messages of a pair are matched in the order in
// which their sends began. Ownership: sends and receives are the callers' and stay where they are until the Matching is
// told that they are done; a transport may keep their addresses so long, and what it notes in them is its own. An
// Unexpected is the transport's until it is added, the Matching's then; `take` leaves it to its caller. Errors: of a
// message in its operation (`failure`, status.error); what is thrown (Error, bad_alloc) has changed nothing that
// another call would meet. Calling back: whoever hears of the end of an operation may begin and cancel others at once,
// so a transport has its own lists in order before it tells.
#pragma once

#include <cstddef>
#include <vector>

#include "p2p/matching/operation.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti::p2p {

class Transport : public Pollable {
public:
    /// The most data that send_small can be asked for: it fits into one cache line with what belongs to it.
    static constexpr std::size_t small = 32;

    /// Peers are numbered as Cluster::peer_of names them. Asked once, in the beginning: the first transport that
    /// reaches a peer is the one for it.
    virtual bool reaches(int peer) const = 0;

    /// True when a dense message of at most `small` bytes was sent at once, without an operation, which none of mixed
    /// types is. Else nothing has happened, and it is to be begun.
    virtual bool send_small(int peer, Key const& key, Data const& data) = 0;
    /// What take_small found first of a peer.
    enum class First { nothing, taken, other };
    /// Polls up to `polls` times for the next message of this peer, while nothing waits in the Matching. If it has at
    /// most `small` bytes, fits into the dense `data` and is for a receive with this key, it is taken without an
    /// operation; `other`: it must be polled for.
    virtual First take_small(int, Key const&, Data const&, Status&, int) { return First::other; }
    /// Begins a send, which lives until it is done.
    virtual void begin(Send& op) = 0;
    /// Asks for a send back, also for one that was done because it left eagerly: it is undone until the answer comes,
    /// and then finished (once more), `cancelled` or not.
    virtual void cancel(Send& op) = 0;
    /// Takes the memory that take() needs for a message that this transport has set aside.
    virtual void reserve(Unexpected const&) {}
    /// Gives a receive such a message, which is in no queue any more.
    virtual void take(Receive& op, Unexpected& message) = 0;
    /// A receive that waits for this peer alone: the transport may tell the peer of it, so that its message need not be
    /// kept anywhere else.
    virtual void announce(Receive&) noexcept {}
    /// Takes that back; false: the message is on its way into the buffer, and the receive ends with it.
    virtual bool withdraw(Receive&) noexcept { return true; }

    /// Something comes by itself, so it has to be looked for: `poll` and `poll_from` do something.
    virtual bool polled() const { return true; }
    /// Moves everything on; true when anything moved.
    bool poll() override = 0;
    /// The same for whoever waits for one peer only, whose messages come first.
    virtual bool poll_from(int peer) = 0;
    /// How often poll_from may be called in a row without a pause: where a poll is a load, the pieces of a message
    /// follow each other closely; where it is a call of the system, once is enough.
    virtual int polls_in_a_row() const { return 8; }

    /// All that can leave now has left; what was offered waits for those who want it.
    virtual bool idle() const = 0;
    // The end, in this order, with polls until all are parted. Nothing is begun any more.
    virtual void say_goodbye() {}
    virtual bool parted() const { return true; }
    /// Adds the ranks of the world whose goodbye has not come.
    virtual void add_staying(std::vector<int>&) const {}
    virtual void close() {}
};

}   // namespace tutti::p2p
