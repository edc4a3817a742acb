// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/call_record.hpp"

#include <iterator>

#include "coll/match/call_records.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/kernels/reduce.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

std::string describe_amount(RecordedCall const& call, NameLookup const& names) {
    Datatype const* const type = call.type != 0 && names.predefined_type ? names.predefined_type(call.type) : nullptr;
    auto const size = type ? static_cast<std::uint64_t>(type->size()) : 0;
    std::string text = size > 0 ? join(call.bytes / size, " ", type->name)
                                : join(call.bytes, call.bytes == 1 ? " byte" : " bytes", " of a derived datatype");
    if (call.flags & RecordedCall::total_amount) text += " in total";
    return text;
}

bool is_fence(RecordedCall const& call) { return call.function == "MPI_Win_fence"; }

/// True for a call on a window's own communicator.
bool is_of_window(RecordedCall const& call) { return is_fence(call) || call.function == "MPI_Win_free"; }

/// Returns the headline for a fence at one rank and MPI_Win_free at the other; these are the only recorded calls on a
/// window.
std::string describe_fences(int fencing, int freeing, std::uint64_t fences, std::string const& window) {
    return join("rank ", fencing, " has called MPI_Win_fence ", fences, fences == 1 ? " time" : " times", " on ",
                window, ", rank ", freeing, " has called it ", fences - 1, fences == 2 ? " time" : " times");
}

}   // namespace

char const* op_description(std::uint8_t op) {
    switch (op) {
    case RecordedCall::user_op: return "a user-defined operator";
    case RecordedCall::noncommutative_user_op: return "a user-defined operator that does not commute";
    default: break;
    }
    static constexpr char const* names[] = {"",         "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
                                            "MPI_LAND", "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
                                            "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
    return op < std::size(names) ? names[op] : "an operator";
}

Difference difference(RecordedCall const& a, RecordedCall const& b) {
    if (a.function != b.function) return Difference::function;
    if ((a.flags ^ b.flags) & RecordedCall::blocking) return Difference::synchronisation;
    if ((a.flags & b.flags & RecordedCall::rooted) && a.root != b.root) return Difference::root;
    if (a.op != 0 && b.op != 0 && a.op != b.op) return Difference::op;
    if (!(a.flags & b.flags & RecordedCall::amount_known)) return Difference::none;
    if (a.bytes != b.bytes) return Difference::amount;
    bool const typed = !((a.flags | b.flags) & RecordedCall::untyped);
    return typed && a.signature != b.signature ? Difference::amount : Difference::none;
}

std::string describe(RecordedCall const& call, NameLookup const& names) {
    if (call.function == "MPI_Finalize") return "MPI_Finalize()";
    std::string text = join(call.function.name(), "(");
    if (call.flags & RecordedCall::amount_known) text += describe_amount(call, names) + ", ";
    if (call.op != 0) text += join(op_description(call.op), ", ");
    if (call.flags & RecordedCall::rooted) text += join("root ", call.root, ", ");
    return text + names.comm + ")";
}

char const* diagnostic_code(Difference what, RecordedCall const& a) {
    if (is_of_window(a)) return "T15";
    return what == Difference::function ? "T03" : "T04";
}

std::string headline(Difference what, RecordedCall const& a, int rank_a, RecordedCall const& b, int rank_b,
                     NameLookup const& names) {
    if (what == Difference::function && is_of_window(a))
        return is_fence(a) ? describe_fences(rank_a, rank_b, a.number, names.comm)
                           : describe_fences(rank_b, rank_a, a.number, names.comm);
    std::string text = join("rank ", rank_a, " calls ", a.function.name());
    auto const differ = [&](std::string const& mine, std::string const& peer) {
        text += join(" with ", mine, " where rank ", rank_b, " has ", peer);
    };
    switch (what) {
    case Difference::function: text += join(" where rank ", rank_b, " calls ", b.function.name()); break;
    case Difference::synchronisation: {
        bool const a_waits = a.flags & RecordedCall::blocking;
        text = join("rank ", a_waits ? rank_b : rank_a,
                    " calls MPI_Win_fence with MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED, rank ",
                    a_waits ? rank_a : rank_b, " without one of them");
        break;
    }
    case Difference::root: differ(join("root ", a.root), join("root ", b.root)); break;
    case Difference::op: differ(op_description(a.op), op_description(b.op)); break;
    case Difference::amount:
        if (std::string const mine = describe_amount(a, names), peer = describe_amount(b, names); mine != peer)
            differ(mine, peer);
        else differ(mine, "as many bytes, but divided differently or of other types");
        break;
    case Difference::none: break;
    }
    return text + join(", as call ", a.number, " on ", names.comm);
}

char const* advice(Difference what, RecordedCall const& a) {
    switch (what) {
    case Difference::function:
        if (is_of_window(a))
            return "all ranks of a window must call MPI_Win_fence the same number of times: look for a call in a "
                   "branch or loop that some ranks skip";
        return "all ranks of a communicator must call the same collectives on it in the same order: look for a call in "
               "a branch or loop that some ranks skip";
    case Difference::synchronisation:
        return "either all ranks of the window or none must pass both MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED";
    case Difference::root: return "all ranks must pass the same root";
    case Difference::op: return "all ranks must pass the same operator";
    case Difference::amount:
        return "count and datatype must describe the same data at all ranks: check how they are computed";
    case Difference::none: break;
    }
    return "";
}

void report_start_mismatch(Process& process, std::string const& comm, Starts const& mine, Starts const& peer) {
    auto const part = [&](Starts const& starts) {
        std::string const call = join("MPI_Start(persistent collective, ", comm, ")");
        return UsageError::Call{starts.rank, starts.site != 0 ? call : "no " + call, {}, starts.site};
    };
    auto const times = [](std::uint64_t n) { return join(n, n == 1 ? " time" : " times"); };
    UsageError::Call const parts[] = {part(mine), part(peer)};
    report(process,
           {"T03",
            join("rank ", mine.rank, " has started persistent collectives on ", comm, " ", times(mine.count), ", rank ",
                 peer.rank, " ", times(peer.count)),
            "all ranks must start persistent collectives the same number of times: look for a start in a branch "
            "or loop that some ranks skip",
            parts});
}

void CallRecords::count_start() {
    ++starts_;
    if (!matcher_) return;
    start_site_ = reinterpret_cast<std::uintptr_t>(*call_site_);
    FirstRecords& mine = first_records_of(*area_, rank_);
    mine.start_site.store(start_site_, std::memory_order_relaxed);
    mine.starts.store(2 * starts_, std::memory_order_release);
}

void CallRecords::compare_starts() {
    if (!matcher_) return;
    no_more_starts_ = true;
    first_records_of(*area_, rank_).starts.store(2 * starts_ + 1, std::memory_order_release);
    // Orders the store above before the loads below: at least one of two ranks sees that the other starts no more.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    compare_starts_with(neighbour_);
    compare_starts_with((rank_ + 1) % area_->members());
}

void CallRecords::compare_starts_with(int member) const {
    FirstRecords const& peer = first_records_of(*area_, member);
    std::uint64_t const starts = peer.starts.load(std::memory_order_acquire);
    if (starts % 2 == 0 || starts / 2 == starts_) return;
    report_start_mismatch(*process_, comm_->description(), own_starts(),
                          {world_rank(member), starts / 2, peer.start_site.load(std::memory_order_relaxed)});
}

}   // namespace tutti::coll
