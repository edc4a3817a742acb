// SPDX-License-Identifier: BSD-3-Clause
// Call records: what each member's program calls on a communicator, readable by the other members on the node. They
// consist of records of the distinct calls, the order in which the calls are made, and one word (digest) per block of
// calls that is equal at two members if their calls are. Used by CallRecords (call_records.hpp) and NodeExchange
// (node_exchange.hpp). This file also contains the comparison of two records, their text, and the counts of persistent
// starts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "coll/env/area.hpp"
#include "coll/env/arguments.hpp"
#include "runtime/base/function.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/datatype/signature.hpp"
#include "runtime/objects/comm.hpp"

// Each structure has one writer and any number of readers. Programs repeat few distinct calls: a call is recorded once
// and afterwards named by its record's serial number, one store per call. The first word of a record holds its serial
// number, and 0 while the rest is being written. Each store is a release and each load an acquire: a reader that has
// seen a word of a new record finds the first word cleared or new when it reads it again. Hence everything read between
// two reads of the same serial number belongs together.
//
// Why no call is overwritten before the neighbour has compared it: blocking calls of members are at most channel_depth
// + 1 apart (area.hpp), and twelve calls after the end of each block a member compares all calls that it has not
// compared yet. These reach back at most a block, the twelve calls and that distance, and the neighbour is ahead by at
// most that distance: 128 + 12 + 9 + 9 calls, fewer than are kept. Requests and failing calls may be issued at any
// distance, and records are overwritten sooner if there are more distinct calls than records: a reader that finds
// another number than the expected one compares nothing. Numbers have 32 bits and wrap; memory cannot hold enough
// requests for two calls with the same number to be confused.
namespace tutti::coll {

/// A call as its rank sees it: the properties that must be the same at all members, as far as this rank knows them.
struct RecordedCall {
    /// Bits of `flags`. Properties that a rank does not know, or that may differ, are not compared.
    enum Flags : std::uint8_t {
        amount_known = 1,
        untyped = 2,   ///< contains MPI_BYTE or similar, which matches any type: only the size is compared
        rooted = 4,
        blocking = 8,
        total_amount = 16,   ///< the amount is the total over all ranks
    };

    std::uint32_t number = 0;   ///< among the communicator's calls, from 1
    Function function;          ///< none: not a call of the program
    std::uint8_t op = 0;        ///< 0: none; a BuiltinOp, or one of the constants below
    std::uint8_t type = 0;      ///< the low bits of a predefined datatype's handle; 0: another datatype
    std::uint8_t flags = 0;
    std::uint64_t bytes = 0, signature = 0;   ///< size and type signature of the amount
    std::uint16_t root = 0;                   ///< larger roots are recorded as the largest value of this type
    std::uint64_t site = 0;                   ///< return address in the program

    static constexpr std::uint8_t user_op = 100, noncommutative_user_op = 101;

    /// Equal for calls that match in every property.
    std::uint64_t digest() const {
        std::uint64_t const multiplier = 0x9e3779b97f4a7c15;
        std::uint64_t const small = function.number() | op << 16 | flags << 24 | std::uint64_t{root} << 32;
        return ((small * multiplier ^ bytes) * multiplier ^ signature) * multiplier;
    }
};

/// A RecordedCall without its number, in memory that other ranks read.
class alignas(32) CallRecord {
public:
    /// All of a call except its number, prepared once and reused when the call is repeated.
    struct PreparedCall {
        static constexpr std::uint64_t no_site = ~std::uint64_t{0};

        std::uint64_t properties = 0;   ///< function, op, type and flags; 0: not a call of the program
        std::uint64_t bytes = 0, signature = 0, root = 0, digest = 0;
        std::uint64_t site = no_site;   ///< where the call was made when it was last recorded
        std::uint64_t serial = 0;       ///< of that record

        PreparedCall() = default;
        explicit PreparedCall(RecordedCall const& c)
            : properties(properties_of(c)), bytes(c.bytes), signature(c.signature), root(std::uint64_t{c.root} << 48),
              digest(c.digest()) {}
    };

    void write(PreparedCall const& call) {
        properties_.store(0, std::memory_order_relaxed);
        bytes_.store(call.bytes, std::memory_order_release);
        signature_.store(call.signature, std::memory_order_release);
        root_and_site_.store(call.root | (call.site & address_bits), std::memory_order_release);
        properties_.store(call.properties | call.serial << 32, std::memory_order_release);
    }
    /// Called by the writer: copies a call with its serial number from another record of this rank.
    void copy(CallRecord const& other) {
        properties_.store(0, std::memory_order_relaxed);
        bytes_.store(other.bytes_.load(std::memory_order_relaxed), std::memory_order_release);
        signature_.store(other.signature_.load(std::memory_order_relaxed), std::memory_order_release);
        root_and_site_.store(other.root_and_site_.load(std::memory_order_relaxed), std::memory_order_release);
        properties_.store(other.properties_.load(std::memory_order_relaxed), std::memory_order_release);
    }
    /// True if the record is of this call, made at the same place. Called by the writer.
    bool is_of(PreparedCall const& call) const {
        return root_and_site_.load(std::memory_order_relaxed) == (call.root | (call.site & address_bits)) &&
               static_cast<std::uint32_t>(properties_.load(std::memory_order_relaxed)) == call.properties &&
               bytes_.load(std::memory_order_relaxed) == call.bytes &&
               signature_.load(std::memory_order_relaxed) == call.signature;
    }
    /// Returns the record with this serial number as the call with this number. Number 0 in the result: the record
    /// holds another call or is being written.
    RecordedCall read(std::uint32_t serial, std::uint32_t number) const {
        std::uint64_t const properties = properties_.load(std::memory_order_acquire);
        RecordedCall c;
        c.function = Function::with_number(static_cast<std::uint16_t>(properties % (1 << function_bits)));
        c.op = static_cast<std::uint8_t>(properties >> op_at & 0x7f);
        c.type = static_cast<std::uint8_t>(properties >> type_at);
        c.flags = static_cast<std::uint8_t>(properties >> flags_at & 0x1f);
        c.bytes = bytes_.load(std::memory_order_acquire);
        c.signature = signature_.load(std::memory_order_acquire);
        std::uint64_t const root_and_site = root_and_site_.load(std::memory_order_acquire);
        c.root = static_cast<std::uint16_t>(root_and_site >> 48);
        c.site = root_and_site & address_bits;
        bool const is_consistent =
            properties >> 32 == serial && properties_.load(std::memory_order_relaxed) == properties;
        c.number = is_consistent ? number : 0;
        return c;
    }

private:
    static constexpr std::uint64_t address_bits = (std::uint64_t{1} << 48) - 1;
    // Positions in the lower half of `properties`, which contains 10 bits of the function, 7 of the operator, 8 of the
    // datatype and 5 flags.
    static constexpr unsigned function_bits = 10, op_at = function_bits, type_at = op_at + 7, flags_at = type_at + 8;
    static_assert(Function::count < 1 << function_bits);

    static std::uint64_t properties_of(RecordedCall const& c) {
        return c.function.number() | static_cast<unsigned>(c.op) << op_at | static_cast<unsigned>(c.type) << type_at |
               static_cast<unsigned>(c.flags) << flags_at;
    }

    std::atomic<std::uint64_t> properties_, bytes_, signature_, root_and_site_;
};

/// The number of a call in the upper half, the serial number of its record in the lower half; 0: no call yet.
using NumberedRecord = std::uint64_t;
/// Both wrap: a program may make and record more calls than 32 bits can count.
inline NumberedRecord numbered(std::uint64_t number, std::uint64_t serial) {
    return number << 32 | static_cast<std::uint32_t>(serial);
}
inline std::uint32_t number_of(NumberedRecord call) { return static_cast<std::uint32_t>(call >> 32); }

/// The records of one member.
struct alignas(cache_line) MemberRecords {
    static constexpr std::uint64_t block = 128, calls_kept = 256, records_kept = 32, blocks = cache_line / 8;
    /// Calls after the end of a block until the neighbour's digest is prefetched (the neighbour has written it by then)
    /// and until it is compared (the cache line has arrived by then): no rank stalls on a cache line.
    static constexpr std::uint64_t prefetch_delay = 8, compare_delay = 12;

    std::atomic<NumberedRecord>& call(std::uint64_t number) { return calls[number % calls_kept]; }
    CallRecord& record(std::uint64_t serial) { return records[serial % records_kept]; }
    /// Number 0 in the result: the record has been overwritten.
    RecordedCall read(NumberedRecord call) const {
        auto const serial = static_cast<std::uint32_t>(call);
        return records[serial % records_kept].read(serial, number_of(call));
    }
    /// The digest of the block that ends with this call: the block's number in the upper half, the digest of its calls
    /// in the lower half.
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

/// A member's first calls, each with a record of its own whose serial number is the number of the call. Many
/// communicators are used once or twice, and MemberRecords would take more memory than the rest of them; a member
/// therefore allocates those only when it makes a further call, and on MPI_COMM_WORLD at the first call.
struct FirstRecords {
    static constexpr std::uint32_t capacity = 3;
    /// Values of `state` other than the number of calls: `moved`: the calls are in the member's MemberRecords;
    /// `unknown`: no memory was available for these, so its calls are not known.
    static constexpr std::uint32_t moved = capacity + 1, unknown = capacity + 2;

    CallRecord records[capacity];
    std::atomic<std::uint32_t> state;
    // Persistent collectives, whose starts are not ordered with other calls.
    std::atomic<std::uint64_t> start_site;   ///< return address of the last start
    std::atomic<std::uint64_t> starts;       ///< twice the number of starts, plus 1 when no more will follow
};
static_assert(sizeof(FirstRecords) <= first_records_bytes);

inline FirstRecords& first_records_of(Area const& area, int member) {
    return *reinterpret_cast<FirstRecords*>(area.first_records(member));
}

/// The calls of a member as another rank can read them.
class MemberCalls {
public:
    MemberCalls(Area const& area, int member) : first_(&first_records_of(area, member)) {
        state_ = first_->state.load(std::memory_order_acquire);
        if (state_ == FirstRecords::moved && area.has_records()) records_ = &records_of(area, member);
    }
    /// Records that another node has sent.
    explicit MemberCalls(MemberRecords const& records) : records_(&records) {}

    /// True if all of its calls are recorded, within the capacity of the records.
    bool is_known() const { return state_ != FirstRecords::unknown; }
    /// Returns the entry stored for the call with this number; 0: none yet.
    NumberedRecord call(std::uint64_t number) const {
        if (records_) return records_->calls[number % MemberRecords::calls_kept].load(std::memory_order_acquire);
        bool const made = state_ <= FirstRecords::capacity && number <= state_;
        return made && number != 0 ? numbered(number, number) : 0;
    }
    RecordedCall read(NumberedRecord call) const {
        if (records_) return records_->read(call);
        std::uint32_t const number = number_of(call);
        return first_->records[(number - 1) % FirstRecords::capacity].read(number, number);
    }
    /// Returns the digest of the block that ends with this call; 0: not known.
    std::uint64_t digest(std::uint64_t number) const { return records_ ? records_->digest(number) : 0; }

private:
    FirstRecords const* first_ = nullptr;
    MemberRecords const* records_ = nullptr;
    std::uint32_t state_ = FirstRecords::moved;
};

}   // namespace tutti::coll

// The comparison of two members' records of the same call, and the text that reports a difference.

namespace tutti {
class Datatype;
}

namespace tutti::coll {

/// The properties in which two calls can differ, in the order in which they are checked. `synchronisation`: only one of
/// two fences has the assertions with which it does not wait.
enum class Difference { none, function, synchronisation, root, op, amount };

/// Returns the first property in which the calls differ.
Difference difference(RecordedCall const& a, RecordedCall const& b);

/// Names that the descriptions of calls contain.
struct NameLookup {
    std::string comm;                                                ///< "MPI_COMM_WORLD"
    Datatype const* (*predefined_type)(unsigned number) = nullptr;   ///< by RecordedCall::type; null: not known
};

/// Returns "MPI_SUM", or the kind of a user-defined operator; `op` as in RecordedCall.
char const* op_description(std::uint8_t op);
/// Returns "MPI_Bcast(4 MPI_INT, root 0, MPI_COMM_WORLD)"; omits what the record does not contain.
std::string describe(RecordedCall const& call, NameLookup const& names);
/// Returns the code of the diagnostic, for example "T03".
char const* diagnostic_code(Difference what, RecordedCall const& a);
/// Returns the headline, "rank 1 calls MPI_Bcast with root 1 where rank 0 has root 0, as call 3 on MPI_COMM_WORLD";
/// ranks are those of MPI_COMM_WORLD.
std::string headline(Difference what, RecordedCall const& a, int rank_a, RecordedCall const& b, int rank_b,
                     NameLookup const& names);
/// Returns advice on how to correct the program.
char const* advice(Difference what, RecordedCall const& a);

// The properties of a call that must be the same at all members, as far as its rank knows them. Properties that MPI
// lets differ and arguments that are not significant at a rank are omitted, and so is what only two ranks must agree on
// (the v and w forms of rooted and pairwise collectives, edges of a topology).

/// Returns the operator as RecordedCall stores it.
inline std::uint8_t recorded_op(Op const& o) {
    return o.builtin != BuiltinOp::none ? static_cast<std::uint8_t>(o.builtin)
           : o.commutative              ? RecordedCall::user_op
                                        : RecordedCall::noncommutative_user_op;
}

/// Builds the record of one call from its arguments.
class CallRecordBuilder {
public:
    /// `blocking`: the call may wait until other members make theirs.
    CallRecordBuilder(Comm const& comm, Collective collective, Function function, bool blocking)
        : comm_(comm), collective_(collective) {
        call_.function = function;
        if (blocking) call_.flags |= RecordedCall::blocking;
    }
    RecordedCall const& call() const { return call_; }

    void add(BarrierArgs const&) {}
    void add(BcastArgs const& args) {
        if (args.root < 0) return;   // not the root, on an intercommunicator: this rank knows nothing
        root(args.root);
        amount(args.data.count, args.data.type);
    }
    void add(ReduceArgs const& args) {
        if (args.root < 0) return;   // likewise
        if (collective_ == Collective::reduce) root(args.root);
        op(*args.op);
        amount(args.count, args.type);
    }
    /// The total of all parts is the same in both groups of an intercommunicator; the parts are not.
    void add(ReduceScatterArgs const& args) {
        op(*args.op);
        amount(args.count, args.type);
        call_.flags |= RecordedCall::total_amount;
        if (comm_.is_inter() || args.count == 0) return;
        for (int n : args.counts) call_.signature = call_.signature * 31 + static_cast<unsigned>(n);
    }
    void add(RootedArgs const& args) {
        if (args.root < 0) return;
        root(args.root);
        if (!args.equal_parts) return;
        Buffer const each = args.parts.empty() ? args.mine : args.parts[0];
        amount(each.count, each.type);
    }
    void add(AllgatherArgs const& args) {
        if (comm_.is_inter()) return;
        if (args.parts.are_equal()) return amount(args.parts[0].count, args.parts[0].type);
        call_.flags |= RecordedCall::total_amount;
        for (int i = 0; i < comm_.size(); ++i) {
            Buffer const part = args.parts[i];
            std::uint64_t const before = call_.bytes, parts = call_.signature;
            amount(part.count, part.type);
            call_.signature = parts * 31 + call_.signature;
            call_.bytes += before;
        }
        if (call_.bytes == 0) call_.signature = 0;
    }
    void add(AlltoallArgs const& args) {
        if (!args.equal_parts || comm_.is_inter()) return;
        Buffer const each = args.receive[0];
        amount(each.count, each.type);
    }
    void add(NeighborArgs const&) {}

private:
    void root(int rank) {
        call_.flags |= RecordedCall::rooted;
        call_.root = static_cast<std::uint16_t>(std::min(rank, int{UINT16_MAX}));
    }
    void op(Op const& o) { call_.op = recorded_op(o); }
    void amount(std::int64_t count, Datatype const* type) {
        TypeSignature const* const signature = type->signature();
        call_.flags |= RecordedCall::amount_known;
        call_.bytes = static_cast<std::uint64_t>(count * type->size());
        call_.signature = signature ? signature->hash.repeated(count).value : 0;
        if (signature && signature->untyped) call_.flags |= RecordedCall::untyped;
        // Only handles of predefined datatypes are small enough numbers and the same in all ranks.
        auto const handle = static_cast<std::uint32_t>(type->handle);
        call_.type = type->predefined && handle >> 30 == 1 ? static_cast<std::uint8_t>(handle) : 0;
    }

    Comm const& comm_;
    Collective const collective_;
    RecordedCall call_;
};

}   // namespace tutti::coll

// Starts of persistent collectives. They are not ordered with other calls, but all members of a communicator must start
// them equally often (MPI 4.1, 6.13); this is compared when a member will start no more.

namespace tutti {
class Process;
}

namespace tutti::coll {

/// The starts of one rank on one communicator. Trivially copyable, because it is sent as bytes.
struct Starts {
    int rank = -1;             ///< rank in MPI_COMM_WORLD; -1: not known
    std::uint64_t count = 0;   ///< number of starts, of all persistent collectives together
    std::uint64_t site = 0;    ///< return address of the last start; 0: there was none
};

/// Reports that the numbers of starts differ, and ends the job.
[[noreturn]] void report_start_mismatch(Process& process, std::string const& comm, Starts const& mine,
                                        Starts const& peer);

}   // namespace tutti::coll
