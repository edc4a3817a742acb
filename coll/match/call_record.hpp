// SPDX-License-Identifier: BSD-3-Clause
// What the program of each member calls on a communicator, where the other members of the node can read it: records of
// the different calls that there are, the order in which they are made, and for each block of calls one word that is
// equal where the calls are.
#pragma once

#include <atomic>
#include <cstdint>

#include "coll/env/area.hpp"

// One writer each, any readers. Programs make few different calls again and again: a call is recorded once and then
// named by its record's serial number, in one store per call. A record's first word holds its serial number, and 0
// while the rest is written. Each store is a release and each load an acquire: a reader that has seen a word of a new
// record finds the first word cleared or new when it reads that once more, so what lies between two reads of the same
// number belongs together.
//
// Why no call is overwritten before the neighbour has compared it: blocking calls of members are at most channel_depth
// + 1 apart (area.hpp), and twelve calls after the end of a block each compares all that it has not compared yet. That
// is then at most a block, those twelve and that distance old, and the neighbour at most that distance ahead: 128 + 12
// + 9 + 9 calls, fewer than are kept. Requests and calls that fail may be issued at any distance, and records are
// overwritten sooner where more different calls are made than there is room for: a reader that finds another number
// than the one it looked for compares nothing. Numbers have 32 bits; so many requests no memory holds.
namespace tutti::coll {

/// A call as its rank sees it; what must be the same at all members, as far as this one knows it.
struct RecordedCall {
    /// In `flags`. What is not known at a rank, or may differ, is not compared.
    enum Flags : std::uint8_t {
        amount_known = 1,
        untyped = 2,   ///< holds single bytes, which may stand for anything: only its size is compared
        rooted = 4,
        blocking = 8,
        in_all = 16,   ///< the amount is that of all ranks together
    };

    std::uint32_t number = 0;    ///< of the communicator's calls, from 1
    std::uint8_t function = 0;   ///< functions.hpp; 0: nothing that is recorded
    std::uint8_t op = 0;         ///< 0: none; BuiltinOp, or one of those below
    std::uint8_t type = 0;       ///< the low bits of a predefined datatype's handle; 0: another one
    std::uint8_t flags = 0;
    std::uint64_t bytes = 0, signature = 0;   ///< of the amount
    std::uint16_t root = 0;                   ///< ranks beyond are recorded as the last that there is room for
    std::uint64_t site = 0;                   ///< the return address in the program

    static constexpr std::uint8_t users_op = 100, users_op_not_commutative = 101;

    /// Equal for calls that match in every point.
    std::uint64_t digest() const {
        std::uint64_t const strange = 0x9e3779b97f4a7c15;
        std::uint64_t const small = function | op << 8 | flags << 16 | std::uint64_t{root} << 32;
        return ((small * strange ^ bytes) * strange ^ signature) * strange;
    }
};

/// The same but its number, in memory that others read.
class alignas(32) CallRecord {
public:
    /// All of a call but its number, made once for calls that are made again and again.
    struct Prepared {
        static constexpr std::uint64_t no_site = ~std::uint64_t{0};

        std::uint64_t what = 0;   ///< 0: not a call of the program
        std::uint64_t bytes = 0, signature = 0, root = 0, digest = 0;
        std::uint64_t site = no_site;   ///< where the call was made when it was recorded last
        std::uint64_t serial = 0;       ///< of that record

        Prepared() = default;
        explicit Prepared(RecordedCall const& c)
            : what(c.function | c.op << 8 | c.type << 16 | std::uint64_t{c.flags} << 24), bytes(c.bytes),
              signature(c.signature), root(std::uint64_t{c.root} << 48), digest(c.digest()) {}
    };

    void write(Prepared const& call) {
        what_.store(0, std::memory_order_relaxed);
        bytes_.store(call.bytes, std::memory_order_release);
        signature_.store(call.signature, std::memory_order_release);
        root_and_site_.store(call.root | (call.site & address_bits), std::memory_order_release);
        what_.store(call.what | call.serial << 32, std::memory_order_release);
    }
    /// By its writer: the same call with the same serial number as the other one, which it has written, too.
    void copy(CallRecord const& other) {
        what_.store(0, std::memory_order_relaxed);
        bytes_.store(other.bytes_.load(std::memory_order_relaxed), std::memory_order_release);
        signature_.store(other.signature_.load(std::memory_order_relaxed), std::memory_order_release);
        root_and_site_.store(other.root_and_site_.load(std::memory_order_relaxed), std::memory_order_release);
        what_.store(other.what_.load(std::memory_order_relaxed), std::memory_order_release);
    }
    /// Is it that call, made there? Asked by its writer.
    bool is_of(Prepared const& call) const {
        return root_and_site_.load(std::memory_order_relaxed) == (call.root | (call.site & address_bits)) &&
               static_cast<std::uint32_t>(what_.load(std::memory_order_relaxed)) == call.what &&
               bytes_.load(std::memory_order_relaxed) == call.bytes &&
               signature_.load(std::memory_order_relaxed) == call.signature;
    }
    /// The record with that serial number as the call with that number; number 0: it is another one, or being written.
    RecordedCall read(std::uint32_t serial, std::uint32_t number) const {
        std::uint64_t const what = what_.load(std::memory_order_acquire);
        RecordedCall c;
        c.function = static_cast<std::uint8_t>(what);
        c.op = static_cast<std::uint8_t>(what >> 8);
        c.type = static_cast<std::uint8_t>(what >> 16);
        c.flags = static_cast<std::uint8_t>(what >> 24);
        c.bytes = bytes_.load(std::memory_order_acquire);
        c.signature = signature_.load(std::memory_order_acquire);
        std::uint64_t const both = root_and_site_.load(std::memory_order_acquire);
        c.root = static_cast<std::uint16_t>(both >> 48);
        c.site = both & address_bits;
        bool const whole = what >> 32 == serial && what_.load(std::memory_order_relaxed) == what;
        c.number = whole ? number : 0;
        return c;
    }

private:
    static constexpr std::uint64_t address_bits = (std::uint64_t{1} << 48) - 1;

    std::atomic<std::uint64_t> what_, bytes_, signature_, root_and_site_;
};

/// The number of a call in the upper half, the serial number of its record in the lower; 0: none yet.
using NumberedRecord = std::uint64_t;
/// Both wrap: a program may make more calls, and record more, than 32 bits count.
inline NumberedRecord numbered(std::uint64_t number, std::uint64_t serial) {
    return number << 32 | static_cast<std::uint32_t>(serial);
}
inline std::uint32_t number_of(NumberedRecord call) { return static_cast<std::uint32_t>(call >> 32); }

/// One member's.
struct alignas(cache_line) MemberRecords {
    static constexpr std::uint64_t block = 128, calls_kept = 256, records_kept = 32, blocks = cache_line / 8;
    /// Calls after the end of a block until the neighbour's word is fetched, which it has written by then, and until it
    /// is compared, for which it is here by then: nobody waits for a cache line.
    static constexpr std::uint64_t until_fetched = 8, until_compared = 12;

    std::atomic<NumberedRecord>& call(std::uint64_t number) { return calls[number % calls_kept]; }
    CallRecord& record(std::uint64_t serial) { return records[serial % records_kept]; }
    /// Number 0: its record has been overwritten.
    RecordedCall read(NumberedRecord call) const {
        auto const serial = static_cast<std::uint32_t>(call);
        return records[serial % records_kept].read(serial, number_of(call));
    }
    /// Of the block that ends with that call: the block's number in the upper half, its calls' digests in the lower.
    std::atomic<std::uint64_t>& digest(std::uint64_t number) { return digests[number / block % blocks]; }
    std::uint64_t digest(std::uint64_t number) const {
        return digests[number / block % blocks].load(std::memory_order_acquire);
    }

    std::atomic<std::uint64_t> digests[blocks];
    std::atomic<NumberedRecord> calls[calls_kept];
    CallRecord records[records_kept];
};
static_assert(sizeof(MemberRecords) == record_bytes);

inline MemberRecords& records_of(Area const& area, int member) {
    return *reinterpret_cast<MemberRecords*>(area.records(member));
}

/// A member's first calls, each with a record of its own whose serial number is the call's. Many communicators are used
/// once or twice, and MemberRecords would take more than the rest of them, so a member takes memory for these when it
/// makes a further call; on MPI_COMM_WORLD at the first.
struct FirstRecords {
    static constexpr std::uint32_t most = 3;
    /// In `state`, beside the number of calls: its calls are in its MemberRecords; it has no memory for these, so what
    /// it calls is not known.
    static constexpr std::uint32_t more = most + 1, unknown = most + 2;

    CallRecord records[most];
    std::atomic<std::uint32_t> state;
    // Of persistent collectives, whose starts have no order among other calls.
    std::atomic<std::uint64_t> start_site;   ///< of the last start
    std::atomic<std::uint64_t> starts;       ///< twice as many as there were, and one more when there are no more
};
static_assert(sizeof(FirstRecords) <= first_records_bytes);

inline FirstRecords& first_records_of(Area const& area, int member) {
    return *reinterpret_cast<FirstRecords*>(area.first_records(member));
}

/// What another rank can read of a member's calls.
class MemberCalls {
public:
    MemberCalls(Area const& area, int member) : first_(&first_records_of(area, member)) {
        state_ = first_->state.load(std::memory_order_acquire);
        if (state_ == FirstRecords::more && area.has_records()) rows_ = &records_of(area, member);
    }
    /// Records that another node has sent.
    explicit MemberCalls(MemberRecords const& rows) : rows_(&rows) {}

    /// Are all of its calls recorded, as far as they are kept?
    bool known() const { return state_ != FirstRecords::unknown; }
    /// What is kept at the place of the call with that number; 0: nothing yet.
    NumberedRecord call(std::uint64_t number) const {
        if (rows_) return rows_->calls[number % MemberRecords::calls_kept].load(std::memory_order_acquire);
        bool const made = state_ <= FirstRecords::most && number <= state_;
        return made && number != 0 ? numbered(number, number) : 0;
    }
    RecordedCall read(NumberedRecord call) const {
        if (rows_) return rows_->read(call);
        std::uint32_t const number = number_of(call);
        return first_->records[(number - 1) % FirstRecords::most].read(number, number);
    }
    /// Of the block that ends with that call; 0: not known.
    std::uint64_t digest(std::uint64_t number) const { return rows_ ? rows_->digest(number) : 0; }

private:
    FirstRecords const* first_ = nullptr;
    MemberRecords const* rows_ = nullptr;
    std::uint32_t state_ = FirstRecords::more;
};

}   // namespace tutti::coll
