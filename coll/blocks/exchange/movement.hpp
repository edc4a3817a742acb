// SPDX-License-Identifier: BSD-3-Clause
// What data movements between pairs share: how a rank says where the bytes for a peer lie, and how a peer gets them.
//
// A rank's published step says what is in its slot: 1 + n means parts of n bytes each, packed, one after the other;
// `table_step` means a table of entries, one per receiver, each telling where its part is. Senders decide by what they
// have, receivers follow what they find: both need not agree on sizes, so a part that is too long is found out by its
// receiver and delays nobody.
#pragma once

#include <vector>

#include "coll/env/env.hpp"
#include "runtime/base/error.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

inline constexpr std::uint64_t table_step = last_step;

/// Where a part lies until its receiver has it.
enum class Place : std::uint8_t {
    slot,      ///< packed, in the sender's slot, behind the table
    staging,   ///< packed, in the first half of the sender's staging memory
    memory,    ///< in one piece where its user has it: one copy, if the system lets it
    arena,     ///< in one piece in its owner's arena: one copy by load and store
    layout,    ///< with gaps in its owner's arena; `at` is where the staging memory says how (see Shown)
    stream,    ///< comes in pieces through the second half of the staging memory, in two buffers by turns
};

struct Entry {
    std::uint64_t bytes;
    std::uint64_t at;      ///< offset in slot or staging, address in memory
    std::uint32_t piece;   ///< bytes of a piece, should it be streamed
    Place place;
    bool helps = false;   ///< a root's: it copies its share of what others get from it or bring to it
    std::uint64_t pieces() const { return (bytes + piece - 1) / piece; }
    /// Is it the peer that gets at the user's memory, and may answer that it could not?
    bool shown() const { return place == Place::memory || in_arena(); }
    /// Peers can load and store there: for certain, if they too have found something of theirs in an arena.
    bool in_arena() const { return place == Place::arena || place == Place::layout; }
};
static_assert(sizeof(Entry) == 24);

/// Where a part with gaps lies: its elements' origin, and where in the staging memory their datatype is written down.
struct Shown {
    std::uint64_t origin, layout;
};

/// What a receiver answers in its counter `taken` for the sender: it has all; it may not read the sender's memory and
/// wants a stream; from `refused` on, one more for each piece of a stream.
inline constexpr std::uint64_t has_all = 1, refused = 2;

/// Where the parts of a rank that do not fit its slot go.
struct Limits {
    /// From the algorithm's first three parameters.
    static Limits of(CommonArgs const& c) { return {c.parameters[0], c.parameters[1], c.parameters[2]}; }

    /// For parts that have nowhere else to go.
    static Limits none(std::size_t piece) { return {0, piece, 0}; }

    std::size_t direct;   ///< the smallest part that peers get at in its owner's arena, in bytes
    std::size_t piece;    ///< bytes of a piece of a stream, cut to what staging memory holds
    std::size_t cma;      ///< the smallest part that is copied by the system, in bytes
};
inline constexpr Parameter direct_parameter = {"direct", 8192,
                                               "bytes from which a part is copied where it lies in its owner's arena"};
inline constexpr Parameter piece_parameter = {"piece", 65536, "bytes of a piece where parts go through staging memory"};
inline constexpr Parameter cma_parameter = {
    "cma", 32768, "bytes from which a part outside the arenas is copied by the system, where it allows that"};
inline constexpr Parameter movement_parameters[] = {direct_parameter, piece_parameter, cma_parameter};
inline constexpr Parameter shared_movement_parameters[] = {
    direct_parameter,
    piece_parameter,
    cma_parameter,
    {"share", 16384, "bytes from which a root in place copies a share of each part, where both sides lie in arenas"}};

/// Bytes of a part that arrive; both its sides find the same.
inline std::size_t moved(Entry const& one, Entry const& other) { return std::min(one.bytes, other.bytes); }
/// Does the root copy its share of a part? Both sides have shown where it comes from and where it goes to.
inline bool shared(Entry const& of_root, Entry const& of_leaf, std::size_t least) {
    return of_root.helps && of_root.in_arena() && of_leaf.in_arena() && moved(of_root, of_leaf) >= least;
}
/// Where the root's share of `bytes` bytes begins, of those that it exchanges with each of the `size` − 1 others: all
/// ranks then copy the same number of bytes. (A root that has a part of its own to copy has enough to do.)
inline std::size_t root_share(std::size_t bytes, int size) {
    auto const p = static_cast<std::size_t>(size);
    return bytes / p * (p - 1) / cache_line * cache_line;
}

/// The longest message that was too long for its place, to be reported when everything has arrived. Peers are those of
/// the environment.
class Truncation {
public:
    void note(int peer, std::uint64_t bytes, std::size_t room) {
        if (bytes > bytes_) peer_ = peer, bytes_ = bytes, room_ = room;
    }
    void compare(int peer, std::uint64_t bytes, std::size_t room) {
        if (bytes > room) [[unlikely]]
            note(peer, bytes, room);
    }
    /// Throws if there was one, and names its sender as the program knows it.
    template <class Env>
    void check(Env const& env) const {
        if (peer_ >= 0) [[unlikely]]
            raise(env.reported_rank(peer_), env.world_rank(peer_));
    }

private:
    [[noreturn, gnu::cold, gnu::noinline]] void raise(int reported_rank, int world_rank) const {
        Error error(ErrorClass::truncate,
                    join("rank ", reported_rank, " sends ", bytes_, " bytes but there is room for ", room_));
        error.peer = world_rank;
        throw error;
    }

    int peer_ = -1;
    std::uint64_t bytes_ = 0;
    std::size_t room_ = 0;
};

/// Puts `bytes` packed bytes from packed position `position` of a message of `total` bytes into the user's buffer;
/// what is beyond the buffer's end is dropped and noted.
template <class Env>
void deliver(Env& env, Buffer const& to, std::size_t position, void const* from, std::size_t bytes, std::uint64_t total,
             int peer, Truncation& truncation) {
    std::size_t const room = to.bytes();
    if (total > room) [[unlikely]] {
        truncation.note(peer, total, room);
        bytes = position < room ? std::min(bytes, room - position) : 0;
    }
    env.store(to, position, from, bytes);
}

/// Packed bytes [position, position + bytes) from one of this rank's layouts to the other.
template <class Env>
void copy_between(Env& env, Buffer const& to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
    env.count(bytes, bytes);
    copy_typed(TypedMemory::of(to.address, to.count, *to.type), TypedMemory::of(from.address, from.count, *from.type),
               position, bytes);
}

/// Packed bytes [position, end) of a rank's part for itself, as far as there is room. `working_set` as in Copier::copy.
template <class Env>
void deliver_own(Env& env, Buffer const& to, ConstBuffer const& from, std::size_t position, std::size_t end,
                 std::size_t working_set, Truncation& truncation) {
    if (from.bytes() > to.bytes()) [[unlikely]]
        truncation.note(env.rank(), from.bytes(), to.bytes());
    end = std::min({end, from.bytes(), to.bytes()});
    if (position >= end) return;
    if (to.type->dense(to.count) && from.type->dense(from.count))
        env.copy(first_byte(to) + position, first_byte(from) + position, end - position, working_set);
    else copy_between(env, to, from, position, end - position);
}
template <class Env>
void deliver_own(Env& env, Buffer const& to, ConstBuffer const& from, std::size_t working_set, Truncation& truncation) {
    deliver_own(env, to, from, 0, from.bytes(), working_set, truncation);
}

/// A peer's part, if this rank can load and store there.
template <class Env>
PeerBuffer<Env> buffer_of(Env& env, int peer, Entry const& e) {
    if (!e.shown()) return {};
    if (e.place != Place::layout) return {env, peer, e.at, e.bytes};
    Shown shown;
    std::memcpy(&shown, env.staging_of(peer) + e.at, sizeof shown);
    return {env, peer, shown.origin, e.bytes, env.staging_of(peer) + shown.layout};
}

/// Reads a part from its owner's memory, through `bounce` when the system copies and the receiver's layout has gaps.
/// False: not allowed. `working_set` as in Copier::copy.
template <class Env>
bool fetch_part(Env& env, int peer, Entry const& e, Buffer const& to, std::span<std::byte> bounce,
                std::size_t working_set, Truncation& truncation) {
    std::size_t const room = to.bytes();
    std::size_t const n = std::min<std::size_t>(e.bytes, room);
    if (e.bytes > room) [[unlikely]]
        truncation.note(peer, e.bytes, room);
    if (n == 0) return true;
    if (PeerBuffer<Env> const there = buffer_of(env, peer, e)) {
        there.get(to, 0, n, working_set);
        return true;
    }
    if (e.place == Place::layout) return false;
    if (to.type->dense(to.count)) bounce = {};
    std::size_t at = 0;
    return fetch_packed(env, peer, e.at, to, at, n, bounce);
}

/// The two halves of staging memory: parts and layouts laid out, and the two buffers of streams.
template <class Env>
class Staging {
public:
    Staging(Env& env, std::size_t piece)
        : env_(env), half_(env.staging_bytes() / 2),
          piece_(std::max(cache_line, std::min(piece, half_ / 2) / cache_line * cache_line)) {}

    std::size_t piece() const { return piece_; }
    std::byte* buffer(std::uint64_t k) { return env_.staging() + half_ + (k % 2) * piece_; }
    std::span<std::byte> bounce() { return {buffer(0), piece_}; }
    std::byte const* laid_out(int peer, std::size_t at) { return env_.staging(peer) + at; }
    /// Piece k of the peer's stream, whose pieces may have another size than ours.
    std::byte const* buffer(int peer, Entry const& e, std::uint64_t k) {
        return env_.staging(peer) + half_ + (k % 2) * e.piece;
    }

    Entry entry(std::size_t bytes, std::uint64_t at, Place place) const {
        return {.bytes = bytes, .at = at, .piece = static_cast<std::uint32_t>(piece_), .place = place};
    }
    /// So much of the slot is a table's.
    void begin_slot(std::size_t table) { slot_used_ = table; }
    /// Shows the staging memory, in which, or by which, there is something that others must have before this rank
    /// returns.
    void expose() {
        if (!outstanding_) env_.expose_staged();
        outstanding_ = true;
    }
    bool outstanding() const { return outstanding_; }
    /// Where a part for others goes while there is room: into the slot; else as lay_out says.
    Entry post(Buffer const& part, Limits const& limits, bool may_show = true) {
        std::size_t const n = part.bytes(), at = slot_used_;
        if (n > env_.slot_bytes() - slot_used_) {
            expose();
            return lay_out(part, limits, may_show);
        }
        env_.load(env_.slot(env_.slot_bytes()) + at, part, 0, n);
        slot_used_ += n;
        return entry(n, at, Place::slot);
    }
    /// Takes a part that its sender has laid out.
    void take(int peer, Entry const& e, Buffer const& to, Truncation& truncation) {
        std::byte const* const from =
            e.place == Place::slot ? env_.slot(peer, env_.slot_bytes()) + e.at : laid_out(peer, e.at);
        deliver(env_, to, 0, from, e.bytes, e.bytes, peer, truncation);
    }
    /// Where a part for others goes: shown where it lies if it is large and peers may be let at it (`may_show`: nothing
    /// overwrites it meanwhile), else packed here while there is room, else shown all the same, else streamed.
    Entry lay_out(Buffer const& part, Limits const& limits, bool may_show = true) {
        std::size_t const n = part.bytes();
        Entry const shown = may_show ? show(part, limits) : entry(n, 0, Place::stream);
        if (shown.shown()) return shown;
        if (n > half_ - used_) return may_show ? show(part, Limits::none(limits.piece)) : shown;
        std::size_t const at = used_;
        env_.stage(env_.staging() + at, part, 0, n);
        used_ += n;
        return entry(n, at, Place::staging);
    }
    /// Shows a part where it lies, or says that it must be streamed.
    Entry show(Buffer const& part, Limits const& limits) {
        std::size_t const n = part.bytes();
        if (!part.type->dense(part.count)) return n >= limits.direct ? show_layout(part) : entry(n, 0, Place::stream);
        AccessPath const way = env_.way(first_byte(part), n);
        bool const arena = way == AccessPath::load_store;
        if (way == AccessPath::staged || n < (arena ? limits.direct : limits.cma)) return entry(n, 0, Place::stream);
        return entry(n, reinterpret_cast<std::uint64_t>(first_byte(part)), arena ? Place::arena : Place::memory);
    }

private:
    /// Parts of one type after the other share its layout. One layout may take a quarter of the room.
    Entry show_layout(Buffer const& part) {
        std::size_t const n = part.bytes();
        constexpr std::size_t word = sizeof(std::int64_t);
        std::size_t at = (used_ + word - 1) / word * word;
        if (at + sizeof(Shown) + half_ / 4 > half_) return entry(n, 0, Place::stream);
        if (!env_.can_load(part)) return entry(n, 0, Place::stream);
        if (part.type != type_) {
            std::size_t const written = env_.write_layout(*part.type, at, half_ / 4);
            if (written == 0) return entry(n, 0, Place::stream);
            type_ = part.type;
            layout_ = at;
            at += written;
        }
        Shown const shown{reinterpret_cast<std::uint64_t>(part.address), layout_};
        std::memcpy(env_.staging() + at, &shown, sizeof shown);
        used_ = at + sizeof shown;
        return entry(n, at, Place::layout);
    }

    Env& env_;
    std::size_t half_, piece_, used_ = 0, slot_used_ = 0;
    bool outstanding_ = false;
    Datatype const* type_ = nullptr;   ///< whose layout has been written last, and where
    std::size_t layout_ = 0;
};

}   // namespace tutti::coll
