// SPDX-License-Identifier: BSD-3-Clause
// Movement of parts between pairs of ranks: how a rank describes the location of the bytes for a peer, and how the peer
// gets them. Used by Exchange, AllgatherParts, SenderWriting and the message-based blocks.
//
// A rank's published step describes its slot: 1 + n means packed parts of n bytes each; `table_step` means a table of
// entries, one per receiver, each describing the location of its part. Senders choose by what they have, and receivers
// follow what they find, so the two sides need not agree on sizes: a receiver detects a part that is too long, which
// delays no other rank.
#pragma once

#include <ranges>
#include <vector>

#include "coll/env/exposing.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/shared_copy.hpp"
#include "runtime/wait/task.hpp"

// Waiting for the readers of memory that is about to be overwritten.

namespace tutti::coll {

/// All ranks of the environment.
template <class Env>
auto all_ranks_of(Env const& env) {
    return std::views::iota(0, env.size());
}

/// Waits until all of `ranks` except this one have acknowledged `step`. Returns immediately if it is 0.
template <class Env, class Ranks>
Task await_acks(Env& env, Ranks ranks, int level, std::uint64_t step) {
    for (int rank : ranks)
        if (step > 0 && rank != env.rank()) co_await env.until_ack(rank, level, step);
}

/// How algorithms of YHCCL copy; the value is a CopyMode. Data with gaps is packed and unpacked in every mode.
inline constexpr Parameter copy_parameter = {"copy", 0,
                                             "how data is copied into and out of shared memory (YHCCL, section 4)",
                                             ParameterKind::keyword, "adaptive|memmove|temporal|nontemporal"};

/// The same for rivals, which copy as they were published.
inline constexpr Parameter memmove_copy_parameter = {"copy", static_cast<std::size_t>(CopyMode::memmove),
                                                     "how data is copied (YHCCL, section 4)", ParameterKind::keyword,
                                                     copy_parameter.keywords};

/// Algorithms in which every pair of ranks shares a copy (Environment::share) do so with at most this number of ranks.
/// They have not been measured with more.
inline constexpr int max_sharing_ranks = 48;

/// The pieces of work that ranks share in operations that suspend: whole multiples of `line` bytes, except the last.
inline CopyPieces shared_pieces(std::size_t bytes, std::size_t line = cache_line) {
    return CopyPieces::at_most(8, bytes, 16384, line);
}

/// The step that a rank publishes if its slot holds a table.
inline constexpr std::uint64_t table_step = max_step;

/// Where a part is until its receiver has it.
enum class PartLocation : std::uint8_t {
    slot,       ///< packed, in the sender's slot, after the table
    staging,    ///< packed, in the first half of the sender's staging memory
    memory,     ///< contiguous in the user's memory: one copy by the system, if it permits that
    arena,      ///< contiguous in its owner's arena: one copy by load and store
    layout,     ///< with gaps in its owner's arena; `at` is where its LayoutLocation is (Environment::layout_of)
    segments,   ///< the same in any memory of the user: copied by the system, segment by segment
    stream,     ///< arrives in pieces through two alternating buffers in the second half of the staging memory
};

/// Describes one part in a table. Trivially copyable; read by other ranks.
struct Entry {
    std::uint64_t bytes;
    std::uint64_t at;      ///< offset in slot or staging, address in memory
    std::uint32_t piece;   ///< bytes of a piece if it is streamed
    PartLocation location;
    bool root_copies = false;   ///< the root copies its share of the part
    std::uint64_t pieces() const { return (bytes + piece - 1) / piece; }
    /// True if the peer accesses the user's memory; it may answer that it cannot.
    bool is_exposed() const { return location == PartLocation::memory || has_gaps() || in_arena(); }
    bool has_gaps() const { return location == PartLocation::layout || location == PartLocation::segments; }
    /// True if peers can load and store there; certain only if they too have found memory of their own in an arena.
    bool in_arena() const { return location == PartLocation::arena || location == PartLocation::layout; }
};
static_assert(sizeof(Entry) == 24);

/// Location of a part with gaps: the origin of its elements, and where the description of its datatype is
/// (Environment::layout_of).
struct LayoutLocation {
    std::uint64_t origin, layout;
};

/// Values of a receiver's counter `consumed` for the sender: it has everything; it cannot read the sender's memory and
/// needs a stream; above `refused`, one more for each piece of a stream.
inline constexpr std::uint64_t all_transferred = 1, refused = 2;

/// Thresholds that determine the location of parts that do not fit into the slot.
struct Limits {
    /// Takes the limits from the algorithm's first three parameters.
    static Limits of(CommonArgs const& c) { return {c.parameters[0], c.parameters[1], c.parameters[2]}; }

    /// Limits for parts of any size.
    static Limits none(std::size_t piece) { return {0, piece, 0}; }

    std::size_t direct;            ///< the smallest part that peers access in its owner's arena, in bytes
    std::size_t piece;             ///< bytes of a piece of a stream, limited by the staging memory
    std::size_t cma;               ///< the smallest part that is copied by the system, in bytes
    bool always_exposes = false;   ///< parts from `direct` on are exposed even if they fit into a slot, and parts with
                                   ///< gaps also where only the system copies them
};
inline constexpr Parameter direct_parameter = {
    "direct", 8192, "smallest part, in bytes, that is copied directly from or to its owner's arena"};
inline constexpr Parameter piece_parameter = {"piece", 65536,
                                              "bytes per piece of a part that passes through staging memory"};
inline constexpr Parameter cma_parameter = {
    "cma", 32768, "smallest part outside the arenas, in bytes, that is copied by CMA if the system permits it"};
inline constexpr Parameter movement_parameters[] = {direct_parameter, piece_parameter, cma_parameter};
inline constexpr Parameter shared_movement_parameters[] = {
    direct_parameter,
    piece_parameter,
    cma_parameter,
    {"share", 16384, "smallest part, in bytes, of which an in-place root copies a share if both sides are in arenas"}};

/// Bytes of a part that are transferred; both sides compute the same.
inline std::size_t transferred_bytes(Entry const& one, Entry const& other) { return std::min(one.bytes, other.bytes); }
/// True if the root copies its share of a part. Both sides have exposed where it comes from and goes to.
inline bool root_copies_share(Entry const& from_root_side, Entry const& from_leaf_side, std::size_t min_bytes) {
    return from_root_side.root_copies && from_root_side.in_arena() && from_leaf_side.in_arena() &&
           transferred_bytes(from_root_side, from_leaf_side) >= min_bytes;
}
/// Where the root's share begins in each of the parts of `bytes` bytes that it exchanges with the `size` − 1 others.
/// All ranks then copy the same number of bytes. (A root that also copies a part of its own copies no share.)
inline std::size_t root_share_start(std::size_t bytes, int size) {
    auto const p = static_cast<std::size_t>(size);
    return bytes / p * (p - 1) / cache_line * cache_line;
}

/// The longest message that did not fit its buffer, reported after everything has arrived. Peers are ranks of the
/// environment.
class Truncation {
public:
    void record(int peer, std::uint64_t bytes, std::size_t room) {
        if (bytes > bytes_) peer_ = peer, bytes_ = bytes, room_ = room;
    }
    void compare(int peer, std::uint64_t bytes, std::size_t room) {
        if (bytes > room) [[unlikely]]
            record(peer, bytes, room);
    }
    /// Throws if there was such a message; the error names its sender's rank in the program's communicator.
    template <class Env>
    void check(Env const& env) const {
        if (peer_ >= 0) [[unlikely]]
            raise(env.reported_rank(peer_), env.world_rank(peer_));
    }

private:
    [[noreturn, gnu::cold, gnu::noinline]] void raise(int reported_rank, int world_rank) const {
        Error error(ErrorClass::truncate, join("rank ", reported_rank, " sent ", bytes_,
                                               " bytes, but the receive buffer holds only ", room_, " bytes"));
        error.peer = world_rank;
        throw error;
    }

    int peer_ = -1;
    std::uint64_t bytes_ = 0;
    std::size_t room_ = 0;
};

/// Stores `bytes` packed bytes, which begin at packed position `position` of a message of `total` bytes, into the
/// user's buffer. Bytes beyond the end of the buffer are dropped and recorded.
template <class Env>
void deliver(Env& env, Buffer const& to, std::size_t position, void const* from, std::size_t bytes, std::uint64_t total,
             int peer, Truncation& truncation) {
    std::size_t const room = to.bytes();
    if (total > room) [[unlikely]] {
        truncation.record(peer, total, room);
        bytes = position < room ? std::min(bytes, room - position) : 0;
    }
    env.store(to, position, from, bytes);
}

/// Stores packed bytes at `position` into the user's buffer. A contiguous one is written as Environment::copy does.
template <class Env>
void copy_out(Env& env, Buffer const& to, std::size_t position, void const* from, std::size_t bytes,
              std::size_t working_set, CopyMode mode) {
    if (to.type->dense(to.count)) env.copy(first_byte(to) + position, from, bytes, working_set, mode);
    else env.store(to, position, from, bytes);
}

/// Copies packed bytes [position, position + bytes) from one layout of this rank to another.
template <class Env>
void copy_between(Env& env, Buffer const& to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
    env.count(bytes, bytes);
    copy_typed(TypedMemory::of(to.address, to.count, *to.type), TypedMemory::of(from.address, from.count, *from.type),
               position, bytes);
}

/// Copies packed bytes [position, end) of a rank's part for itself, up to the size of the buffer. `working_set` as in
/// Copier::copy.
template <class Env>
void deliver_own(Env& env, Buffer const& to, ConstBuffer const& from, std::size_t position, std::size_t end,
                 std::size_t working_set, Truncation& truncation) {
    if (from.bytes() > to.bytes()) [[unlikely]]
        truncation.record(env.rank(), from.bytes(), to.bytes());
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

template <class Env>
LayoutLocation layout_location(Env& env, int peer, Entry const& e) {
    LayoutLocation where;
    std::memcpy(&where, env.layout_of(peer, e.at), sizeof where);
    return where;
}

/// Returns the buffer of a peer's part if this rank can load and store there, else an empty one.
template <class Env>
PeerBuffer<Env> peer_part(Env& env, int peer, Entry const& e) {
    if (!e.is_exposed()) return {};
    if (!e.has_gaps()) return {env, peer, e.at, e.bytes};
    LayoutLocation const where = layout_location(env, peer, e);
    return {env, peer, where.origin, e.bytes, env.layout_of(peer, where.layout)};
}

/// Returns a peer's part with gaps for copies by the system.
template <class Env>
RemoteSegments peer_segments(Env& env, int peer, Entry const& e) {
    LayoutLocation const where = layout_location(env, peer, e);
    return {where.origin, e.bytes, env.layout_of(peer, where.layout)};
}

/// Reads a part from its owner's memory. If the system copies a contiguous part and the receiver's layout has gaps:
/// through `bounce`, or segment by segment if that is empty. Returns false if it is not permitted. `working_set` as in
/// Copier::copy.
template <class Env>
bool fetch_part(Env& env, int peer, Entry const& e, Buffer const& to, std::span<std::byte> bounce,
                std::size_t working_set, Truncation& truncation) {
    std::size_t const room = to.bytes();
    std::size_t const n = std::min<std::size_t>(e.bytes, room);
    if (e.bytes > room) [[unlikely]]
        truncation.record(peer, e.bytes, room);
    if (n == 0) return true;
    if (PeerBuffer<Env> const there = peer_part(env, peer, e)) {
        there.get(to, 0, n, working_set);
        return true;
    }
    if (e.location == PartLocation::layout) return false;
    if (e.has_gaps()) return env.fetch_segments(peer, peer_segments(env, peer, e).memory, typed_memory(to), 0, n);
    std::size_t at = 0;
    return fetch_packed(env, peer, e.at, to, at, n, bounce);
}

/// The two halves of staging memory: staged parts and layouts, and the two buffers of streams.
template <class Env>
class Staging {
public:
    Staging(Env& env, std::size_t piece)
        : env_(env), half_(env.staging_bytes() / 2),
          piece_(std::max(cache_line, std::min(piece, half_ / 2) / cache_line * cache_line)) {}

    std::size_t piece() const { return piece_; }
    std::byte* buffer(std::uint64_t k) { return env_.staging() + half_ + (k % 2) * piece_; }
    std::span<std::byte> bounce() { return {buffer(0), piece_}; }
    std::byte const* staged_part(int peer, std::size_t at) { return env_.staging(peer) + at; }
    /// Piece k of the peer's stream, whose piece size may differ from ours.
    std::byte const* buffer(int peer, Entry const& e, std::uint64_t k) {
        return env_.staging(peer) + half_ + (k % 2) * e.piece;
    }

    Entry entry(std::size_t bytes, std::uint64_t at, PartLocation location) const {
        return {.bytes = bytes, .at = at, .piece = static_cast<std::uint32_t>(piece_), .location = location};
    }
    /// Reserves the first `table` bytes of the slot for a table.
    void reserve_table(std::size_t table) { slot_used_ = table; }
    /// Exposes the staging memory. Called when other ranks must read something in it, or described by it, before this
    /// rank returns.
    void expose() {
        if (!outstanding_) env_.expose_staged();
        outstanding_ = true;
    }
    bool outstanding() const { return outstanding_; }
    /// Makes a part available to other ranks: in the slot while there is room, otherwise as in stage_or_expose.
    Entry post(Buffer const& part, Limits const& limits, bool may_expose = true) {
        std::size_t const n = part.bytes(), at = slot_used_;
        if (n > env_.slot_bytes() - slot_used_ || (limits.always_exposes && n >= limits.direct)) {
            expose();
            return stage_or_expose(part, limits, may_expose);
        }
        env_.load(env_.slot(env_.slot_bytes()) + at, part, 0, n);
        slot_used_ += n;
        return entry(n, at, PartLocation::slot);
    }
    /// Receives a part that its sender has staged.
    void receive(int peer, Entry const& e, Buffer const& to, Truncation& truncation) {
        std::byte const* const from =
            e.location == PartLocation::slot ? env_.slot(peer, env_.slot_bytes()) + e.at : staged_part(peer, e.at);
        deliver(env_, to, 0, from, e.bytes, e.bytes, peer, truncation);
    }
    /// Makes a part available to other ranks: exposed in place if it is large and peers may access it (`may_expose`: it
    /// is not overwritten meanwhile); else packed into staging memory while there is room; else exposed in place
    /// regardless of its size, if permitted; else streamed.
    Entry stage_or_expose(Buffer const& part, Limits const& limits, bool may_expose = true) {
        std::size_t const n = part.bytes();
        Entry const exposed = may_expose ? try_expose(part, limits) : entry(n, 0, PartLocation::stream);
        if (exposed.is_exposed()) return exposed;
        if (n > half_ - used_) return may_expose ? try_expose(part, Limits::none(limits.piece)) : exposed;
        std::size_t const at = used_;
        env_.stage(env_.staging() + at, part, 0, n);
        used_ += n;
        return entry(n, at, PartLocation::staging);
    }
    /// Exposes a part in place, or returns an entry for a part that must be streamed.
    Entry try_expose(Buffer const& part, Limits const& limits) {
        std::size_t const n = part.bytes();
        if (!part.type->dense(part.count))
            return n >= limits.direct ? expose_layout(part, limits.always_exposes) : entry(n, 0, PartLocation::stream);
        AccessPath const access = env_.access_path(first_byte(part), n);
        bool const arena = access == AccessPath::load_store;
        if (access == AccessPath::staged || n < (arena ? limits.direct : limits.cma))
            return entry(n, 0, PartLocation::stream);
        return entry(n, reinterpret_cast<std::uint64_t>(first_byte(part)),
                     arena ? PartLocation::arena : PartLocation::memory);
    }

private:
    /// Consecutive parts of one type share its layout. Without `by_segments`, a layout may take a quarter of the half.
    Entry expose_layout(Buffer const& part, bool by_segments) {
        std::size_t const n = part.bytes(), length = part.type == type_ ? 0 : flat_length(*part.type);
        if (!by_segments && (length > half_ / 4 / word || used_ + word + sizeof(LayoutLocation) + half_ / 4 > half_))
            return entry(n, 0, PartLocation::stream);
        AccessPath const path = path_to_gaps(env_, part);
        if (path != AccessPath::load_store && (!by_segments || path == AccessPath::staged))
            return entry(n, 0, PartLocation::stream);
        if (part.type != type_) {
            type_ = part.type;
            layout_ = allocate(length * word);
            flatten(*type_, {reinterpret_cast<std::int64_t*>(env_.layout_of(env_.rank(), layout_)), length});
        }
        LayoutLocation const where{reinterpret_cast<std::uint64_t>(part.address), layout_};
        std::uint64_t const at = allocate(sizeof where);
        std::memcpy(env_.layout_of(env_.rank(), at), &where, sizeof where);
        return entry(n, at, path == AccessPath::load_store ? PartLocation::layout : PartLocation::segments);
    }
    /// Takes room for descriptions in the first half, else more memory. Returns the distance from the staging memory.
    std::uint64_t allocate(std::size_t bytes) {
        std::size_t const at = (used_ + word - 1) / word * word;
        if (at + bytes <= half_) {
            used_ = at + bytes;
            return at;
        }
        if (taken_.bytes < bytes) taken_ = env_.more_staging(bytes);
        std::uint64_t const offset = taken_.offset;
        taken_ = {offset + bytes, taken_.bytes - bytes};
        return offset - env_.exposure(env_.rank()).staging;
    }

    static constexpr std::size_t word = sizeof(std::int64_t);

    Env& env_;
    std::size_t half_, piece_, used_ = 0, slot_used_ = 0;
    bool outstanding_ = false;
    Datatype const* type_ = nullptr;   ///< the type whose layout was written last, at layout_
    std::uint64_t layout_ = 0;
    StagingMemory taken_;   ///< what is left of the memory taken last
};

}   // namespace tutti::coll
