// SPDX-License-Identifier: BSD-3-Clause
// The connection to one rank, from the first frame for it on: frames wait in it until there is a socket, then go out in
// order, and what comes in is cut into frames and handed to the Handler. Nothing here waits.
//
// Copies: bytes go from the sender's buffer to the system with one vectored call (header and data), and from the system
// into the receive's buffer where the Handler names room for them, else through one buffer that all links of a rank
// share. What the system does not take at once stays in the sender's buffer, and the send is not done: its rank may
// leave MPI for long after that, and nothing would be sent meanwhile.
//
// Memory may run out (std::bad_alloc) at the Handler or here, and the stream stays in step: a frame that is being sent
// has all memory that it needs before its first byte leaves, and what has been read waits until the Handler has taken
// it. Every call that throws can be repeated.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "p2p/tcp/frame.hpp"
#include "p2p/tcp/socket.hpp"
#include "runtime/counters/blocked.hpp"

namespace tutti::p2p::tcp {

/// What the layer above does with what comes. Frames are checked as far as they can be by themselves. Every call is
/// made from inside Network::poll or Link::send; none may poll. `arrived`, `complete`, `refill` and `broken` may throw
/// std::bad_alloc, before anything has changed, and are called again later. The others need no memory.
class Handler {
public:
    virtual ~Handler() = default;
    /// A header came from `rank`; its payload, if it has one, comes next. Not null: what is wrong with it, and the link
    /// ends.
    virtual char const* arrived(int rank, Frame const& frame) = 0;
    /// Where the next bytes of the payload belong, if they lie in one piece; else they come by payload().
    virtual std::span<std::byte> room(int rank) = 0;
    /// The next bytes of the payload; `piece` is what room() gave if they are there already.
    virtual void payload(int rank, std::span<std::byte const> piece) = 0;
    /// All of a frame's payload was handed on; called for each frame that has one, also for an empty one.
    virtual void complete(int rank) = 0;
    /// A frame's data has left the memory of its sender, which `send` was called with.
    virtual void written(void* sender) = 0;
    /// Nothing waits to be sent: more data of granted messages may be. False when there is none.
    virtual bool refill(int rank) = 0;
    /// The link has ended for good, and nothing that waited in it will be sent: all that waits for it fails.
    /// `sentence` says why and lives as long as the network.
    virtual void broken(int rank, std::string const& sentence) = 0;
    /// Something for the user to know, by which no operation fails.
    virtual void warn(std::string const& sentence) = 0;
};

class Link;

/// The buffer for incoming bytes that all links of a rank share. A link whose handler has no memory for a frame keeps
/// it with what it has read behind that frame. Meanwhile the others read one header or payload at a time, so that they
/// have nothing to keep.
struct ReadAhead {
    explicit ReadAhead(std::size_t bytes) : memory(bytes) {}

    std::vector<std::byte> memory;
    Link const* keeper = nullptr;
    std::span<std::byte const> kept;   ///< of `memory`, what `keeper` has not handed on
};

class Link {
public:
    enum class State {
        closed,   ///< no socket yet, or not any more
        open,
        broken,   ///< ended without having said goodbye
    };

    /// `number`: the poller's for this link.
    Link(int rank, Handler& handler, Poller& poller, std::uint64_t number, ReadAhead& ahead)
        : rank_(rank), handler_(handler), poller_(poller), number_(number), ahead_(ahead), unused_(1) {}

    /// Takes the memory that the next `frames` calls of send need.
    void reserve(std::size_t frames);
    /// Sends a frame, or puts it behind those that wait. True: it has left, or has no `sender` that waits for that.
    /// False: its data (frame.payload() bytes at `data`) is needed until Handler::written(sender), unless it lies in
    /// `own`, which is kept as long.
    bool send(Frame const& frame, std::byte const* data = nullptr, void* sender = nullptr,
              std::unique_ptr<std::byte[]> own = nullptr);
    /// Takes back a frame of which nothing was sent. False when there is none.
    bool take_back(void const* sender);

    /// Uses an authenticated connection from now on.
    void open(Socket socket);
    /// Reads and hands on what is there, within a budget; true when anything was. What the handler had no memory for
    /// comes first.
    bool read();
    /// The handler has not taken all that was read: read() is to be called again, whatever the poller says.
    bool owes() const;
    /// Sends what waits, within a budget; true when anything was.
    bool flush();
    /// Now and then: fails when the other host has not answered for `silence`.
    void check(std::chrono::seconds silence);
    /// Nothing more will be sent. Needs no memory.
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
        void* sender = nullptr;            ///< null: nothing waits for it
        std::unique_ptr<std::byte[]> own;

        std::size_t size() const { return header.size() + bytes; }
    };

    /// What the handler is to be called for next, again if it has no memory.
    enum class Owed { nothing, arrived, complete };

    std::size_t write(Waiting const& frame);
    bool write_some();
    void wrote(std::size_t bytes);
    void recycle(std::list<Waiting>::iterator frame);
    bool take_kept();
    bool take_bytes(std::span<std::byte const> in);
    bool hand_on();
    bool frame_arrived(Frame const& frame);
    void payload_came(std::span<std::byte const> piece);
    void ended(int error);
    void want_out(bool wanted);

    int const rank_;
    Handler& handler_;
    Poller& poller_;
    std::uint64_t const number_;
    ReadAhead& ahead_;
    Socket socket_;
    State state_ = State::closed;
    std::string reason_;
    bool wants_out_ = false, said_bye_ = false, heard_bye_ = false;
    NetworkBytes bytes_;
    std::list<Waiting> queue_;
    std::list<Waiting> unused_;   ///< memory for frames that will wait; at least one, for the goodbye
    FrameReader reader_;
    Owed owed_ = Owed::nothing;
};

}   // namespace tutti::p2p::tcp
