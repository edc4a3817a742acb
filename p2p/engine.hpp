// SPDX-License-Identifier: BSD-3-Clause
// The point-to-point engine of one rank: begins sends and receives, and moves on what could not be finished at once. It
// knows its transports by p2p/transport.hpp alone, and lets them meet in the Matching. Everything here is called by one
// thread at a time, inside the rank's lock.
//
// Nothing waits in here: only blocking calls (p2p/p2p.hpp) do, through the one wait, which polls this engine. So a send
// to a busy rank never keeps a message for us from arriving.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "p2p/buffer.hpp"
#include "p2p/check/checks.hpp"
#include "p2p/diagnosis/unstarted.hpp"
#include "p2p/matching/matching.hpp"
#include "p2p/transport.hpp"

namespace tutti::p2p {

/// All that there are (p2p/transports.cpp), for `matching`. `listeners`: where other nodes call
/// (runtime/job/listener.hpp); become theirs.
/// `checks`: those that see the program's messages begin; null: none.
std::vector<std::unique_ptr<Transport>> make_transports(Matching& matching, std::vector<int> const& listeners,
                                                        Checks* checks);

class Engine final : public Extension, public Pollable {
public:
    /// `listeners` as make_transports has them.
    Engine(Process& process, std::vector<int> const& listeners);
    ~Engine() override;

    /// Begins a send; `op` must live until it is done.
    void begin(Send& op) { to(op.peer).begin(op); }
    /// True when a dense message of at most Transport::small bytes was sent at once. Nothing has happened otherwise.
    bool send_small(int peer, Key const& key, Data const& data) { return to(peer).send_small(peer, key, data); }
    /// As Transport::take_small: a receive of the next message of a peer, which needs no operation then.
    Transport::First take_small(int peer, Key const& key, Data const& data, Status& status) {
        if (!matching_.empty()) return Transport::First::other;
        int const polls = data.bytes < announced_from_ ? polls_for_small_ : 1;
        return to(peer).take_small(peer, key, data, status, polls);
    }
    /// A copy of a buffered send, in the buffer of its communicator. Messages that have arrived make room in it only
    /// when we look.
    SendBuffer::Copy& keep(Send const& op);
    /// Begins a receive; `op` must live until it is done.
    void begin(Receive& op);
    /// Begins a receive of a message that `claim` gave. What throws std::bad_alloc has not used it up.
    void begin(Receive& op, Unexpected* message);

    /// The oldest message here that a receive with this key would get; null when there is none.
    Unexpected* find(Key const& key) { return matching_.find(key); }
    /// Calls `look` with each message here that nobody has asked for, in order of arrival, until it is true.
    void look_through(std::function<bool(Unexpected const&)> const& look) const { matching_.look_through(look); }
    /// Takes a message that `find` gave out of matching; it waits for its own receive.
    Unexpected* claim(Unexpected* message) { return matching_.remove(*message), message; }

    /// Takes a receive back unless it is matched; then it is done, with status.cancelled.
    void cancel(Receive& op);
    /// As Transport::cancel.
    void cancel(Send& op) { to(op.peer).cancel(op); }

    /// For an operation on the stack of a call that ends early, by an exception of what else was moved on: returns once
    /// nobody knows of it any more. What a peer has begun goes on to its end, for it may be writing into the buffer.
    void abandon(Receive& op) noexcept;
    void abandon(Send& op) noexcept;

    bool poll() override { return polled_.size() == 1 ? polled_.front()->poll() : poll_all(); }
    /// Looks for what comes from one peer only (−1: all).
    bool poll_from(int peer) {
        bool const moved = peer < 0 ? poll() : to(peer).poll_from(peer);
        if (moved) process().waiter.count_move();
        return moved;
    }
    /// How often to poll in a row without a pause (−1: everywhere), as Transport::polls_in_a_row.
    int polls_in_a_row(int peer) const { return peer < 0 ? fewest_polls_ : to(peer).polls_in_a_row(); }
    /// Why nothing will ever come from a peer (−1: from some): its connection is lost. Null: it is not.
    std::string const* loss(int peer) const { return matching_.loss(peer); }
    /// What --check looks for; null: nothing.
    Checks* checks() const { return checks_.get(); }
    /// The ranks of the world to which this one has a connection.
    std::vector<int> connected() const;
    /// Says goodbye to all peers, waits for theirs, closes. Nothing may be begun after it.
    void leave(char const* call);

    Process& process() const { return matching_.process(); }
    int me() const { return static_cast<int>(process().place()); }
    /// True when everything that can leave this rank now has left it; offers wait for those who want them.
    bool idle() const;
    bool at_rest() const override { return requests == 0 && idle() && buffers.idle(); }
    /// Hints at a persistent request that is not started, if the wait has no better hint.
    void tell(Blockage& blockage) const override;
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const override {
        for (auto const& one : transports_) one->count_bytes(segment, bytes);
    }

    SendBuffers buffers;
    Datatype const* (*predefined_type)(unsigned number) = nullptr;   ///< by TypeDigest::number; null: nobody knows them
    std::size_t requests = 0;                                        ///< under way
    UnstartedRequests unstarted;                                     ///< persistent ones

private:
    Transport& to(int peer) const { return *to_[static_cast<std::size_t>(peer)]; }
    bool poll_all();
    static void tell_staying(void const* engine, Blockage& blockage);
    void announce(Receive& op);
    void check(Receive& op, bool at_once);
    bool withdraw(Receive& op) noexcept;
    void outlive(bool const& done) noexcept;

    Matching matching_;
    std::unique_ptr<Checks> const checks_;
    std::vector<std::unique_ptr<Transport>> transports_;
    std::vector<std::unique_ptr<Transport>> traced_;   ///< around these, where messages are traced
    std::vector<Transport*> to_;                       ///< by peer; null: there is no such peer
    std::vector<Transport*> polled_;                   ///< those of which something may come by itself
    int fewest_polls_;
    int const polls_for_small_;          ///< as often as a wait polls before it moves everything on
    std::size_t const announced_from_;   ///< bytes of room that a receive has of which others are told
};

/// Makes the engine of a process and attaches it to its wait. `listeners` as Engine has them.
void start(Process& process, std::vector<int> const& listeners = {});
/// The engine that `start` made.
inline Engine& engine(Process& process) { return static_cast<Engine&>(*process.p2p); }

}   // namespace tutti::p2p
