// SPDX-License-Identifier: BSD-3-Clause
// The connection to one rank, from the first frame for it on: frames wait in it until there is a socket, then go out in
// order, and what comes in is cut into frames and handed to the Handler. Nothing here waits.
//
// Copies: bytes go from the sender's buffer to the system with one vectored call (header and data), and from the system
// into the receive's buffer where the Handler names room for them, else through one buffer that all links of a rank
// share. What the system does not take at once stays in the sender's buffer, and the sender waits: its rank may leave
// MPI for long once it is told that its data has gone, and nobody would go on sending.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "p2p/tcp/frame.hpp"
#include "p2p/tcp/socket.hpp"
#include "runtime/counters/blocked.hpp"

namespace tutti::p2p::tcp {

/// What the layer above does with what comes. Frames are checked as far as they can be by themselves. Every call is
/// made from inside Network::poll or Link::send; none may poll.
class Handler {
public:
    virtual ~Handler() = default;
    /// A header came from `rank`; its payload, if any, comes next. Not null: what is wrong with it, and the link ends.
    virtual char const* arrived(int rank, Frame const& frame) = 0;
    /// Where the next bytes of the payload belong, if they lie in one piece; else they come by payload().
    virtual std::span<std::byte> room(int rank) = 0;
    /// The next bytes of the payload; `piece` is what room() gave if they are there already.
    virtual void payload(int rank, std::span<std::byte const> piece) = 0;
    /// A frame's data has left the memory of its sender, which `send` was called with.
    virtual void written(void* sender) = 0;
    /// Nothing waits to be sent: more data of granted messages may be. False when there is none.
    virtual bool refill(int rank) = 0;
    /// The link is no more, for ever, and nothing that waited in it will be sent: all that waits for it fails.
    /// `sentence` says why and lives as long as the network.
    virtual void broken(int rank, std::string const& sentence) = 0;
    /// Something for the user to know, by which no operation fails.
    virtual void warn(std::string const& sentence) = 0;
};

class Link {
public:
    enum class State {
        closed,   ///< no socket yet, or not any more
        open,
        broken,   ///< ended without having said goodbye
    };

    /// `number`: the poller's for this link. `buffer`: for incoming bytes, valid during each call only.
    Link(int rank, Handler& handler, Poller& poller, std::uint64_t number, std::span<std::byte> buffer)
        : rank_(rank), handler_(handler), poller_(poller), number_(number), buffer_(buffer) {}

    /// Sends a frame, or puts it behind those that wait. True: it has left, or nobody waits for that (null `sender`).
    /// False: its data (frame.payload() bytes at `data`) is needed until Handler::written(sender), unless it is there
    /// in `passing` only: then what does not leave at once is copied.
    bool send(Frame const& frame, std::byte const* data = nullptr, void* sender = nullptr, bool passing = false);
    /// Takes back a frame of which nothing was sent. False when there is none.
    bool take_back(void const* sender);

    /// Uses an authenticated connection from now on.
    void open(Socket socket);
    /// Reads and hands on what is there, within a budget; true when anything was.
    bool read();
    /// Sends what waits, within a budget; true when anything was.
    bool flush();
    /// Now and then: fails when the other host has not answered for `silence`.
    void check(std::chrono::seconds silence);
    /// Nothing more will be sent.
    void say_goodbye();
    void close();
    /// The link ends: State::broken unless it was over already.
    void fail(std::string reason);

    int rank() const { return rank_; }
    State state() const { return state_; }
    std::string const& reason() const { return reason_; }   ///< why it broke
    bool idle() const { return queue_.empty(); }            ///< everything was given to the system
    bool parted() const { return said_bye_ && heard_bye_; }
    /// Since the first frame, sent with what waits.
    NetworkBytes const& bytes() const { return bytes_; }

private:
    /// A frame that waits.
    struct Waiting {
        std::array<std::byte, Frame::header_bytes> header;
        std::byte const* data = nullptr;
        std::size_t bytes = 0, sent = 0;   ///< sent: of header and data
        void* sender = nullptr;            ///< null: nobody waits
        std::unique_ptr<std::byte[]> own;

        std::size_t size() const { return header.size() + bytes; }
    };

    std::size_t write(Waiting const& frame);
    bool write_some();
    void wrote(std::size_t bytes);
    static void copy_data(Waiting& frame);
    bool take_bytes(std::span<std::byte const> in);
    void ended(int error);
    void want_out(bool wanted);

    int const rank_;
    Handler& handler_;
    Poller& poller_;
    std::uint64_t const number_;
    std::span<std::byte> const buffer_;
    Socket socket_;
    State state_ = State::closed;
    std::string reason_;
    bool wants_out_ = false, said_bye_ = false, heard_bye_ = false;
    NetworkBytes bytes_;
    std::deque<Waiting> queue_;
    FrameReader reader_;
};

}   // namespace tutti::p2p::tcp
