// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls: find the decision, then drive the algorithm. Also the entry points of call matching for mpi_h/.
#include "coll/call/collectives.hpp"

#include <new>

#include "coll/call/argument_buffers.hpp"
#include "coll/call/checked.hpp"
#include "coll/call/drive.hpp"
#include "coll/call/internal.hpp"
#include "coll/call/running_operation.hpp"
#include "coll/choice/decision.hpp"
#include "p2p/engine.hpp"

namespace tutti::coll {

namespace {

template <class Args>
bool needs_fragments(Decision const& decision, Args const& args) {
    return Fragments<Args>(args, fragment_of(decision)).count() > 1;
}

/// Runs a call between nodes, whole or in fragments, or a call that is recorded. Not inlined, because it is off the hot
/// path.
template <class Args>
[[gnu::noinline]] void execute_slow_path(BoundCall<Args>& call, Decision const& decision) {
    Comm& comm = call.comm;
    Args const& args = call.args;
    char const* const operation = name_of(call.collective);
    MultiNode const* const multi_node = state_of(comm).multi_node.get();
    if constexpr (Fragments<Args>::max_in_flight > 1)
        if (multi_node && needs_fragments(decision, args)) return run_in_fragments(comm, call.collective, args);
    CollectiveCounters& counters = *decision.counters;
    CallStatisticsRow* statistics = decision.statistics;   // the decision may be forgotten during the call
    Chosen<Args> const chosen{comm, decision, &statistics};
    counters.begin(decision.algorithm);
    std::int64_t const start = statistics ? begin_time(comm) : 0;
    if (statistics) trace(comm, args, decision);
    if (multi_node)
        drive_multi_node(comm, *decision.trees, operation, node_operations(chosen.algorithm(), args, *multi_node),
                         [&](NetEnv& env) { return run_in(env, chosen, args); });
    else drive(comm, *decision.trees, operation, [&](ShmEnv& env) { return run_in(env, chosen, args); });
    if (statistics) record(*statistics, counters, message_bytes(comm, args), start);
}

/// Finds the decision for the call, and the kernels of a reduction. Precedes the operation's number.
template <class Args>
[[gnu::noinline]] void find_decision(BoundCall<Args>& call) try {
    if (call.decision_epoch == 0) complete(call.args);
    call.decision = &decision_for(call.comm, call.collective, call.args);
    call.decision_epoch = state_of(call.comm).decisions.epoch();
    call.args.parameters = call.decision->setting->values;
} catch (std::bad_alloc const&) {
    fail_to_begin(call.comm, name_of(call.collective));
    throw;
}

/// --check: reports an error if a pending operation uses the buffers of this call.
template <class Args>
void check_overlaps(Comm& comm, Collective collective, Args& args) {
    p2p::Checks const* const checks = p2p::engine(comm.process).checks();
    if (!checks) return;
    CollectedBuffers all;
    ArgumentBuffers(comm, collective, all).visit(args);
    for (p2p::Data const& data : all.sent) checks->check_overlap(data, false);
    for (p2p::Data const& data : all.received) checks->check_overlap(data, true);
}

/// --check: must be called when all members have just waited for each other. Afterwards, all members know what any of
/// them knew of the order of the program's messages.
void exchange_order(Comm& comm) {
    Process& process = comm.process;
    p2p::Checks* const checks = p2p::engine(process).checks();
    if (!checks) return;
    std::span<int const> const members = comm.union_group->world_ranks();
    std::vector<int> outsiders;
    std::vector<bool> is_member(static_cast<std::size_t>(process.size()));
    for (int const rank : members) is_member[static_cast<std::size_t>(rank)] = true;
    for (int rank = 0; rank < process.size(); ++rank)
        if (!is_member[static_cast<std::size_t>(rank)]) outsiders.push_back(rank);
    std::vector<std::uint32_t> const mine = checks->vector_clock().values_for_members(outsiders);
    std::vector<std::uint32_t> all(mine.size() * members.size());
    allgather_bytes(comm, mine.data(), mine.size() * sizeof mine[0], all.data());
    checks->vector_clock().merge_members(members, outsiders, all);
    if (outsiders.empty() && !comm.is_inter()) checks->call_order.on_global_sync();
}

}   // namespace

void mark_order_unknown(Comm const& comm) {
    if (p2p::Checks* const checks = p2p::engine(comm.process).checks()) checks->vector_clock().set_uncertain();
}

/// --check: the checks of a call of the program that precede it.
template <class Args>
[[gnu::noinline]] void check_call(BoundCall<Args>& call) {
    check_overlaps(call.comm, call.collective, call.args);
    check_with_members(call.comm, call.collective, call.args);
    if (is_neighborhood(call.collective)) mark_order_unknown(call.comm);
    else exchange_order(call.comm);
}

template <class Args>
void execute(BoundCall<Args>& call) {
    CommState& state = state_of(call.comm);
    record_call(call);
    if (call.function && state.records.compares_each_call()) [[unlikely]]
        check_call(call);
    if (call.decision_epoch != state.decisions.epoch()) [[unlikely]]
        find_decision(call);
    Decision const& decision = *call.decision;
    if (state.multi_node || decision.statistics) [[unlikely]]
        return execute_slow_path(call, decision);
    if (decision.algorithm->requirements & buffer_requirements) return execute_slow_path(call, decision);
    decision.counters->begin(decision.algorithm);
    auto const* const algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    drive(call.comm, *decision.trees, name_of(call.collective),
          [algorithm, &call](ShmEnv& env) { return algorithm->shm(env, call.args); });
}

#define COLLECTIVE(name, Args) template void execute(BoundCall<Args>&);
#define SHARES_ARGUMENTS(name, Args)
#include "runtime/settings/collectives.def"

void record_call(Comm& comm, Function function, WaitsFor waits) {
    RecordedCall call;
    call.function = function;
    if (waits != WaitsFor::no_rank) call.flags = RecordedCall::blocking;
    CallRecords& records = state_of(comm).records;
    if (!records.is_recording()) return;
    CallRecord::PreparedCall prepared(call);
    records.record(prepared);
    if (!records.compares_each_call()) return;
    if (waits == WaitsFor::members) exchange_order(comm);
    else mark_order_unknown(comm);
}

void compare_last_calls(Comm const& comm) { state_of(comm).records.compare_last_calls(); }

void report_mismatch(Comm const& comm, Error const& error) {
    CallMatcher const* const all = state_of(comm.process).call_matcher.get();
    if (comm.collectives && all && all->enabled) state_of(comm).records.report_mismatch(error);
}

void compare_calls(Process const& process) {
    CallMatcher& all = *state_of(process).call_matcher;
    if (all.enabled) all.compare_at_end();
}

void finish_comparing_between_nodes(Process const& process) {
    CallMatcher& all = *state_of(process).call_matcher;
    if (all.enabled) all.finish_between_nodes();
}

void barrier(Comm& comm) {
    state_of(comm).has_user_calls = false;
    execute(BoundCall<BarrierArgs>{comm, Collective::barrier, {}});
}

}   // namespace tutti::coll
