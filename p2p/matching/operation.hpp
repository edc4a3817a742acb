// SPDX-License-Identifier: BSD-3-Clause
// Operations in progress: sends, receives and unexpected messages. They are plain structures, so that a blocking call
// can keep its operation on the stack; requests (p2p/request.hpp) contain them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "p2p/matching/queues.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::p2p {

/// memcpy for pieces between a ring and a buffer. For pieces of about 2 KiB the C library uses rep movsb, which starts
/// slowly on cache lines held by another core: 4 KiB from rank to rank take 1.0 µs with it and 0.8 µs with this loop.
inline void copy_piece(std::byte* to, std::byte const* from, std::size_t n) {
    using Lanes [[gnu::vector_size(16)]] = char;
    if (n > 2048) {
        std::memcpy(to, from, n);
        return;
    }
    for (; n >= 64; n -= 64, to += 64, from += 64) {
        Lanes a, b, c, d;   // all loads before the first store
        std::memcpy(&a, from, 16);
        std::memcpy(&b, from + 16, 16);
        std::memcpy(&c, from + 32, 16);
        std::memcpy(&d, from + 48, 16);
        std::memcpy(to, &a, 16);
        std::memcpy(to + 16, &b, 16);
        std::memcpy(to + 32, &c, 16);
        std::memcpy(to + 48, &d, 16);
    }
    std::memcpy(to, from, n);
}

/// The data of a message in the user's memory: dense bytes, or elements of a datatype with gaps.
struct Data {
    std::byte* base = nullptr;
    std::size_t bytes = 0;            ///< size of the packed data
    Datatype const* type = nullptr;   ///< null: dense
    std::int64_t count = 0;
    Datatype const* element = nullptr;   ///< type of the `count` elements, dense or not; null: bytes, without a count

    static Data of_bytes(void const* buffer, std::size_t bytes) {
        return {static_cast<std::byte*>(const_cast<void*>(buffer)), bytes, nullptr, 0, nullptr};
    }
    static Data of(void const* buffer, std::int64_t count, Datatype const& type) {
        std::size_t bytes = static_cast<std::size_t>(count * type.size());
        auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
        // Integer arithmetic, because MPI_BOTTOM is a null pointer and the lower bound is then the address.
        auto first = reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(type.true_lb());
        if (type.dense(count)) [[likely]]
            return {reinterpret_cast<std::byte*>(first), bytes, nullptr, count, &type};
        return {base, bytes, &type, count, &type};
    }
    bool dense() const { return type == nullptr; }
    /// Returns the type digest that a message with this data carries.
    TypeDigest digest() const {
        if (!element) return {};
        TypeDigest const one = element->digest();
        if (one.mixed()) [[unlikely]]
            return TypeDigest::of(*element->signature(), count);
        return one;
    }
    /// Describes the amount: "4 MPI_INT".
    std::string amount() const;

    /// Packs bytes [position, position + n) of the packed data to `out`.
    void pack(std::size_t position, void* out, std::size_t n) const {
        if (n == 0) return;
        if (dense()) [[likely]]
            copy_piece(static_cast<std::byte*>(out), base + position, n);
        else type->pack(base, count, position, out, n);
    }
    /// Unpacks `in` to bytes [position, position + n) of the packed data.
    void unpack(std::size_t position, void const* in, std::size_t n) const {
        if (n == 0) return;
        if (dense()) [[likely]]
            copy_piece(base + position, static_cast<std::byte const*>(in), n);
        else type->unpack(base, count, position, in, n);
    }
};

/// Copies as many bytes as fit from the data of one message to that of another. Returns the number of bytes.
std::size_t transfer(Data const& to, Data const& from);

/// Additional information that a message carries under --check (p2p/check/order.hpp). Transports treat it as bytes and
/// deliver it with the envelope of the message. Null: the message has no piggyback. That is always so without --check,
/// and if the ring of a pair is too small for the piggyback.
using Piggyback = std::shared_ptr<std::vector<std::byte> const>;

enum class Mode : std::uint8_t { standard, synchronous, buffered, ready };

enum class SendStage : std::uint8_t {
    idle,      ///< not begun
    queued,    ///< waits for space in the ring; to another node: for the system to take all data
    offered,   ///< announced to the receiver; done when the receiver says so
    granted,   ///< being sent in pieces
    sent,      ///< all data has been sent
};

struct Send {
    Data data;
    Key key;                      ///< context, the sender's rank in the communicator, tag
    Request* request = nullptr;   ///< the request it belongs to; null: the operation of a blocking call
    int peer = 0;                 ///< the receiver, numbered as by Cluster::peer_id
    Mode mode = Mode::standard;
    SendStage stage = SendStage::idle;
    bool eager = false;   ///< sent without waiting for the receiver's request
    bool done = false;
    bool cancelling = false;   ///< the receiver was asked to drop it and has not answered
    bool cancelled = false;
    bool made_synchronous = false;   ///< in standard mode for the program, synchronous under --check
    TypeDigest digest;               ///< types of the data that the program passed
    /// Identifies it to the receiver: the number of its cell, or, to another node or to itself, of the message among
    /// those to this peer. Valid in the stages after `queued`.
    std::uint64_t number = 0;
    std::uint64_t receive = 0;              ///< granted: the receiver's operation
    std::size_t position = 0;               ///< granted: bytes sent so far
    std::size_t wanted = 0;                 ///< granted: bytes that the receiver can store
    Send* next = nullptr;                   ///< next in its peer's list of queued or granted sends
    std::uint64_t id = 0;                   ///< to another node: its identity in frames; 0: none
    std::string const* failure = nullptr;   ///< not null: it is done, but failed for this reason
    Piggyback piggyback;                    ///< sent before the message; null after that
    /// Called once when the send is done. Must not throw std::bad_alloc, because no call could report it. Null: the
    /// owner polls `done`.
    void (*finished)(Send&) = nullptr;
};

struct Receive {
    Data data;
    Key key;                      ///< may contain wildcards
    Request* request = nullptr;   ///< as in Send
    Hook hook;
    std::uint64_t sequence = 0;   ///< order of posting
    bool posted = false;          ///< in a queue, waiting for a message
    bool done = false;
    TypeDigest mismatched_types;   ///< types of the message, if they do not match
    Status status;
    std::size_t message_bytes = 0;   ///< size of the message; may exceed the receive buffer
    std::size_t arrived_bytes = 0;   ///< bytes of a granted message that have arrived
    int peer = -1;   ///< the only possible sender, numbered as by Cluster::peer_id; −1: any. Once matched, the sender
    std::uint64_t send = 0;                 ///< the sender's operation, once matched with an offer
    std::string const* failure = nullptr;   ///< the reason of the failure, if status.error does not say it
    Piggyback piggyback;                    ///< piggyback of the message, once matched
    void (*finished)(Receive&) = nullptr;   ///< as in Send

    bool truncated() const { return message_bytes > data.bytes; }
    bool failed() const { return status.error != ErrorClass::success; }
};

/// The memory that unexpected messages of one sender may occupy at a receiver. A sender that reaches the limit sends no
/// eager messages until some of its messages are matched.
struct UnexpectedCost {
    static constexpr std::uint64_t limit = 4 << 20;
    static std::uint64_t of(std::size_t bytes) { return bytes + 128; }
};

/// A message that arrived before its receive was posted. The data of an eager message, or the layout of offered data,
/// follows the structure in memory.
struct Unexpected {
    Key key;
    int peer = 0;               ///< the sender, numbered as by Cluster::peer_id
    std::uint64_t number = 0;   ///< as Send::number
    std::size_t bytes = 0;      ///< size of the packed data
    /// eager: the data is in content(); eager_sync: the same, and the sender wants `done`; offered: the data is still
    /// in the sender's buffer.
    enum class Kind : std::uint8_t { eager, eager_sync, offered } kind = Kind::eager;
    TypeDigest digest;
    // The following fields are used by the message's transport.
    /// eager_sync, offered: the sender's operation; eager, from another node: the call site of the send (0: unknown).
    std::uint64_t send = 0;
    /// offered, from another rank of this node: address of the data in the sender; 0: it has gaps, and its layout was
    /// not sent.
    std::uint64_t address = 0;
    bool has_layout = false;   ///< offered: the data has gaps and is accessible; its layout is in content()
    Piggyback piggyback;
    Send* local_send = nullptr;   ///< the send, if this rank is the sender
    Hook hooks[4];                ///< one for each combination of wildcards in the key
    Unexpected* previous = nullptr;
    Unexpected* next = nullptr;

    std::byte* content() { return reinterpret_cast<std::byte*>(this + 1); }

    /// Allocates a message with `room` bytes of content from the rank's pool.
    static Unexpected* create(FramePool& pool, std::size_t room);
    static void destroy(Unexpected* message);
};

}   // namespace tutti::p2p
