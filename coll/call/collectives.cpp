// SPDX-License-Identifier: BSD-3-Clause
// The blocking calls: the choice, the drive.
#include "coll/call/collectives.hpp"

#include <new>

#include "coll/call/drive.hpp"
#include "coll/call/fragments.hpp"
#include "coll/call/run_in.hpp"
#include "coll/choice/decision.hpp"
#include "runtime/base/clock.hpp"

namespace tutti::coll {

namespace {

template <class Args>
bool goes_in_fragments(Decision const& decision, Args const& args) {
    return Fragments<Args>(args, fragment_of(decision)).count() > 1;
}

}   // namespace

template <class Args>
void run(BoundCall<Args>&& call) {
    Comm& comm = call.comm;
    Collective const collective = call.collective;
    Args& args = call.args;
    Decision const* found = nullptr;
    try {   // all that comes before the operation has its number
        complete(args);
        found = &decision_for(comm, collective, args);
    } catch (std::bad_alloc const&) {
        fail_to_begin(comm, name_of(collective));
        throw;
    }
    Decision const& decision = *found;
    auto const* algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    args.parameters = decision.setting->values;
    CommState& state = state_of(comm);
    MultiNode const* const multi_node = state.multi_node.get();
    if constexpr (Fragments<Args>::most_at_once > 1)
        if (multi_node && goes_in_fragments(decision, args)) return run_in_fragments(comm, collective, args);
    Use& use = *decision.use;
    use.algorithm = decision.algorithm;
    use.calls.add(1);
    CallStatisticsRow* const line = decision.line;   // others may have the decision forgotten meanwhile
    std::int64_t const start = line ? now_ns() : 0;
    if (multi_node) [[unlikely]]
        drive_multi_node(comm, *decision.trees, name_of(collective), node_operations(*algorithm, args, *multi_node),
                         [&](NetEnv& env) { return run_in(env, *algorithm, args); });
    else drive(comm, *decision.trees, name_of(collective), [&](ShmEnv& env) { return algorithm->shm(env, args); });
    if (line) [[unlikely]]
        record(*line, use, message_bytes(comm, args), start);
}

template void run(BoundCall<BarrierArgs>&&);
template void run(BoundCall<BcastArgs>&&);
template void run(BoundCall<ReduceArgs>&&);
template void run(BoundCall<ReduceScatterArgs>&&);
template void run(BoundCall<RootedArgs>&&);
template void run(BoundCall<AllgatherArgs>&&);
template void run(BoundCall<AlltoallArgs>&&);
template void run(BoundCall<NeighborAllgatherArgs>&&);
template void run(BoundCall<NeighborAlltoallArgs>&&);

void barrier(Comm& comm) {
    state_of(comm).of_program = false;
    run(BoundCall<BarrierArgs>{comm, Collective::barrier, {}});
}

}   // namespace tutti::coll
