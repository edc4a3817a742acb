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
bool goes_in_fragments(Decision const& decision, Args const& args) {
    return Fragments<Args>(args, fragment_of(decision)).count() > 1;
}

/// Runs a call, whose decision is known, on one node.
template <class Args>
[[gnu::always_inline]] inline void run_on_node(Comm& comm, Collective collective, Args const& args,
                                               Decision const& decision) {
    auto const* const algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    drive(comm, *decision.trees, name_of(collective),
          [algorithm, &args](ShmEnv& env) { return algorithm->shm(env, args); });
}

/// Runs a call between nodes, whole or in fragments, or a call that is recorded. Not inlined, because it is off the hot
/// path.
template <class Args>
[[gnu::noinline]] void run_rarely(Comm& comm, Collective collective, Args const& args, Decision const& decision) {
    auto const* const algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    MultiNode const* const multi_node = state_of(comm).multi_node.get();
    if constexpr (Fragments<Args>::most_at_once > 1)
        if (multi_node && goes_in_fragments(decision, args)) return run_in_fragments(comm, collective, args);
    Use& use = *decision.use;
    CallStatisticsRow* const line = decision.line;   // the decision may be forgotten during the call
    use.begin(decision.algorithm);
    std::int64_t const start = line ? begin_of(comm) : 0;
    if (line) trace(comm, args, decision);
    if (multi_node)
        drive_multi_node(comm, *decision.trees, name_of(collective), node_operations(*algorithm, args, *multi_node),
                         [&](NetEnv& env) { return run_in(env, *algorithm, args); });
    else run_on_node(comm, collective, args, decision);
    if (line) record(*line, use, message_bytes(comm, args), start);
}

/// --check: reports an error if a pending operation uses the buffers of this call.
template <class Args>
void refuse_overlaps(Comm& comm, Collective collective, Args& args) {
    p2p::Checks const* const checks = p2p::engine(comm.process).checks();
    if (!checks) return;
    CollectedBuffers all;
    ArgumentBuffers(comm, collective, all).visit(args);
    for (p2p::Data const& data : all.sent) checks->refuse_overlap(data, false);
    for (p2p::Data const& data : all.received) checks->refuse_overlap(data, true);
}

/// --check: must be called when all members have just waited for each other. Afterwards, all members know what any of
/// them knew of the order of the program's messages.
void share_order(Comm& comm) {
    Process& process = comm.process;
    p2p::Checks* const checks = p2p::engine(process).checks();
    if (!checks) return;
    std::span<int const> const members = comm.union_group->world_ranks();
    std::vector<int> outsiders;
    std::vector<bool> is_member(static_cast<std::size_t>(process.size()));
    for (int const rank : members) is_member[static_cast<std::size_t>(rank)] = true;
    for (int rank = 0; rank < process.size(); ++rank)
        if (!is_member[static_cast<std::size_t>(rank)]) outsiders.push_back(rank);
    std::vector<std::uint32_t> const mine = checks->order().to_members(outsiders);
    std::vector<std::uint32_t> all(mine.size() * members.size());
    allgather_bytes(comm, mine.data(), mine.size() * sizeof mine[0], all.data());
    checks->order().meet(members, outsiders, all);
    if (outsiders.empty() && !comm.inter()) checks->call_order.met_all();
}

}   // namespace

void forget_order(Comm const& comm) {
    if (p2p::Checks* const checks = p2p::engine(comm.process).checks()) checks->order().become_uncertain();
}

template <class Args>
void run(BoundCall<Args>& call) {
    Comm& comm = call.comm;
    Collective const collective = call.collective;
    Args& args = call.args;
    note(call);
    if (call.function != 0 && state_of(comm).records.compares_each_call()) [[unlikely]] {
        refuse_overlaps(comm, collective, args);
        check_with_others(comm, collective, args);
        if (is_of_neighbors(collective)) forget_order(comm);
        else share_order(comm);
    }
    Decision const* found = nullptr;
    try {   // everything that precedes the operation's number
        if (call.choice_key == 0) {
            complete(args);
            call.choice_key = choice_key_of(comm, collective, args);
        }
        found = &decision_for(comm, collective, args, call.choice_key);
    } catch (std::bad_alloc const&) {
        fail_to_begin(comm, name_of(collective));
        throw;
    }
    Decision const& decision = *found;
    args.parameters = decision.setting->values;
    if (state_of(comm).multi_node || decision.line) [[unlikely]]
        return run_rarely(comm, collective, args, decision);
    decision.use->begin(decision.algorithm);
    run_on_node(comm, collective, args, decision);
}

template void run(BoundCall<BarrierArgs>&);
template void run(BoundCall<BcastArgs>&);
template void run(BoundCall<ReduceArgs>&);
template void run(BoundCall<ReduceScatterArgs>&);
template void run(BoundCall<RootedArgs>&);
template void run(BoundCall<AllgatherArgs>&);
template void run(BoundCall<AlltoallArgs>&);
template void run(BoundCall<NeighborAllgatherArgs>&);
template void run(BoundCall<NeighborAlltoallArgs>&);

void note(Comm& comm, char const* function, Waits waits) {
    RecordedCall call;
    call.function = function_named(function);
    bool const blocking = waits != Waits::for_none && function_waits(call.function);
    if (blocking) call.flags = RecordedCall::blocking;
    CallRecords& records = state_of(comm).records;
    if (!records.wanted()) return;
    CallRecord::Prepared prepared(call);
    records.take(prepared);
    if (!records.compares_each_call()) return;
    if (blocking && waits == Waits::for_members) share_order(comm);
    else forget_order(comm);
}

void compare_last_calls(Comm const& comm) { state_of(comm).records.compare_last_calls(); }

void report_mismatch(Comm const& comm, Error const& error) {
    AllCallRecords const* const all = state_of(comm.process).call_records.get();
    if (comm.collectives && all && all->on) state_of(comm).records.report_mismatch(error);
}

void compare_calls(Process const& process) {
    AllCallRecords& all = *state_of(process).call_records;
    if (all.on) all.compare_at_end();
}

void finish_comparing_between_nodes(Process const& process) {
    AllCallRecords& all = *state_of(process).call_records;
    if (all.on) all.finish_between_nodes();
}

void barrier(Comm& comm) {
    state_of(comm).of_program = false;
    run(BoundCall<BarrierArgs>{comm, Collective::barrier, {}});
}

}   // namespace tutti::coll
