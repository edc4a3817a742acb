// SPDX-License-Identifier: BSD-3-Clause
// The protocol of an authenticated connection between two ranks: frames, each with a header of fixed size and, for some
// kinds, the bytes of a message. Numbers are little-endian.
//
// The other side is a rank of this job, but frames are validated nevertheless before they are used: the kind, the
// length within the limits of its kind, and that unused fields are zero. Operations are identified by numbers that
// their owner looks up (p2p/tcp/transport.hpp), never by addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/datatype/digest.hpp"

namespace tutti::p2p::tcp {

enum class FrameKind : std::uint8_t {
    eager = 1,       ///< a message; `length` bytes follow
    eager_sync,      ///< the same; the sender wants `done` when it is matched
    offer,           ///< a message of `length` bytes that stays with the sender until the receiver requests it
    grant,           ///< receiver → sender: send `length` bytes of the offered message
    data,            ///< `length` bytes of a granted message follow
    done,            ///< receiver → sender: the message is matched (eager_sync), or no data of it is wanted (offer)
    cancel,          ///< sender → receiver: drop the message unless it is matched
    cancelled,       ///< receiver → sender: it is dropped
    not_cancelled,   ///< receiver → sender: it is matched already
    credit,          ///< carries only `matched`
    shutdown,        ///< no more frames follow
    piggyback,       ///< the piggyback of the next message; `length` bytes follow
};

struct Frame {
    FrameKind kind = FrameKind::shutdown;
    /// Eager messages of the other side that were matched, as Credit counts them, modulo 2^32.
    std::uint32_t matched = 0;
    std::uint64_t context = 0;   ///< eager, offer: context of the communicator
    std::int32_t source = 0;     ///< eager, offer: the sender's rank in the communicator
    std::int32_t tag = 0;        ///< eager, offer
    std::uint64_t length = 0;    ///< bytes
    /// The sender's operation; data: the receiver's; 0: none. eager: the call site of the send in the program; 0:
    /// unknown.
    std::uint64_t id = 0;
    /// eager, offer, cancel: number of the message in this connection; grant: the receiver's operation.
    std::uint64_t number = 0;
    TypeDigest digest{};   ///< eager, offer: types of the message

    static constexpr std::size_t header_bytes = 48;
    static constexpr std::size_t max_eager = 1 << 20;        ///< bytes of an eager message
    static constexpr std::size_t max_data = 1 << 20;         ///< bytes after one `data` frame
    static constexpr std::uint64_t max_bytes = 1ULL << 47;   ///< bytes of a message

    bool operator==(Frame const&) const = default;
    /// Returns true if bytes of a message follow the header, possibly zero bytes.
    bool has_payload() const {
        return kind == FrameKind::eager || kind == FrameKind::eager_sync || kind == FrameKind::data ||
               kind == FrameKind::piggyback;
    }
    /// Returns how many bytes follow the header.
    std::size_t payload() const { return has_payload() ? static_cast<std::size_t>(length) : 0; }
    void encode(std::span<std::byte, header_bytes> out) const;
    /// Returns null if the header is one that `encode` can produce and all fields are within their limits. Otherwise
    /// returns an error message, and `frame` must not be used.
    static char const* decode(std::span<std::byte const, header_bytes> in, Frame& frame);
};

/// Cuts a stream into frames. Stores at most one header; the bytes of messages are passed on as they arrive.
class FrameReader {
public:
    enum class Event { more, frame, payload, broken };

    /// Consumes the next item from the front of `in`. more: `in` is used up. frame: a header is complete, see frame().
    /// payload: see piece(). broken: the stream is invalid from now on, see error().
    Event next(std::span<std::byte const>& in);

    Frame const& frame() const { return frame_; }
    std::span<std::byte const> piece() const { return piece_; }
    char const* error() const { return error_; }
    /// Bytes of the frame's payload that have not arrived.
    std::size_t payload_left() const { return payload_left_; }
    /// Bytes of the next header that have not arrived, if no payload is outstanding.
    std::size_t header_left() const { return header_.size() - header_read_; }
    /// Must be called if this many bytes of the payload were read without this object.
    void skip(std::size_t bytes) { payload_left_ -= bytes; }

private:
    Frame frame_;
    std::array<std::byte, Frame::header_bytes> header_;
    std::size_t header_read_ = 0;   ///< bytes of the header that have arrived
    std::size_t payload_left_ = 0;
    std::span<std::byte const> piece_;
    char const* error_ = nullptr;
};

}   // namespace tutti::p2p::tcp
