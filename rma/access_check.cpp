// SPDX-License-Identifier: BSD-3-Clause
// Rules for conflicts, records of accesses, and warnings.
#include "rma/access_check.hpp"

#include <algorithm>
#include <cstdio>

#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti::rma {

bool Accessed::reads() const {
    bool const returns = std::string_view(call) != "MPI_Accumulate" && std::string_view(call) != "MPI_Raccumulate";
    return operation == Operation::get || (operation == Operation::accumulate && returns);
}

bool Accessed::writes() const {
    return operation == Operation::put || (operation == Operation::accumulate && (swaps || op != BuiltinOp::no_op));
}

AccumulateOrdering AccumulateOrdering::of(std::string_view hint) {
    auto const has = [hint](char const* kind) { return hint.find(kind) != std::string_view::npos; };
    return {has("rar"), has("raw"), has("war"), has("waw")};
}

bool AccumulateOrdering::orders(Accessed const& earlier, Accessed const& later) const {
    return (rar || !earlier.reads() || !later.reads()) && (war || !earlier.reads() || !later.writes()) &&
           (raw || !earlier.writes() || !later.reads()) && (waw || !earlier.writes() || !later.writes());
}

// Accumulates of one type do not conflict if they have the same operator, if one of them has MPI_NO_OP, or if one
// origin has called both and they are ordered (MPI 4.1, 12.7.1 and 12.7.2). MPI_Compare_and_swap is not checked against
// other accumulates.
bool conflict(Accessed const& a, Accessed const& b, AccumulateOrdering const& ordering) {
    if (a.first >= b.end || b.first >= a.end || (!a.writes() && !b.writes())) return false;
    if (a.operation != Operation::accumulate || b.operation != Operation::accumulate) return true;
    if (a.swaps || b.swaps) return false;
    bool const in_order = a.number < b.number ? ordering.orders(a, b) : ordering.orders(b, a);
    if (a.origin == b.origin && a.type == b.type && in_order) return false;
    bool const one_operator = a.op == b.op || a.op == BuiltinOp::no_op || b.op == BuiltinOp::no_op;
    return !one_operator || a.type != b.type;
}

Accessed* Accesses::note(Remote const& target, std::int64_t origin, bool under_shared_lock, Operation operation,
                         Op const* op, bool swaps) {
    std::vector<Accessed>& mine = by_target_[target.rank];
    Accessed one{};
    one.first = static_cast<std::uint64_t>(origin + target.type.true_lb());
    one.end = one.first + static_cast<std::uint64_t>(target.count * target.type.size());
    one.operation = operation;
    one.swaps = swaps;
    one.op = op ? op->builtin : BuiltinOp::none;
    one.type = target.type.basic();
    one.origin = process_.rank();
    one.number = ++newest_;
    one.site = program_site(process_.call_site);
    std::snprintf(one.call, sizeof one.call, "%s", process_.call_name);
    bool const dense = target.type.dense(target.count);
    shared.note(target.rank, one.writes(), under_shared_lock, dense ? &one : nullptr);
    if (!dense || mine.size() == most) return note_unkept(target.rank), nullptr;
    return &mine.emplace_back(one);
}

void Accesses::end(int rank) {
    for (auto& [target, accesses] : by_target_) {
        if (rank >= 0 && target != rank) continue;
        compare(accesses);
        if (!accesses.empty()) note_unkept(target);
        accesses.clear();
    }
}

void Accesses::end_gets(int rank) {
    for (auto& [target, accesses] : by_target_) {
        if (rank >= 0 && target != rank) continue;
        compare(accesses);
        if (!accesses.empty()) note_unkept(target);
        std::erase_if(accesses, [](Accessed const& one) { return one.operation == Operation::get; });
    }
}

void Accesses::compare(std::vector<Accessed>& all) {
    std::ranges::stable_sort(all, {}, &Accessed::first);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size() && all[j].first < all[i].end; ++j)
            if (conflict(all[i], all[j], ordering)) tell(all[i], all[j], false);
}

void Accesses::compare_shared(std::vector<Accessed>& all) {
    std::ranges::stable_sort(all, {}, &Accessed::first);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size() && all[j].first < all[i].end; ++j) {
            bool const unordered = all[i].origin != all[j].origin && all[i].meeting == all[j].meeting;
            if (unordered && conflict(all[i], all[j], ordering)) tell(all[i], all[j], true);
        }
}

static std::string in_words(Accessed const& one) {
    return join(one.call, "(bytes ", one.first, " to ", one.end - 1, " of the target's part)");
}

void Accesses::tell_stores(std::vector<Accessed> const& changed, std::uint64_t opened, std::uint64_t closed) {
    for (Accessed const& one : changed) {
        if (!told_.emplace(std::min(one.site, closed), std::max(one.site, closed)).second) continue;
        Mistake::Part const parts[] = {{one.origin, in_words(one), {}, one.site},
                                       {process_.rank(), "MPI_Win_fence", "from here", opened},
                                       {process_.rank(), "MPI_Win_fence", "until here it was stored to", closed}};
        warn(process_,
             {"T14",
              join("rank ", process_.rank(), " stores in memory of a window that another operation accesses in the ",
                   "same epoch"),
              "what is there afterwards, or what was got, is not defined: put a fence between what the program stores "
              "itself and what others put or get",
              parts});
    }
}

void Accesses::tell(Accessed const& a, Accessed const& b, bool under_shared_locks) {
    if (!told_.emplace(std::min(a.site, b.site), std::max(a.site, b.site)).second) return;
    Mistake::Part const parts[] = {{a.origin, in_words(a), {}, a.site}, {b.origin, in_words(b), {}, b.site}};
    if (under_shared_locks)
        warn(process_, {"T14", "operations of two ranks on the same memory of a window, under shared locks, conflict",
                        "what is there afterwards, or what was got, is not defined, for nothing orders them: take the "
                        "lock with MPI_LOCK_EXCLUSIVE, put a flush and then a barrier or a message in between, or use "
                        "MPI_Accumulate with one operator and one type",
                        parts});
    else
        warn(process_, {"T14", "operations on the same memory of a window, in one epoch, conflict",
                        "what is there afterwards, or what was got, is not defined: put a fence or a flush in between, "
                        "or use MPI_Accumulate with one operator and one type",
                        parts});
}

}   // namespace tutti::rma
