// SPDX-License-Identifier: BSD-3-Clause
// The blocking calls: the choice, the drive.
#include "coll/call/collectives.hpp"

#include <new>

#include "coll/call/bytes.hpp"
#include "coll/call/drive.hpp"
#include "coll/call/fragments.hpp"
#include "coll/call/noting.hpp"
#include "coll/call/run_in.hpp"
#include "coll/choice/decision.hpp"
#include "p2p/engine.hpp"

namespace tutti::coll {

namespace {

template <class Args>
bool goes_in_fragments(Decision const& decision, Args const& args) {
    return Fragments<Args>(args, fragment_of(decision)).count() > 1;
}

/// A call whose decision is found.
template <class Args>
[[gnu::always_inline]] inline void run_on_node(Comm& comm, Collective collective, Args const& args,
                                               Decision const& decision) {
    auto const* const algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    drive(comm, *decision.trees, name_of(collective),
          [algorithm, &args](ShmEnv& env) { return algorithm->shm(env, args); });
}

/// The same between nodes, or where calls are recorded.
template <class Args>
[[gnu::noinline]] void run_rarely(Comm& comm, Collective collective, Args const& args, Decision const& decision) {
    auto const* const algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    MultiNode const* const multi_node = state_of(comm).multi_node.get();
    if constexpr (Fragments<Args>::most_at_once > 1)
        if (multi_node && goes_in_fragments(decision, args)) return run_in_fragments(comm, collective, args);
    Use& use = *decision.use;
    CallStatisticsRow* const line = decision.line;   // others may have the decision forgotten meanwhile
    use.begin(decision.algorithm);
    std::int64_t const start = line ? begin_of(comm) : 0;
    if (line) trace(comm, args, decision);
    if (multi_node)
        drive_multi_node(comm, *decision.trees, name_of(collective), node_operations(*algorithm, args, *multi_node),
                         [&](NetEnv& env) { return run_in(env, *algorithm, args); });
    else run_on_node(comm, collective, args, decision);
    if (line) record(*line, use, message_bytes(comm, args), start);
}

/// --check: what all ranks will send each other, before they do; and no rank returns from a call that others have not
/// made, so that programs that rely on collectives that need not wait are found (MPI 4.1, 6.14).
void check_with_others(Comm& comm, Collective collective, RootedArgs const& args) {
    auto const n = static_cast<std::size_t>(comm.union_group->size());
    std::vector<Amount> all(n);
    Amount const mine = Amount::of(args.mine);
    bool const is_root = comm.rank() == args.root, to_root = collective == Collective::gather;
    allgather_bytes(comm, &mine, sizeof mine, all.data());
    if (args.equal || comm.inter()) return;
    std::vector<Amount> of_root(n);
    for (int r = 0; is_root && r < comm.size(); ++r) of_root[static_cast<std::size_t>(r)] = Amount::of(args.parts[r]);
    bcast_bytes(comm, of_root.data(), n * sizeof(Amount), args.root);
    for (int r = 0; r < comm.size(); ++r) {
        Amount const &leaf = all[static_cast<std::size_t>(r)], &root = of_root[static_cast<std::size_t>(r)];
        if (r == args.root || (!is_root && r != comm.rank()) || leaf.matches(root)) continue;
        int const peer = comm.group->world_rank(is_root ? r : args.root);
        Amount const &sent = to_root ? leaf : root, &expected = to_root ? root : leaf;
        state_of(comm).records.report_amounts(
            peer, difference_in_words(to_root ? r : args.root, sent, to_root ? args.root : r, expected));
    }
}

void check_with_others(Comm& comm, Collective, AlltoallArgs const& args) {
    auto const n = static_cast<std::size_t>(comm.size());
    if (args.equal || args.is_in_place || comm.inter()) {
        char const mine = 0;
        std::vector<char> all(static_cast<std::size_t>(comm.union_group->size()));
        return allgather_bytes(comm, &mine, 1, all.data());
    }
    std::vector<Amount> mine(n), all(n * n);
    for (int r = 0; r < comm.size(); ++r) mine[static_cast<std::size_t>(r)] = Amount::of(args.send[r]);
    allgather_bytes(comm, mine.data(), n * sizeof(Amount), all.data());
    for (int r = 0; r < comm.size(); ++r) {
        Amount const &sent = all[static_cast<std::size_t>(r) * n + static_cast<std::size_t>(comm.rank())],
                     expected = Amount::of(args.receive[r]);
        if (r != comm.rank() && !sent.matches(expected))
            state_of(comm).records.report_amounts(comm.group->world_rank(r),
                                                  difference_in_words(r, sent, comm.rank(), expected));
    }
}

bool is_of_neighbors(Collective collective) {
    return collective == Collective::neighbor_allgather || collective == Collective::neighbor_alltoall;
}

template <class Args>
void check_with_others(Comm& comm, Collective collective, Args const&) {
    if (is_of_neighbors(collective)) return;
    char const mine = 0;
    std::vector<char> all(static_cast<std::size_t>(comm.union_group->size()));
    allgather_bytes(comm, &mine, 1, all.data());
}

/// --check: what any member knows of the program's messages, all members know from now on.
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
        check_with_others(comm, collective, args);
        if (is_of_neighbors(collective)) forget_order(comm);
        else share_order(comm);
    }
    Decision const* found = nullptr;
    try {   // all that comes before the operation has its number
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

void note(Comm& comm, char const* function, bool with_others) {
    RecordedCall call;
    call.function = function_named(function);
    if (function_waits(call.function)) call.flags = RecordedCall::blocking;
    CallRecords& records = state_of(comm).records;
    if (!records.wanted()) return;
    CallRecord::Prepared prepared(call);
    records.take(prepared);
    if (!records.compares_each_call()) return;
    if (function_waits(call.function) && !with_others) share_order(comm);
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
