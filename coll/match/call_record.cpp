// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/call_record.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "coll/match/call_records.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/kernels/reduce.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

std::string amount_in_words(RecordedCall const& call, Wording const& wording) {
    Datatype const* const type =
        call.type != 0 && wording.predefined_type ? wording.predefined_type(call.type) : nullptr;
    auto const size = type ? static_cast<std::uint64_t>(type->size()) : 0;
    std::string text = size > 0 ? join(call.bytes / size, " ", type->name)
                                : join(call.bytes, call.bytes == 1 ? " byte" : " bytes", " of a derived datatype");
    if (call.flags & RecordedCall::in_all) text += " in all";
    return text;
}

bool is_fence(RecordedCall const& call) { return function_name(call.function) == std::string_view("MPI_Win_fence"); }

/// True for a call on a window's own communicator.
bool is_of_window(RecordedCall const& call) {
    return is_fence(call) || function_name(call.function) == std::string_view("MPI_Win_free");
}

/// Returns the headline for a fence at one rank and MPI_Win_free at the other; these are the only recorded calls on a
/// window.
std::string fences_in_words(int fencing, int freeing, std::uint64_t fences, std::string const& window) {
    return join("rank ", fencing, " has called ", fences, fences == 1 ? " fence" : " fences", " of ", window, ", rank ",
                freeing, " has called ", fences - 1);
}

}   // namespace

char const* op_in_words(std::uint8_t op) {
    switch (op) {
    case RecordedCall::users_op: return "a user-defined operator";
    case RecordedCall::users_op_not_commutative: return "a user-defined operator that does not commute";
    default: break;
    }
    static constexpr char const* names[] = {"",         "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
                                            "MPI_LAND", "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
                                            "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
    return op < std::size(names) ? names[op] : "an operator";
}

Difference difference(RecordedCall const& a, RecordedCall const& b) {
    if (a.function != b.function) return Difference::function;
    if ((a.flags ^ b.flags) & RecordedCall::blocking) return Difference::waiting;
    if ((a.flags & b.flags & RecordedCall::rooted) && a.root != b.root) return Difference::root;
    if (a.op != 0 && b.op != 0 && a.op != b.op) return Difference::op;
    if (!(a.flags & b.flags & RecordedCall::amount_known)) return Difference::none;
    if (a.bytes != b.bytes) return Difference::amount;
    bool const typed = !((a.flags | b.flags) & RecordedCall::untyped);
    return typed && a.signature != b.signature ? Difference::amount : Difference::none;
}

std::string in_words(RecordedCall const& call, Wording const& wording) {
    std::string_view const name = function_name(call.function);
    if (name == "MPI_Finalize") return "MPI_Finalize()";
    std::string text = join(name, "(");
    if (call.flags & RecordedCall::amount_known) text += amount_in_words(call, wording) + ", ";
    if (call.op != 0) text += join(op_in_words(call.op), ", ");
    if (call.flags & RecordedCall::rooted) text += join("root ", call.root, ", ");
    return text + wording.comm + ")";
}

char const* code(Difference what, RecordedCall const& a) {
    if (is_of_window(a)) return "T15";
    return what == Difference::function ? "T03" : "T04";
}

std::string headline(Difference what, RecordedCall const& a, int rank_a, RecordedCall const& b, int rank_b,
                     Wording const& wording) {
    if (what == Difference::function && is_of_window(a))
        return is_fence(a) ? fences_in_words(rank_a, rank_b, a.number, wording.comm)
                           : fences_in_words(rank_b, rank_a, a.number, wording.comm);
    std::string text = join("rank ", rank_a, " calls ", function_name(a.function));
    auto const differ = [&](std::string const& mine, std::string const& theirs) {
        text += join(" with ", mine, " where rank ", rank_b, " has ", theirs);
    };
    switch (what) {
    case Difference::function: text += join(" where rank ", rank_b, " calls ", function_name(b.function)); break;
    case Difference::waiting: {
        bool const a_waits = a.flags & RecordedCall::blocking;
        text = join("rank ", a_waits ? rank_b : rank_a,
                    " calls MPI_Win_fence with MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED, rank ",
                    a_waits ? rank_a : rank_b, " without one of them");
        break;
    }
    case Difference::root: differ(join("root ", a.root), join("root ", b.root)); break;
    case Difference::op: differ(op_in_words(a.op), op_in_words(b.op)); break;
    case Difference::amount:
        if (std::string const mine = amount_in_words(a, wording), theirs = amount_in_words(b, wording); mine != theirs)
            differ(mine, theirs);
        else differ(mine, "as many bytes, divided or typed otherwise");
        break;
    case Difference::none: break;
    }
    return text + join(", as call ", a.number, " on ", wording.comm);
}

char const* help(Difference what, RecordedCall const& a) {
    switch (what) {
    case Difference::function:
        if (is_of_window(a))
            return "all ranks of a window call MPI_Win_fence equally often: look for one in a branch or a loop that "
                   "not all of them go through";
        return "all ranks of a communicator must call the same collectives on it in the same order: look for a branch "
               "or a loop that not all of them take alike";
    case Difference::waiting:
        return "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED are given to a fence by all ranks of the window, or by none";
    case Difference::root: return "all ranks must name the same root";
    case Difference::op: return "all ranks must give the same operator";
    case Difference::amount:
        return "count and datatype must describe the same data at all ranks: look at what they are computed from";
    case Difference::none: break;
    }
    return "";
}

namespace {

enum class Returns { at_once, when_done };

struct Function {
    char const* name;
    std::string_view text;
    Returns returns;
};

constexpr Function noted_functions[] = {
#define FUNCTION(name, returns) {#name, #name, Returns::returns},
#include "coll/match/functions.def"
#undef FUNCTION
};
static_assert(std::size(noted_functions) < 256);
static_assert(std::is_sorted(std::begin(noted_functions), std::end(noted_functions),
                             [](Function const& a, Function const& b) { return a.text < b.text; }));

}   // namespace

std::uint8_t function_named(char const* name) {
    std::string_view const wanted = name;
    auto const* const at = std::lower_bound(std::begin(noted_functions), std::end(noted_functions), wanted,
                                            [](Function const& f, std::string_view text) { return f.text < text; });
    if (at == std::end(noted_functions) || at->text != wanted) return 0;
    return static_cast<std::uint8_t>(at - noted_functions + 1);
}

char const* function_name(std::uint8_t function) { return noted_functions[function - 1].name; }

bool function_waits(std::uint8_t function) { return noted_functions[function - 1].returns == Returns::when_done; }

void report_starts(Process& process, std::string const& comm, Starts const& mine, Starts const& theirs) {
    auto const part = [&](Starts const& starts) {
        std::string const call = join("MPI_Start(persistent collective, ", comm, ")");
        return Mistake::Part{starts.rank, starts.site != 0 ? call : "no " + call, {}, starts.site};
    };
    auto const times = [](std::uint64_t n) { return join(n, n == 1 ? " time" : " times"); };
    Mistake::Part const parts[] = {part(mine), part(theirs)};
    report(process, {"T03",
                     join("rank ", mine.rank, " has started persistent collectives on ", comm, " ", times(mine.times),
                          ", rank ", theirs.rank, " ", times(theirs.times)),
                     "each start of a persistent collective is a call that all ranks make: look for one in a branch or "
                     "a loop that not all of them take alike",
                     parts});
}

void CallRecords::count_start() {
    ++starts_;
    if (!known_to_) return;
    start_site_ = reinterpret_cast<std::uintptr_t>(*call_site_);
    FirstRecords& mine = first_records_of(*area_, rank_);
    mine.start_site.store(start_site_, std::memory_order_relaxed);
    mine.starts.store(2 * starts_, std::memory_order_release);
}

void CallRecords::compare_starts() {
    if (!known_to_) return;
    no_more_starts_ = true;
    first_records_of(*area_, rank_).starts.store(2 * starts_ + 1, std::memory_order_release);
    // Orders the store above before the loads below: at least one of two ranks sees that the other starts no more.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    compare_starts_with(neighbour_);
    compare_starts_with((rank_ + 1) % area_->members());
}

void CallRecords::compare_starts_with(int member) const {
    FirstRecords const& theirs = first_records_of(*area_, member);
    std::uint64_t const starts = theirs.starts.load(std::memory_order_acquire);
    if (starts % 2 == 0 || starts / 2 == starts_) return;
    report_starts(*process_, comm_->words(), own_starts(),
                  {world_rank(member), starts / 2, theirs.start_site.load(std::memory_order_relaxed)});
}

}   // namespace tutti::coll
