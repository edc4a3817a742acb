// SPDX-License-Identifier: BSD-3-Clause
// What goes over a connection between two ranks once it is authenticated: frames, each a header of fixed size and, for
// some kinds, bytes of a message. Numbers are little-endian.
//
// The other end is a rank of this job, but what comes is checked all the same before anything acts on it: the kind, the
// length against what that kind may have, that fields which a kind does not use are zero. Identities of operations are
// numbers that their owner looks up, never addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/datatype/digest.hpp"

namespace tutti::p2p::tcp {

enum class FrameKind : std::uint8_t {
    eager = 1,       ///< a message: `length` bytes follow
    eager_sync,      ///< likewise; the sender wants `done` once it is matched
    offer,           ///< a message of `length` bytes that stays with its sender until the receiver asks for it
    grant,           ///< receiver → sender: send `length` bytes of the offered message
    data,            ///< `length` bytes of a granted message follow
    done,            ///< receiver → sender: the message is matched (eager_sync), or nothing of it is wanted (offer)
    cancel,          ///< sender → receiver: forget my message unless it is matched
    cancelled,       ///< receiver → sender: it is forgotten
    not_cancelled,   ///< receiver → sender: too late
    credit,          ///< nothing but `matched`
    bye,             ///< nothing more will come
    note,            ///< of the message that begins next: `length` bytes follow
};

struct Frame {
    FrameKind kind = FrameKind::bye;
    std::uint32_t matched = 0;   ///< how much of the other's eager messages found a receive, modulo 2^32 (see Credit)
    std::uint64_t context = 0;   ///< eager, offer: of the communicator
    std::int32_t source = 0;     ///< eager, offer: the sender's rank in the communicator
    std::int32_t tag = 0;        ///< eager, offer
    std::uint64_t length = 0;    ///< bytes
    std::uint64_t id = 0;        ///< the sender's operation; data: the receiver's; 0: none. eager: the sender's return
                                 ///< address in the program; 0: not known
    std::uint64_t number = 0;    ///< eager, offer, cancel: which message of this connection; grant: the receiver's
                                 ///< operation
    TypeDigest digest{};         ///< eager, offer: what the message is made of

    static constexpr std::size_t header_bytes = 48;
    static constexpr std::size_t most_eager = 1 << 20;        ///< bytes of an eager message
    static constexpr std::size_t most_data = 1 << 20;         ///< bytes after one `data`
    static constexpr std::uint64_t most_bytes = 1ULL << 47;   ///< of a message

    bool operator==(Frame const&) const = default;
    /// Bytes of a message follow the header, if only none.
    bool has_payload() const {
        return kind == FrameKind::eager || kind == FrameKind::eager_sync || kind == FrameKind::data ||
               kind == FrameKind::note;
    }
    /// How many bytes follow the header.
    std::size_t payload() const { return has_payload() ? static_cast<std::size_t>(length) : 0; }
    void encode(std::span<std::byte, header_bytes> out) const;
    /// Null when the header is one that `encode` may have written and its fields are within their bounds; else what is
    /// wrong with it, and `frame` is not to be used.
    static char const* decode(std::span<std::byte const, header_bytes> in, Frame& frame);
};

/// Cuts a stream into frames. No memory beyond one header: the bytes of messages are handed on as they come.
class FrameReader {
public:
    enum class Event { more, frame, payload, broken };

    /// Takes the next thing from the front of `in`. more: `in` is used up. frame: a header is complete, see frame().
    /// payload: see piece(). broken: for good, see complaint().
    Event next(std::span<std::byte const>& in);

    Frame const& frame() const { return frame_; }
    std::span<std::byte const> piece() const { return piece_; }
    char const* complaint() const { return complaint_; }
    /// Bytes of the frame's payload that have not come yet.
    std::size_t payload_left() const { return left_; }
    /// Bytes of the next header that have not come yet, where no payload is left.
    std::size_t header_left() const { return header_.size() - got_; }
    /// So many bytes of the payload were read past this object.
    void skip(std::size_t bytes) { left_ -= bytes; }

private:
    Frame frame_;
    std::array<std::byte, Frame::header_bytes> header_;
    std::size_t got_ = 0;   ///< bytes of the header
    std::size_t left_ = 0;
    std::span<std::byte const> piece_;
    char const* complaint_ = nullptr;
};

}   // namespace tutti::p2p::tcp
