// SPDX-License-Identifier: BSD-3-Clause
// What data movements between pairs share: how a rank says where the bytes for a peer lie, and how a peer gets them.
//
// A rank's published step says what is in its slot: 1 + n means parts of n bytes each, packed, one after the other;
// `table_step` means a table of entries, one per receiver, each telling where its part is. Senders decide by what they
// have, receivers follow what they find: both need not agree on sizes, so a part that is too long is found out by its
// receiver and delays nobody.
#pragma once

#include <vector>

#include "coll/env.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {

inline constexpr std::uint64_t table_step = last_step;

/// Where a part lies until its receiver has it.
enum class Place : std::uint32_t {
    slot,      ///< packed, in the sender's slot, behind the table
    staging,   ///< packed, in the first half of the sender's staging memory
    memory,    ///< in one piece where the sender's user has it: one copy by the receiver, if the system lets it
    stream,    ///< comes in pieces through the second half of the staging memory, in two buffers by turns
};

struct Entry {
    std::uint64_t bytes;
    std::uint64_t at;        ///< offset in slot or staging, address in memory
    Place place;
    std::uint32_t piece;     ///< bytes of a piece, should it be streamed
    std::uint64_t pieces() const { return (bytes + piece - 1) / piece; }
};
static_assert(sizeof(Entry) == 24);

/// What a receiver answers in its counter `taken` for the sender: it has all; it may not read the sender's memory and
/// wants a stream; from `refused` on, one more for each piece of a stream.
inline constexpr std::uint64_t has_all = 1, refused = 2;

/// Where the parts of a rank that do not fit its slot go.
struct Limits {
    std::size_t direct;      ///< the smallest part that is read from its owner's memory, in bytes
    std::size_t piece;       ///< bytes of a piece of a stream, cut to what staging memory holds
};
inline constexpr Parameter movement_parameters[] = {
    {"direct", 16384, "bytes from which a part is read from its owner's memory, where the system allows it"},
    {"piece", 65536, "bytes of a piece where parts go through staging memory"},
};

/// What remains to be said when everything has arrived: that something was too long for its place.
class Truncation {
public:
    void note(int peer, std::uint64_t bytes, std::size_t room) {
        if (bytes > bytes_) peer_ = peer, bytes_ = bytes, room_ = room;
    }
    void check() const {
        if (peer_ >= 0) [[unlikely]]
            fail(ErrorClass::truncate, "rank ", peer_, " sends ", bytes_, " bytes but there is room for ", room_);
    }

private:
    int peer_ = -1;
    std::uint64_t bytes_ = 0;
    std::size_t room_ = 0;
};

/// Puts `bytes` packed bytes from packed position `position` of a message of `total` bytes into the user's buffer;
/// what is beyond the buffer's end is dropped and noted.
template <class Env>
void deliver(Buffer const& to, std::size_t position, void const* from, std::size_t bytes, std::uint64_t total, int peer,
             Truncation& truncation) {
    std::size_t const room = to.bytes();
    if (total > room) [[unlikely]] {
        truncation.note(peer, total, room);
        bytes = position < room ? std::min(bytes, room - position) : 0;
    }
    Env::store(to, position, from, bytes);
}

/// A rank's part for itself.
inline void deliver_own(Buffer const& to, ConstBuffer const& from, int rank, Truncation& truncation) {
    if (from.bytes() > to.bytes()) [[unlikely]] truncation.note(rank, from.bytes(), to.bytes());
    copy_typed(to.address, to.count, *to.type, from.address, from.count, *from.type);
}

/// Reads a part from its owner's memory, through `bounce` when the receiver's layout has gaps. False: not allowed.
template <class Env>
bool fetch_part(Env& env, int peer, Entry const& e, Buffer const& to, std::span<std::byte> bounce,
                Truncation& truncation) {
    std::size_t const room = to.bytes();
    std::size_t const n = std::min<std::size_t>(e.bytes, room);
    if (e.bytes > room) [[unlikely]] truncation.note(peer, e.bytes, room);
    if (n == 0) return true;
    if (to.type->dense(to.count))
        return env.fetch(peer, e.at, static_cast<std::byte*>(to.address) + to.type->true_lb(), n);
    for (std::size_t at = 0; at < n; at += bounce.size()) {
        std::size_t const piece = std::min(bounce.size(), n - at);
        if (!env.fetch(peer, e.at + at, bounce.data(), piece)) return false;
        Env::store(to, at, bounce.data(), piece);
    }
    return true;
}

/// The two halves of staging memory: parts laid out, and the two buffers of streams.
template <class Env>
class Staging {
public:
    Staging(Env& env, std::size_t piece)
        : env_(env), half_(env.staging_bytes() / 2), piece_(std::min(piece, half_ / 2) / cache_line * cache_line) {}

    std::size_t half() const { return half_; }
    std::size_t piece() const { return piece_; }
    std::byte* laid_out(std::size_t at) { return env_.staging() + at; }
    std::byte* buffer(std::uint64_t k) { return env_.staging() + half_ + (k % 2) * piece_; }
    std::span<std::byte> bounce() { return {buffer(0), piece_}; }
    std::byte const* laid_out(int peer, std::size_t at) { return env_.staging(peer) + at; }
    /// Piece k of the peer's stream, whose pieces may have another size than ours.
    std::byte const* buffer(int peer, Entry const& e, std::uint64_t k) {
        return env_.staging(peer) + half_ + (k % 2) * e.piece;
    }

private:
    Env& env_;
    std::size_t half_, piece_;
};

}  // namespace tutti::coll
