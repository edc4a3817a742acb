// SPDX-License-Identifier: BSD-3-Clause
// What is in flight: sends, receives and messages that nobody has asked for yet. Plain structures, so that a blocking
// call keeps its own on the stack; requests (p2p/request.hpp) contain them.
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

/// memcpy for pieces between a ring and a buffer. The C library's way with pieces of about 2 KiB (rep movsb)
/// starts slowly on lines that another core holds: 4 KiB from rank to rank take 1.0 µs with it and 0.8 µs with this.
inline void copy_piece(std::byte* to, std::byte const* from, std::size_t n) {
    using Lanes [[gnu::vector_size(16)]] = char;
    if (n > 2048) {
        std::memcpy(to, from, n);
        return;
    }
    for (; n >= 64; n -= 64, to += 64, from += 64) {
        Lanes a, b, c, d;   // all loaded before one is stored
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

/// A message's data in the user's memory: dense bytes, or elements of a datatype with gaps.
struct Data {
    std::byte* base = nullptr;
    std::size_t bytes = 0;            ///< of packed data
    Datatype const* type = nullptr;   ///< null: dense
    std::int64_t count = 0;
    Datatype const* element = nullptr;   ///< of which there are `count`, dense or not; null: bytes, and no count

    static Data of_bytes(void const* buffer, std::size_t bytes) {
        return {static_cast<std::byte*>(const_cast<void*>(buffer)), bytes, nullptr, 0, nullptr};
    }
    static Data of(void const* buffer, std::int64_t count, Datatype const& type) {
        std::size_t bytes = static_cast<std::size_t>(count * type.size());
        auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
        // As numbers: MPI_BOTTOM is a null pointer, and with it the lower bound is the address.
        auto first = reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(type.true_lb());
        if (type.dense(count)) [[likely]]
            return {reinterpret_cast<std::byte*>(first), bytes, nullptr, count, &type};
        return {base, bytes, &type, count, &type};
    }
    bool dense() const { return type == nullptr; }
    /// What a message of it says of its types.
    TypeDigest digest() const {
        if (!element) return {};
        TypeDigest const one = element->digest();
        if (one.mixed()) [[unlikely]]
            return TypeDigest::of(*element->signature(), count);
        return one;
    }
    /// "4 MPI_INT"
    std::string amount() const;

    /// Packed bytes [position, position + n) to `out`.
    void gather(std::size_t position, void* out, std::size_t n) const {
        if (n == 0) return;
        if (dense()) [[likely]]
            copy_piece(static_cast<std::byte*>(out), base + position, n);
        else type->pack(base, count, position, out, n);
    }
    /// Packed bytes [position, position + n) from `in`.
    void scatter(std::size_t position, void const* in, std::size_t n) const {
        if (n == 0) return;
        if (dense()) [[likely]]
            copy_piece(base + position, static_cast<std::byte const*>(in), n);
        else type->unpack(base, count, position, in, n);
    }
};

/// Copies the first bytes of one message's data to another's, as many as fit; returns how many.
std::size_t transfer(Data const& to, Data const& from);

/// What a message carries besides its data under --check (p2p/check/sent_note.hpp): bytes to a transport, which
/// delivers them with the message's envelope. Null: nothing, always so without --check, and where the ring of a pair is
/// too small for it.
using Note = std::shared_ptr<std::vector<std::byte> const>;

enum class Mode : std::uint8_t { standard, synchronous, buffered, ready };

enum class SendStage : std::uint8_t {
    idle,      ///< not begun
    queued,    ///< waits for room in the ring
    offered,   ///< the receiver knows of it; done when it says so
    granted,   ///< goes out in pieces
    sent,      ///< nothing more to do
};

struct Send {
    Data data;
    Key key;                      ///< context, the sender's rank in the communicator, tag
    Request* request = nullptr;   ///< whose it is; null: of a call that does not return before it is done
    int peer = 0;                 ///< the receiver, as Cluster::peer_of names it
    Mode mode = Mode::standard;
    SendStage stage = SendStage::idle;
    bool eager = false;   ///< leaves the sender without being asked for
    bool done = false;
    bool cancelling = false;   ///< the receiver was asked to forget it and has not answered
    bool cancelled = false;
    TypeDigest digest;                      ///< of the data as the program gave it
    std::uint64_t number = 0;               ///< of its cell, which names it to the receiver; valid once out of `queued`
    std::uint64_t receive = 0;              ///< granted: the receiver's operation
    std::size_t position = 0;               ///< granted: bytes sent
    std::size_t wanted = 0;                 ///< granted: bytes the receiver has room for
    Send* next = nullptr;                   ///< in its peer's line of queued or granted sends
    std::uint64_t id = 0;                   ///< to another node: what it is called there; 0: nothing
    std::string const* failure = nullptr;   ///< done, but it failed: why
    Note note;                              ///< goes out before it; null once that has happened
    /// Called once when done; throws no std::bad_alloc, since no call could report it. Null: the owner checks `done`.
    void (*finished)(Send&) = nullptr;
};

struct Receive {
    Data data;
    Key key;                      ///< with wildcards
    Request* request = nullptr;   ///< as Send has it
    Hook hook;
    std::uint64_t sequence = 0;   ///< of posting
    bool posted = false;          ///< waits for a message
    bool done = false;
    TypeDigest other_types;   ///< those of the message, where they do not match
    Status status;
    std::size_t sent = 0;      ///< bytes of the message, may be more than the room for it
    std::size_t arrived = 0;   ///< bytes of a granted message that are here
    int peer = -1;             ///< the only sender that it may have, as Cluster::peer_of names it, −1: any; once
                               ///< matched, the sender
    std::uint64_t send = 0;    ///< the sender's operation, once matched with an offer
    std::string const* failure = nullptr;   ///< why it failed, where status.error alone does not tell
    Note note;                              ///< of the message, once matched
    void (*finished)(Receive&) = nullptr;   ///< as Send has it

    bool truncated() const { return sent > data.bytes; }
    bool failed() const { return status.error != ErrorClass::success; }
};

/// What messages that nobody has asked for may cost a receiver's memory, of each sender: one that has so much there
/// sends nothing eagerly until some of it has found its receive.
struct UnexpectedCost {
    static constexpr std::uint64_t most = 4 << 20;
    static std::uint64_t of(std::size_t bytes) { return bytes + 128; }
};

/// A message that came before its receive. Eager data lies behind the structure, or the layout of offered data.
struct Unexpected {
    Key key;
    int peer = 0;
    std::uint64_t number = 0;   ///< of its cell
    std::size_t bytes = 0;
    enum class What : std::uint8_t { here, here_sync, offered } what = What::here;
    TypeDigest digest;
    // For its transport:
    std::uint64_t send = 0;      ///< here_sync and offered: the sender's operation; here, from another node: where the
                                 ///< program has sent it, 0: not known
    std::uint64_t address = 0;   ///< offered: where the bytes lie in the sender, 0: not in one piece
    bool has_layout = false;     ///< offered: the data has gaps, but can be reached
    Note note;
    Send* local = nullptr;   ///< a send to oneself
    Hook hooks[4];           ///< by the wildcards of the key they are filed under
    Unexpected* previous = nullptr;
    Unexpected* next = nullptr;

    std::byte* content() { return reinterpret_cast<std::byte*>(this + 1); }

    /// With `room` bytes for its content, from the rank's pool.
    static Unexpected* make(FramePool& pool, std::size_t room);
    static void discard(Unexpected* message);
};

}   // namespace tutti::p2p
