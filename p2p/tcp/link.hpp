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
/// called from inside Network::poll or Link::send; none may poll. `frame_arrived`, `payload_complete`, `refill` and
/// `link_broken` may throw std::bad_alloc before they have changed anything, and are then called again later. The
/// others allocate nothing.
class Handler {
public:
    virtual ~Handler() = default;
    /// Called for a header from `rank`; its payload, if it has one, follows. Returns an error message if the frame is
    /// invalid, which ends the link, else null.
    virtual char const* frame_arrived(int rank, Frame const& frame) = 0;
    /// Returns the destination of the next bytes of the payload if it is contiguous; else they are passed to
    /// payload_arrived().
    virtual std::span<std::byte> payload_buffer(int rank) = 0;
    /// Called for the next bytes of the payload. If `piece` begins at payload_buffer(), they have been stored there
    /// already.
    virtual void payload_arrived(int rank, std::span<std::byte const> piece) = 0;
    /// Called when the payload of a frame has been passed on completely; also for a payload of zero bytes.
    virtual void payload_complete(int rank) = 0;
    /// Called when the data of a frame has left the memory of `sender`, the argument of `send`.
    virtual void written(void* sender) = 0;
    /// Called when the queue is empty: may send more data of granted messages. Returns false if there is none.
    virtual bool refill(int rank) = 0;
    /// Called when the link has failed permanently. Frames in its queue will not be sent; operations that depend on
    /// them must fail. `message` is the error message and lives as long as the network.
    virtual void link_broken(int rank, std::string const& message) = 0;
    /// Shows a warning to the user. No operation fails.
    virtual void warn(std::string const& message) = 0;
};

class Link;

/// The buffer for received bytes that all links of a rank share. If the handler of a link has no memory for a frame,
/// the link keeps the frame and the bytes read after it in the buffer. Meanwhile the other links read one header or
/// payload at a time, so that they need not keep anything.
struct ReadAhead {
    explicit ReadAhead(std::size_t bytes) : memory(bytes) {}

    std::vector<std::byte> memory;
    Link const* owner = nullptr;
    std::span<std::byte const> unprocessed;   ///< part of `memory` that `owner` has not passed on
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
    /// is in `owned`, which the link keeps until then.
    bool send(Frame const& frame, std::byte const* data = nullptr, void* sender = nullptr,
              std::unique_ptr<std::byte[]> owned = nullptr);
    /// Removes a frame from the queue if none of it has been sent. Returns false if there is no such frame.
    bool remove_queued(void const* sender);

    /// Starts to use an authenticated connection.
    void open(Socket socket);
    /// Reads available data and passes it on, within a budget; returns true if there was any. Begins with the data for
    /// which the handler had no memory before.
    bool read();
    /// Returns true if the handler has not consumed everything that was read: read() must be called again regardless of
    /// the poller.
    bool has_unprocessed_input() const;
    /// Sends queued frames, within a budget. Returns true if anything was sent.
    bool flush();
    /// Must be called periodically. Fails the link if the other host has not answered for `silence`.
    void check(std::chrono::seconds silence);
    /// Sends a shutdown frame; nothing may be sent afterwards. Allocates no memory.
    void send_shutdown();
    /// Closes the socket, if there is one; an open link becomes State::closed.
    void close();
    /// Ends the link: State::broken unless it already was.
    void fail(std::string reason);

    int rank() const { return rank_; }
    State state() const { return state_; }
    std::string const& reason() const { return reason_; }   ///< why it is broken
    bool idle() const { return queue_.empty(); }            ///< the system has taken everything
    /// Returns true if both sides have sent their shutdown frame; this side's may still be in the queue.
    bool is_shut_down() const { return shutdown_sent_ && shutdown_received_; }
    /// Since the first frame; bytes in the queue count as sent.
    NetworkBytes const& bytes() const { return bytes_; }

private:
    /// A frame in the queue.
    struct QueuedFrame {
        std::array<std::byte, Frame::header_bytes> header;
        std::byte const* data = nullptr;
        std::size_t bytes = 0, sent = 0;   ///< sent: of header and data
        void* sender = nullptr;            ///< null: no send is notified
        std::unique_ptr<std::byte[]> owned;

        std::size_t size() const { return header.size() + bytes; }
    };

    /// The Handler function to call next; called again if it had no memory.
    enum class PendingCallback { nothing, arrived, complete };

    std::size_t write(QueuedFrame const& frame);
    bool write_some();
    void remove_sent(std::size_t bytes);
    void recycle(std::list<QueuedFrame>::iterator frame);
    bool consume_kept();
    bool consume_bytes(std::span<std::byte const> in);
    bool run_pending_callback();
    bool handle_frame(Frame const& frame);
    void handle_payload(std::span<std::byte const> piece);
    void connection_ended(int error);
    void poll_for_output(bool wanted);

    int const rank_;
    Handler& handler_;
    Poller& poller_;
    std::uint64_t const number_;
    ReadAhead& ahead_;
    Socket socket_;
    State state_ = State::closed;
    std::string reason_;
    bool polls_for_output_ = false, shutdown_sent_ = false, shutdown_received_ = false;
    NetworkBytes bytes_;
    std::list<QueuedFrame> queue_;
    std::list<QueuedFrame> unused_;   ///< memory for frames to be queued; at least one, for the shutdown frame
    FrameReader reader_;
    PendingCallback pending_callback_ = PendingCallback::nothing;
};

}   // namespace tutti::p2p::tcp
