// SPDX-License-Identifier: BSD-3-Clause
// The note of a call that the program makes, whatever its form; calls of the library's own are not noted.
#pragma once

#include "coll/call/collectives.hpp"
#include "coll/choice/decision.hpp"
#include "coll/choice/state.hpp"
#include "coll/match/amounts.hpp"
#include "coll/match/noted.hpp"
#include "runtime/base/clock.hpp"

namespace tutti::coll {

template <class Args>
[[gnu::noinline]] CallRecord::Prepared prepare_note(BoundCall<Args> const& call) {
    Noted noted(call.comm, call.collective, call.function);
    noted.add(call.args);
    return CallRecord::Prepared(noted.call());
}

/// The call has been recorded: is what this rank sends to itself what it expects?
template <class Args>
void compare_own_part(BoundCall<Args> const& call) {
    if (std::string const text = own_part_mismatch(call.comm, call.collective, call.args); !text.empty()) [[unlikely]] {
        int const rank = call.comm.process.rank();
        state_of(call.comm).records.report_amounts(rank, join("rank ", rank, " ", text));
    }
}

template <class Args>
[[gnu::noinline]] void note_anew(CallRecords& records, BoundCall<Args>& call) {
    if (call.function == 0) return;
    bool const is_new = call.note.what == 0;
    if (is_new) call.note = prepare_note(call);
    records.take(call.note);
    if (is_new) compare_own_part(call);
}

/// A call that may be made again.
template <class Args>
[[gnu::always_inline]] inline void note(BoundCall<Args>& call) {
    CallRecords& records = state_of(call.comm).records;
    if (records.wanted() && !records.take_again(call.note)) [[unlikely]]
        note_anew(records, call);
}
template <class Args>
void note(BoundCall<Args> const& call) {
    CallRecords& records = state_of(call.comm).records;
    if (call.function == 0 || !records.wanted()) return;
    CallRecord::Prepared prepared = prepare_note(call);
    records.take(prepared);
    compare_own_part(call);
}

/// When a call began that is recorded, by now_ns().
inline std::int64_t begin_of(Comm const& comm) {
    Tracer* const tracer = comm.process.tracer.get();
    return tracer ? tracer->time_of_begin() : now_ns();
}

/// Traces the beginning of a call, with the levels of the trees that its algorithm follows.
template <class Args>
void trace(Comm const& comm, Args const& args, Decision const& decision) {
    Tracer* const tracer = comm.process.tracer.get();
    if (!tracer) return;
    int root = -1;
    if constexpr (requires { args.root; }) root = args.root;
    CallStatisticsRow const& line = *decision.line;
    tracer->collective(comm.context, root, message_bytes(comm, args), &line, [&] {
        return join(line.collective, "|", decision.trees->hierarchy.describe(), "|", line.algorithm);
    });
}

}   // namespace tutti::coll
