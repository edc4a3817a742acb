// SPDX-License-Identifier: BSD-3-Clause
// The way from one rank to another inside a node: a ring of 64-byte cells and a ring of bytes for what is too big for
// a cell, in the receiver's part of the segment. A message of up to 32 bytes moves exactly one cache line.
//
// The argument. A pair's memory has two writers: the sender writes cells and bytes, the receiver writes `Consumed`
// (p2p/shm/halves.hpp and p2p/shm/announced.hpp have arguments of their own).
// Everything counts up from zero and is never reset, so zero memory is an empty ring.
//  * Cell p (p = 0, 1, 2, …) lies at p mod cells. The sender fills it, then stores its mark, p + 1 and the kind, with
//    release. The receiver looks, with acquire, for mark p + 1 only: what stood there before is p + 1 − cells, so an
//    old cell is never taken for a new one, and a cell whose mark is seen is wholly written, its bytes in the byte
//    ring too, because these were written before the mark.
//  * Reuse: the receiver copies a cell and its bytes out before it counts them in `Consumed` with release. The sender
//    writes cell p only when Consumed.cells > p − cells, read with acquire, and bytes up to position e only when
//    Consumed.bytes ≥ e − capacity. So it never writes what is still being read.
//  * Consumed is published in batches, a quarter of a ring late at most. Nothing waits for ever for that: with all but
//    a quarter free the sender can place any piece, since a piece and the gap before it (a piece does not wrap) take
//    less than three quarters.
//  * Bells (more than 8 ranks): after the mark the sender stores the low byte of its count of cells at its place in
//    the receiver's row of bells. The receiver compares it with the low byte of its own count. Both counts differ by
//    at most `cells` < 256, so equal bytes mean equal counts, or a bell that is still on its way and will differ.
//    Each bell is an atomic byte of one writer; the receiver loads eight of them at once (load_eight), of which only
//    each byte's own history counts. That load orders nothing, and need not: who sees a bell and not yet the mark
//    finds no cell, leaves its own count as it is, and looks again; who sees the mark has seen it with acquire.
// Most of a thousand ranks never say more than a word or two to each other. So the first cells of a ring lie with those
// of all other senders to the same receiver, sixteen pairs on a page, and the pages of the pair itself are touched only
// when there is more.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "p2p/matching/operation.hpp"
#include "p2p/shm/announced.hpp"
#include "p2p/shm/halves.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::p2p {

enum class Kind : std::uint8_t {
    small = 1,       ///< a message inside the cell
    small_sync,      ///< likewise; the sender wants `done` once it is matched
    eager,           ///< a message in the byte ring, or the first piece of one
    eager_sync,      ///< likewise; the sender wants `done` once it is matched
    note,            ///< of the message that begins next: bytes in the byte ring
    more,            ///< the next piece of the message that `eager` or `eager_sync` began; nothing comes in between
    offer,           ///< a message that stays with the sender until the receiver asks for it
    grant,           ///< receiver → sender: put the offered message where I say if you can, else send it in pieces
    piece,           ///< a piece of a granted message
    placed,          ///< a granted message lies where the receiver wanted it
    stored,          ///< a message that lies in the buffer of the announced receive, which this cell is for
    share,           ///< receiver → sender: I copy the offered message from the front, join in from the back
    done,            ///< receiver → sender: the message was received (or matched, for eager_sync and small_sync)
    cancel,          ///< sender → receiver: forget my message unless it is matched
    cancelled,       ///< receiver → sender: it is forgotten
    not_cancelled,   ///< receiver → sender: too late
};

/// What a cell carries instead of a small message.
struct Remote {
    std::uint64_t id = 0;        ///< the sender's operation, or the cell's number for a cancel
    std::uint64_t address = 0;   ///< offer: where the data lies in the sender; grant, share: where it shall lie in the
                                 ///< receiver; 0: not in one piece (grant: or out of the sender's reach)
    std::uint64_t end = 0;       ///< position in the byte ring after this piece
    std::uint32_t offset = 0;    ///< where in the byte ring it begins
    std::uint32_t bytes = 0;     ///< of the piece; share: of a chunk; offer: of the data's layout, 0: dense
};

struct alignas(cache_line) Cell {
    static constexpr std::size_t room = 32;   ///< Transport::small fits

    std::uint64_t context;   ///< of the communicator; grant, piece and placed: the receiver's operation; share: the
                             ///< number of the copy
    std::uint64_t length;    ///< of the whole message, with what it is made of (message_length); grant and share: of
                             ///< what the receiver has room for
    std::int32_t source;     ///< the sender's rank in the communicator
    std::int32_t tag;
    std::byte payload[room];
    std::atomic<std::uint64_t> mark;   ///< (number of the cell + 1) · 256 + kind; last, so that it is stored last

    Kind kind() const { return static_cast<Kind>(mark.load(std::memory_order_relaxed) & 0xff); }
    Remote remote() const {
        Remote r;
        std::memcpy(&r, payload, sizeof r);
        return r;
    }
    void set_remote(Remote const& r) { std::memcpy(payload, &r, sizeof r); }

    static constexpr std::size_t room_sync = room - sizeof(std::uint64_t);   // the sender's operation lies behind it
    std::uint64_t sender() const {
        std::uint64_t id;
        std::memcpy(&id, payload + room_sync, sizeof id);
        return id;
    }
    void set_sender(std::uint64_t id) { std::memcpy(payload + room_sync, &id, sizeof id); }

    static constexpr int digest_at = 48;   // no message has as many bytes
    static std::uint64_t message_length(std::size_t bytes, TypeDigest digest) {
        return bytes | std::uint64_t{digest.bits()} << digest_at;
    }
    std::size_t bytes() const { return length & ((std::uint64_t{1} << digest_at) - 1); }
    TypeDigest digest() const { return TypeDigest(static_cast<std::uint16_t>(length >> digest_at)); }
};
static_assert(sizeof(Cell) == cache_line && sizeof(Remote) == Cell::room);

/// What the receiver tells the sender, on a line of its own.
struct alignas(cache_line) Consumed {
    std::atomic<std::uint64_t> cells;
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> matched;   ///< cost of the eager messages that have found their receive (see Outbox)
};

/// Where the parts of a pair's memory lie; both sides compute the same.
struct RingLayout {
    explicit RingLayout(std::size_t pair_bytes)
        : cells(std::min<std::size_t>(std::bit_floor(pair_bytes / 8 / sizeof(Cell)), 128)),
          bytes_at(first_cell + cells * sizeof(Cell)), capacity((pair_bytes - bytes_at) / cache_line * cache_line) {}

    // Lines come in pairs: those of the receiver, those of both.
    static constexpr std::size_t announced_at = cache_line;
    static constexpr std::size_t halves_at = 2 * cache_line;
    static constexpr std::size_t first_cell = halves_at + sizeof(Halves);
    static constexpr std::size_t start_cells = Segment::ring_start_bytes / sizeof(Cell);   ///< in the ring's start

    std::size_t cells;   ///< a power of two below 256
    std::size_t bytes_at;
    std::size_t capacity;   ///< of the byte ring
    /// `start`: of the ring, `memory`: the rest of the pair's.
    Cell* cell(std::byte* memory, std::byte* start, std::uint64_t number) const {
        std::size_t const index = number & (cells - 1);
        return reinterpret_cast<Cell*>((index < start_cells ? start : memory + first_cell) + index * sizeof(Cell));
    }
    /// The largest piece that always fits in the end.
    std::size_t largest_piece() const { return capacity * 3 / 8 / cache_line * cache_line; }
};

/// The sender's end.
class Outbox {
public:
    /// `memory` and `start` as Segment::pair and ring_start give them; `layout` must outlive the Outbox. `bell`: this
    /// sender's byte in the receiver's row of bells, null when the receiver looks into every ring.
    Outbox(std::byte* memory, std::byte* start, RingLayout const& layout, std::atomic<std::uint8_t>* bell)
        : memory_(memory), start_(start), layout_(&layout), bell_(bell), cell_(layout.cell(memory, start, 0)) {}

    /// True when a cell (or `n`, at most half of them) can be written now.
    bool has_cell(std::size_t n = 1) { return next_ + n <= cells_freed_ + layout_->cells || refresh_cells(n); }
    /// The next cell, for the caller to fill and publish; only after has_cell().
    Cell& cell() { return *cell_; }
    /// Shows the cell to the receiver; returns its number.
    std::uint64_t publish(Cell& cell, Kind kind) {
        std::uint64_t number = next_++;
        cell.mark.store(next_ << 8 | static_cast<std::uint64_t>(kind), std::memory_order_release);
        if (bell_) bell_->store(static_cast<std::uint8_t>(next_), std::memory_order_release);
        cell_ = layout_->cell(memory_, start_, next_);
        return number;
    }

    /// Room for `bytes` (at most largest_piece) bytes in one piece, null when there is none now. It becomes taken when
    /// the Remote that `place` fills is published in the next cell.
    std::byte* place(std::size_t bytes, Remote& remote);

    static constexpr std::uint64_t eager_budget = UnexpectedCost::most;
    static std::uint64_t cost(std::size_t bytes) { return UnexpectedCost::of(bytes); }
    /// Books an eager message of `bytes`; false: over the budget, offer it instead.
    bool spend(std::size_t bytes) {
        if (spent_ + cost(bytes) - matched_ > eager_budget && !refresh_matched(bytes)) return false;
        spent_ += cost(bytes);
        return true;
    }
    std::size_t largest_piece() const { return layout_->largest_piece(); }
    std::uint64_t number() const { return next_; }   ///< of the next cell
    Announced& announced() const { return *reinterpret_cast<Announced*>(memory_ + RingLayout::announced_at); }
    Halves& halves() const { return *reinterpret_cast<Halves*>(memory_ + RingLayout::halves_at); }

private:
    Consumed const& consumed() const { return *reinterpret_cast<Consumed const*>(memory_); }
    bool refresh_cells(std::size_t n);
    bool refresh_matched(std::size_t bytes);

    std::byte *memory_, *start_;
    RingLayout const* layout_;
    std::atomic<std::uint8_t>* bell_;
    Cell* cell_;   ///< number next_
    std::uint64_t next_ = 0, cells_freed_ = 0;
    std::uint64_t byte_position_ = 0, bytes_freed_ = 0;
    std::size_t byte_offset_ = 0;
    std::uint64_t spent_ = 0, matched_ = 0;
};

/// The receiver's end.
class Inbox {
public:
    /// As Outbox.
    Inbox(std::byte* memory, std::byte* start, RingLayout const& layout)
        : memory_(memory), start_(start), layout_(&layout), cell_(layout.cell(memory, start, 0)) {}

    /// The next cell, null when none has come.
    Cell const* peek() const { return cell_->mark.load(std::memory_order_acquire) >> 8 == next_ + 1 ? cell_ : nullptr; }
    std::uint64_t number() const { return next_; }   ///< of the next cell
    std::byte const* bytes(Remote const& remote) const { return memory_ + layout_->bytes_at + remote.offset; }
    Announced& announced() const { return *reinterpret_cast<Announced*>(memory_ + RingLayout::announced_at); }
    Halves& halves() const { return *reinterpret_cast<Halves*>(memory_ + RingLayout::halves_at); }

    /// The cell that peek gave is done with, its bytes too; `end`: Remote::end where it had any.
    void advance() {
        step();
        if (next_ - cells_told_ >= layout_->cells / 4) tell();
    }
    void advance(std::uint64_t end) {
        bytes_ = end;
        step();
        if (next_ - cells_told_ >= layout_->cells / 4 || bytes_ - bytes_told_ >= layout_->capacity / 4) tell();
    }
    /// An eager message of that size found its receive.
    void matched(std::size_t bytes) {
        matched_ += Outbox::cost(bytes);
        if (matched_ - matched_told_ >= Outbox::eager_budget / 8) tell();
    }

private:
    void step() { cell_ = layout_->cell(memory_, start_, ++next_); }
    void tell();

    std::byte *memory_, *start_;
    RingLayout const* layout_;
    Cell const* cell_;   ///< number next_
    std::uint64_t next_ = 0, bytes_ = 0, matched_ = 0;
    std::uint64_t cells_told_ = 0, bytes_told_ = 0, matched_told_ = 0;
};

}   // namespace tutti::p2p
