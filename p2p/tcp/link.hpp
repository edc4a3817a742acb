// SPDX-License-Identifier: BSD-3-Clause
// The connection to one rank, created with the first frame for it: frames are queued until there is a socket, then sent
// in order; received bytes are cut into frames and passed to the Handler. A link never waits.
//
// Copies: data is sent from the sender's buffer with one vectored call (header and data). It is received directly into
// the receive buffer if the Handler provides it, else through one buffer that all links of a rank share. Data that the
// system does not take immediately stays in the sender's buffer, and the send is not done: its rank may leave MPI for a
// long time afterwards, and nothing would be sent meanwhile.
//
// If memory is exhausted (std::bad_alloc), in the Handler or here, the stream stays in step: a frame has all the memory
// that it needs before its first byte is sent, and bytes that were read are kept until the Handler has consumed them.
// Every call that throws can be repeated.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "p2p/tcp/frame.hpp"
#include "p2p/tcp/socket.hpp"
#include "runtime/state/call_record.hpp"

namespace tutti::p2p::tcp {

/// The layer above a link. Frames have been validated as far as that is possible without context. All functions are
/// called from inside Network::poll or Link::send; none may poll. `arrived`, `complete`, `refill` and `broken` may
/// throw std::bad_alloc before they have changed anything, and are then called again later. The others allocate
/// nothing.
class Handler {
public:
    virtual ~Handler() = default;
    /// Called for a header from `rank`; its payload, if it has one, follows. Returns an error message if the frame is
    /// invalid, which ends the link, else null.
    virtual char const* arrived(int rank, Frame const& frame) = 0;
    /// Returns the destination of the next bytes of the payload if it is contiguous; else they are passed to payload().
    virtual std::span<std::byte> room(int rank) = 0;
    /// Called for the next bytes of the payload. If `piece` begins at room(), they have been stored there already.
    virtual void payload(int rank, std::span<std::byte const> piece) = 0;
    /// Called when the payload of a frame has been passed on completely; also for a payload of zero bytes.
    virtual void complete(int rank) = 0;
    /// Called when the data of a frame has left the memory of `sender`, the argument of `send`.
    virtual void written(void* sender) = 0;
    /// Called when the queue is empty: may send more data of granted messages. Returns false if there is none.
    virtual bool refill(int rank) = 0;
    /// Called when the link has failed permanently. Frames in its queue will not be sent; operations that depend on
    /// them must fail. `sentence` is the error message and lives as long as the network.
    virtual void broken(int rank, std::string const& sentence) = 0;
    /// Shows a warning to the user. No operation fails.
    virtual void warn(std::string const& sentence) = 0;
};

class Link;

/// The buffer for received bytes that all links of a rank share. If the handler of a link has no memory for a frame,
/// the link keeps the frame and the bytes read after it in the buffer. Meanwhile the other links read one header or
/// payload at a time, so that they need not keep anything.
struct ReadAhead {
    explicit ReadAhead(std::size_t bytes) : memory(bytes) {}

    std::vector<std::byte> memory;
    Link const* keeper = nullptr;
    std::span<std::byte const> kept;   ///< part of `memory` that `keeper` has not passed on
};

class Link {
public:
    enum class State {
        closed,   ///< no socket yet, or no longer
        open,
        broken,   ///< ended without a shutdown frame
    };

    /// `number`: identifies this link in the poller.
    Link(int rank, Handler& handler, Poller& poller, std::uint64_t number, ReadAhead& ahead)
        : rank_(rank), handler_(handler), poller_(poller), number_(number), ahead_(ahead), unused_(1) {}

    /// Allocates the memory that the next `frames` calls of send need.
    void reserve(std::size_t frames);
    /// Sends a frame, or queues it behind others. Returns true if it has been sent completely or has no `sender`.
    /// Otherwise its data (frame.payload() bytes at `data`) must stay valid until Handler::written(sender), unless it
    /// is in `own`, which the link keeps until then.
    bool send(Frame const& frame, std::byte const* data = nullptr, void* sender = nullptr,
              std::unique_ptr<std::byte[]> own = nullptr);
    /// Removes a frame from the queue if none of it has been sent. Returns false if there is no such frame.
    bool take_back(void const* sender);

    /// Starts to use an authenticated connection.
    void open(Socket socket);
    /// Reads available data and passes it on, within a budget; returns true if there was any. Begins with the data for
    /// which the handler had no memory before.
    bool read();
    /// Returns true if the handler has not consumed everything that was read: read() must be called again regardless of
    /// the poller.
    bool owes() const;
    /// Sends queued frames, within a budget. Returns true if anything was sent.
    bool flush();
    /// Must be called periodically. Fails the link if the other host has not answered for `silence`.
    void check(std::chrono::seconds silence);
    /// Sends a shutdown frame; nothing may be sent afterwards. Allocates no memory.
    void say_goodbye();
    /// Closes the socket, if there is one; an open link becomes State::closed.
    void close();
    /// Ends the link: State::broken unless it already was.
    void fail(std::string reason);

    int rank() const { return rank_; }
    State state() const { return state_; }
    std::string const& reason() const { return reason_; }   ///< why it is broken
    bool idle() const { return queue_.empty(); }            ///< the system has taken everything
    /// Returns true if both sides have sent their shutdown frame; this side's may still be in the queue.
    bool parted() const { return said_bye_ && heard_bye_; }
    /// Since the first frame; bytes in the queue count as sent.
    NetworkBytes const& bytes() const { return bytes_; }

private:
    /// A frame in the queue.
    struct Waiting {
        std::array<std::byte, Frame::header_bytes> header;
        std::byte const* data = nullptr;
        std::size_t bytes = 0, sent = 0;   ///< sent: of header and data
        void* sender = nullptr;            ///< null: no send is notified
        std::unique_ptr<std::byte[]> own;

        std::size_t size() const { return header.size() + bytes; }
    };

    /// The Handler function to call next; called again if it had no memory.
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
    std::list<Waiting> unused_;   ///< memory for frames to be queued; at least one, for the shutdown frame
    FrameReader reader_;
    Owed owed_ = Owed::nothing;
};

}   // namespace tutti::p2p::tcp
