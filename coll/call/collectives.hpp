// SPDX-License-Identifier: BSD-3-Clause
// The collectives as mpi_h/ calls them. One algorithm serves three forms: blocking (execute), nonblocking (start) and
// persistent (init) (MPI 3.1, chapter 5; MPI 4.0, 6.13). The caller has checked the arguments; the algorithm's
// parameters are filled in here.
#pragma once

#include <vector>

#include "coll/call/internal.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/choice/decision.hpp"
#include "coll/env/arguments.hpp"
#include "coll/match/amounts.hpp"
#include "coll/match/call_record.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::coll {

/// Lists made for a call, to which its arguments point. May be destroyed after the call.
struct Lists {
    std::vector<Datatype const*> send_types, receive_types;
    std::vector<int> counts;
};

/// A bound call: the function with its checked arguments, whatever its form. Args is the argument type of the
/// collective (ArgsOf, coll/algorithms/algorithm.hpp).
template <class Args>
struct BoundCall {
    Comm& comm;
    Collective collective;
    Args args;
    Function function{};                  ///< the function called by the program; none: called by the library
    CallRecord::PreparedCall record{};    ///< its call record, once the call has been run
    Decision const* decision = nullptr;   ///< the communicator's decision, valid in this epoch of its DecisionCache
    std::uint32_t decision_epoch = 0;     ///< 0: no decision has been made
};

/// The ranks for which a call may wait: the members of the communicator; members and other ranks; none.
enum class WaitsFor { members, other_ranks, no_rank };

/// Records a call by which the program creates a communicator or a similar object; all members of `comm` make this
/// call. Under --check, if the call waits, and only for its members, the members wait for each other here and exchange
/// their knowledge of the order of the program's messages; otherwise that order becomes uncertain.
void record_call(Comm& comm, Function function, WaitsFor waits = WaitsFor::members);
/// States that the program's call on `comm` orders ranks in a way that --check does not follow (p2p/check/order.hpp).
void mark_order_unknown(Comm const& comm);
/// Called by MPI_Comm_free and MPI_Win_free: compares the calls of all members of this communicator. Each rank compares
/// as far as it can see the others' records.
void compare_last_calls(Comm const& comm);
/// Called by MPI_Finalize: compares the calls on all communicators.
void compare_calls(Process const& process);
/// Called before an error of a call on `comm` ends the job. If the reason is that other members call another collective
/// or pass other arguments, reports that instead. Returns if this is not the case, or not known.
void report_mismatch(Comm const& comm, Error const& error);
/// Called by all ranks in MPI_Finalize: completes the comparison between nodes.
void finish_comparing_between_nodes(Process const& process);

/// Runs a blocking call to completion. What is computed for the call (kernels, decision, record) is stored in it, so
/// the same call can be executed repeatedly with other addresses.
template <class Args>
void execute(BoundCall<Args>& call);
template <class Args>
void execute(BoundCall<Args>&& call) {
    execute(call);
}

/// Starts a call and runs it as far as is possible without waiting. The buffers belong to the request until it is
/// complete. Communicator, datatypes and operator may be freed earlier, and all lists to which the arguments point may
/// be destroyed when this returns.
template <class Args>
Ref<Request> start(BoundCall<Args> const& call);

/// Creates a persistent request. Collective: chooses the algorithm and agrees on its memory. MPI_Start begins the
/// operation, in any order relative to other calls. The request keeps copies of the argument lists.
template <class Args>
Ref<Request> init(BoundCall<Args> const& call);

// Call records: every call that the program makes, in any form, is recorded; calls made by the library are not.

template <class Args>
[[gnu::noinline]] CallRecord::PreparedCall prepare_record(BoundCall<Args> const& call, bool blocking) {
    CallRecordBuilder builder(call.comm, call.collective, call.function, blocking);
    builder.add(call.args);
    return CallRecord::PreparedCall(builder.call());
}

/// Compares the part that this rank sends to itself with what it expects. The call must have been recorded.
template <class Args>
void compare_own_part(BoundCall<Args> const& call) {
    if (std::string const text = own_part_mismatch(call.comm, call.collective, call.args); !text.empty()) [[unlikely]] {
        int const rank = call.comm.process.rank();
        state_of(call.comm).records.report_amounts(rank, join("rank ", rank, " ", text));
    }
}

template <class Args>
[[gnu::noinline]] void record_new_call(CallRecords& records, BoundCall<Args>& call) {
    if (!call.function) return;
    bool const is_new = call.record.properties == 0;
    if (is_new) call.record = prepare_record(call, true);
    records.record(call.record);
    if (is_new) compare_own_part(call);
}

/// Records a blocking call, which may be repeated.
template <class Args>
[[gnu::always_inline]] inline void record_call(BoundCall<Args>& call) {
    CallRecords& records = state_of(call.comm).records;
    if (records.is_recording() && !records.record_again(call.record)) [[unlikely]]
        record_new_call(records, call);
}
/// Records a nonblocking call, or the creation of a persistent request.
template <class Args>
void record_call(BoundCall<Args> const& call) {
    CallRecords& records = state_of(call.comm).records;
    if (!call.function || !records.is_recording()) return;
    CallRecord::PreparedCall prepared = prepare_record(call, false);
    records.record(prepared);
    compare_own_part(call);
}

/// Returns the time, by now_ns(), at which a recorded call began.
inline std::int64_t begin_time(Comm const& comm) {
    Tracer* const tracer = comm.process.tracer.get();
    return tracer ? tracer->begin_time() : now_ns();
}

/// Traces the beginning of a call, with the levels of the trees that its algorithm uses.
template <class Args>
void trace(Comm const& comm, Args const& args, Decision const& decision) {
    Tracer* const tracer = comm.process.tracer.get();
    if (!tracer) return;
    int root = -1;
    if constexpr (requires { args.root; }) root = args.root;
    CallStatisticsRow const& statistics = *decision.statistics;
    tracer->collective(comm.context, root, message_bytes(comm, args), &statistics, [&] {
        return join(statistics.collective, "|", decision.trees->hierarchy.describe(), "|", statistics.algorithm);
    });
}

}   // namespace tutti::coll
