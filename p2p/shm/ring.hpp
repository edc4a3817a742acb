// SPDX-License-Identifier: BSD-3-Clause
// The channel from one rank to another on the same node: a ring of 64-byte cells, and a ring of bytes for what does not
// fit into a cell. Both lie in the receiver's part of the segment. A message of up to 32 bytes moves one cache line.
//
// Correctness. The memory of a pair has two writers: the sender writes cells and bytes, the receiver writes `Consumed`
// (p2p/shm/posted_receive.hpp and runtime/memory/shared_copy.hpp have their own arguments). All counters start at zero
// and are never reset, so zeroed memory is an empty ring.
//  * Cell p (p = 0, 1, 2, …) is at index p mod cells. The sender fills it, then stores its mark, which contains p + 1
//    and the kind, with release. The receiver polls, with acquire, for mark p + 1 only; the previous mark in the same
//    place is p + 1 − cells, so the receiver never takes an old cell for a new one. When it sees the mark, the cell is
//    completely written, and so are its bytes in the byte ring, because the sender wrote them before the mark.
//  * Reuse: the receiver copies a cell and its bytes out before it counts them in `Consumed` with release. The sender
//    writes cell p only if Consumed.cells > p − cells, read with acquire, and bytes up to position e only if
//    Consumed.bytes ≥ e − capacity. So it never overwrites what is still being read.
//  * Consumed is published in batches, at most a quarter of a ring late. That cannot block the sender indefinitely:
//    with all but a quarter free, the sender can place any piece, because a piece and the gap before it (a piece does
//    not wrap around) take less than three quarters.
//  * Shared copies: the receiver begins one only if it has no control cell queued for the sender. So the copies that a
//    late sender may still try to join are those of the cells in its ring, at most 128, one whose cell is queued, and
//    one whose cell the sender has just read: fewer than 2^15.
//  * Bells (more than 8 ranks): after the mark the sender stores the low byte of its cell count in its byte of the
//    receiver's row of bells. The receiver compares it with the low byte of its own count. The counts differ by at most
//    `cells` < 256, so equal bytes mean equal counts, or a bell that is still in transit and will differ. Each bell is
//    an atomic byte with one writer. The receiver loads eight of them at a time (load_eight) and relies only on the
//    history of each single byte. That load orders nothing and need not: a receiver that sees a bell but not yet the
//    mark finds no cell, leaves its own count unchanged and polls again; a receiver that sees the mark has loaded it
//    with acquire.
//
// Most pairs among a thousand ranks exchange only a few messages. The first cells of a ring therefore lie next to those
// of all other senders to the same receiver, sixteen pairs per page, and the pages of the pair itself are touched only
// when more cells are needed.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "p2p/matching/operation.hpp"
#include "p2p/shm/posted_receive.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/memory/shared_copy.hpp"

namespace tutti::p2p {

/// What a cell is. Four kinds use the cell's flag.
enum class CellKind : std::uint8_t {
    small = 1,   ///< a message in the cell; flag: synchronous, the sender wants `done` when it is matched
    eager,       ///< a message in the byte ring, or its first piece; flag: as for `small`
    piggyback,   ///< the piggyback of the next message, in the byte ring
    more,        ///< next piece of an `eager` message; no other cells in between
    offer,       ///< a message that stays with the sender until the receiver requests it
    /// Receiver → sender: store the offered message at this address, or send it in pieces. Flag: the receiver copies
    /// the message from the front; copy from the back.
    grant,
    piece,           ///< a piece of a granted message
    stored,          ///< the message has been stored in the buffer of the receive announced for this cell
    done,            ///< the operation is complete: a send, or with the flag a receive, stored at the granted address
    cancel,          ///< sender → receiver: drop the message unless it is matched
    cancel_answer,   ///< receiver → sender; flag: it is dropped, otherwise it is matched already
};

/// The payload of a cell that contains no small message.
struct CellDescriptor {
    std::uint64_t id = 0;   ///< the sender's operation; cancel: the number of the message's cell
    /// offer: the address of the data in the sender; 0: it has gaps, and its layout is not sent. grant: the
    /// destination in the receiver; 0: it has gaps or is not accessible to the sender.
    std::uint64_t address = 0;
    std::uint64_t end = 0;      ///< position in the byte ring after this piece
    std::uint32_t offset = 0;   ///< start of the piece in the byte ring
    std::uint32_t bytes = 0;    ///< of the piece; shared grant: of each piece; offer: of the layout, 0: dense data
};

struct alignas(cache_line) Cell {
    static constexpr std::size_t payload_bytes = 32;   ///< must hold Transport::small bytes

    /// Context of the communicator; grant, piece: the receiver's operation; grant with the flag: the number of the
    /// copy; done: the operation that is complete; cancel and its answer: the sender's operation.
    std::uint64_t context;
    /// Bytes of the whole message, combined with its type digest (message_length); grant: bytes that the receiver
    /// wants; piggyback, piece: bytes of the piggyback or piece.
    std::uint64_t length;
    std::int32_t source;   ///< the sender's rank in the communicator
    std::int32_t tag;
    std::byte payload[payload_bytes];
    std::atomic<std::uint64_t> mark;   ///< (number of the cell + 1) · 256 + flag · 128 + kind; stored last

    static constexpr std::uint64_t flag_bit = 0x80;
    static constexpr std::uint64_t low_byte(CellKind kind, bool flag) {
        return static_cast<std::uint64_t>(kind) | (flag ? flag_bit : 0);
    }
    CellKind kind() const { return static_cast<CellKind>(mark.load(std::memory_order_relaxed) & (flag_bit - 1)); }
    bool flag() const { return mark.load(std::memory_order_relaxed) & flag_bit; }
    bool is(CellKind kind, bool flag) const {
        return (mark.load(std::memory_order_relaxed) & 0xff) == low_byte(kind, flag);
    }
    CellDescriptor descriptor() const {
        CellDescriptor r;
        std::memcpy(&r, payload, sizeof r);
        return r;
    }
    void set_descriptor(CellDescriptor const& r) { std::memcpy(payload, &r, sizeof r); }

    // The sender's operation follows.
    static constexpr std::size_t payload_bytes_sync = payload_bytes - sizeof(std::uint64_t);
    std::uint64_t send_id() const {
        std::uint64_t id;
        std::memcpy(&id, payload + payload_bytes_sync, sizeof id);
        return id;
    }
    void set_send_id(std::uint64_t id) { std::memcpy(payload + payload_bytes_sync, &id, sizeof id); }

    static constexpr int digest_at = 48;   // messages are smaller than 2^48 bytes
    static std::uint64_t message_length(std::size_t bytes, TypeDigest digest) {
        return bytes | std::uint64_t{digest.bits()} << digest_at;
    }
    std::size_t bytes() const { return length & ((std::uint64_t{1} << digest_at) - 1); }
    TypeDigest digest() const { return TypeDigest(static_cast<std::uint16_t>(length >> digest_at)); }
};
static_assert(sizeof(Cell) == cache_line && sizeof(CellDescriptor) == Cell::payload_bytes);

/// The receiver's progress, published to the sender on a separate cache line.
struct alignas(cache_line) Consumed {
    std::atomic<std::uint64_t> cells;
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> matched;   ///< cost of the eager messages that were matched (see Outbox)
};

/// The layout of a pair's memory. Both sides compute the same layout.
struct RingLayout {
    explicit RingLayout(std::size_t pair_bytes)
        : cells(std::min<std::size_t>(std::bit_floor(pair_bytes / 8 / sizeof(Cell)), 128)),
          bytes_at(first_cell + cells * sizeof(Cell)), capacity((pair_bytes - bytes_at) / cache_line * cache_line) {}

    // Pairs of adjacent lines: the first pair is the receiver's, the word of shared copies in the second is changed by
    // both sides.
    static constexpr std::size_t posted_receive_at = cache_line;
    static constexpr std::size_t shared_copy_at = 2 * cache_line;
    static constexpr std::size_t first_cell = 4 * cache_line;
    static constexpr std::size_t start_cells = Segment::ring_start_bytes / sizeof(Cell);   ///< cells in the start area

    std::size_t cells;   ///< number of cells, a power of two below 256
    std::size_t bytes_at;
    std::size_t capacity;   ///< bytes in the byte ring
    /// Returns the address of a cell. `start`: the start area of the ring; `memory`: the memory of the pair.
    Cell* cell(std::byte* memory, std::byte* start, std::uint64_t number) const {
        std::size_t const index = number & (cells - 1);
        return reinterpret_cast<Cell*>((index < start_cells ? start : memory + first_cell) + index * sizeof(Cell));
    }
    /// The largest piece that can always be placed eventually.
    std::size_t largest_piece() const { return capacity * 3 / 8 / cache_line * cache_line; }
};

/// The sender's side of a ring.
class Outbox {
public:
    /// `memory` and `start`: from Segment::pair and ring_start; `layout` must stay valid as long as the Outbox.
    /// `bell`: this sender's byte in the receiver's row of bells, or null if the receiver polls every ring.
    Outbox(std::byte* memory, std::byte* start, RingLayout const& layout, std::atomic<std::uint8_t>* bell)
        : memory_(memory), start_(start), layout_(&layout), bell_(bell), cell_(layout.cell(memory, start, 0)) {}

    /// Returns true if a cell (or `n`, at most half of all) can be written now.
    bool has_cell(std::size_t n = 1) { return next_ + n <= cells_freed_ + layout_->cells || refresh_cells(n); }
    /// The next cell, for the caller to fill and publish. Must only be used after has_cell() returned true.
    Cell& cell() { return *cell_; }
    /// Publishes the cell to the receiver. Returns its number.
    std::uint64_t publish(Cell& cell, CellKind kind, bool flag = false) {
        std::uint64_t number = next_++;
        cell.mark.store(next_ << 8 | Cell::low_byte(kind, flag), std::memory_order_release);
        if (bell_) bell_->store(static_cast<std::uint8_t>(next_), std::memory_order_release);
        cell_ = layout_->cell(memory_, start_, next_);
        return number;
    }

    /// Returns space for one piece of `bytes` (at most largest_piece) bytes and fills `descriptor`, or returns null if
    /// there is no space now. The caller must publish `descriptor` in the next cell.
    std::byte* allocate(std::size_t bytes, CellDescriptor& descriptor);

    static constexpr std::uint64_t eager_budget = UnexpectedCost::limit;
    static std::uint64_t cost(std::size_t bytes) { return UnexpectedCost::of(bytes); }
    /// Accounts for an eager message of `bytes`. Returns false if that exceeds the budget; the caller then offers it.
    bool spend(std::size_t bytes) {
        if (spent_ + cost(bytes) - matched_ > eager_budget && !refresh_matched(bytes)) return false;
        spent_ += cost(bytes);
        return true;
    }
    std::size_t largest_piece() const { return layout_->largest_piece(); }
    std::uint64_t number() const { return next_; }   ///< of the next cell
    PostedReceiveLine& posted_receive() const {
        return *reinterpret_cast<PostedReceiveLine*>(memory_ + RingLayout::posted_receive_at);
    }
    std::atomic<std::uint64_t>& shared_copy() const {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + RingLayout::shared_copy_at);
    }

private:
    Consumed const& consumed() const { return *reinterpret_cast<Consumed const*>(memory_); }
    bool refresh_cells(std::size_t n);
    bool refresh_matched(std::size_t bytes);

    std::byte *memory_, *start_;
    RingLayout const* layout_;
    std::atomic<std::uint8_t>* bell_;
    Cell* cell_;   ///< cell number next_
    std::uint64_t next_ = 0, cells_freed_ = 0;
    std::uint64_t byte_position_ = 0, bytes_freed_ = 0;
    std::size_t byte_offset_ = 0;
    std::uint64_t spent_ = 0, matched_ = 0;
};

/// The receiver's side of a ring.
class Inbox {
public:
    /// Arguments as for Outbox.
    Inbox(std::byte* memory, std::byte* start, RingLayout const& layout)
        : memory_(memory), start_(start), layout_(&layout), cell_(layout.cell(memory, start, 0)) {}

    /// Returns the next cell, or null if it has not arrived.
    Cell const* peek() const { return cell_->mark.load(std::memory_order_acquire) >> 8 == next_ + 1 ? cell_ : nullptr; }
    std::uint64_t number() const { return next_; }   ///< of the next cell
    std::byte const* bytes(CellDescriptor const& descriptor) const {
        return memory_ + layout_->bytes_at + descriptor.offset;
    }
    PostedReceiveLine& posted_receive() const {
        return *reinterpret_cast<PostedReceiveLine*>(memory_ + RingLayout::posted_receive_at);
    }
    std::atomic<std::uint64_t>& shared_copy() const {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + RingLayout::shared_copy_at);
    }

    /// Consumes the cell that peek returned, and its bytes; `end` is its CellDescriptor::end if it has bytes.
    void advance() {
        step();
        if (next_ - cells_published_ >= layout_->cells / 4) publish();
    }
    void advance(std::uint64_t end) {
        bytes_ = end;
        step();
        if (next_ - cells_published_ >= layout_->cells / 4 || bytes_ - bytes_published_ >= layout_->capacity / 4)
            publish();
    }
    /// Accounts for an eager message of this size that was matched.
    void matched(std::size_t bytes) {
        matched_ += Outbox::cost(bytes);
        if (matched_ - matched_published_ >= Outbox::eager_budget / 8) publish();
    }

private:
    void step() { cell_ = layout_->cell(memory_, start_, ++next_); }
    void publish();

    std::byte *memory_, *start_;
    RingLayout const* layout_;
    Cell const* cell_;   ///< cell number next_
    std::uint64_t next_ = 0, bytes_ = 0, matched_ = 0;
    std::uint64_t cells_published_ = 0, bytes_published_ = 0, matched_published_ = 0;
};

inline bool Outbox::refresh_cells(std::size_t n) {
    cells_freed_ = consumed().cells.load(std::memory_order_acquire);
    return next_ + n <= cells_freed_ + layout_->cells;
}

inline bool Outbox::refresh_matched(std::size_t bytes) {
    matched_ = consumed().matched.load(std::memory_order_relaxed);
    return spent_ + cost(bytes) - matched_ <= eager_budget;
}

inline std::byte* Outbox::allocate(std::size_t bytes, CellDescriptor& descriptor) {
    std::size_t rounded = (bytes + cache_line - 1) / cache_line * cache_line;
    bool wraps = byte_offset_ + rounded > layout_->capacity;
    // The gap is 0 also if the previous piece ended at the end of the ring.
    std::size_t gap = wraps ? layout_->capacity - byte_offset_ : 0;
    std::uint64_t end = byte_position_ + gap + rounded;
    if (end > bytes_freed_ + layout_->capacity) {
        bytes_freed_ = consumed().bytes.load(std::memory_order_acquire);
        if (end > bytes_freed_ + layout_->capacity) return nullptr;
    }
    if (wraps) byte_offset_ = 0;
    descriptor.offset = static_cast<std::uint32_t>(byte_offset_);
    descriptor.bytes = static_cast<std::uint32_t>(bytes);
    descriptor.end = byte_position_ = end;
    byte_offset_ += rounded;
    return memory_ + layout_->bytes_at + descriptor.offset;
}

inline void Inbox::publish() {
    auto& consumed = *reinterpret_cast<Consumed*>(memory_);
    consumed.cells.store(cells_published_ = next_, std::memory_order_release);
    consumed.bytes.store(bytes_published_ = bytes_, std::memory_order_release);
    consumed.matched.store(matched_published_ = matched_, std::memory_order_relaxed);
}

}   // namespace tutti::p2p
