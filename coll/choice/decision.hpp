// SPDX-License-Identifier: BSD-3-Clause
// The decision for a call: computes the call's traits and looks up the decision for them, which is cached per
// communicator, collective and size class.
#pragma once

#include "coll/blocks/reducer.hpp"
#include "coll/choice/comm_state.hpp"

namespace tutti::coll {

/// Returns the members' local ranks on this node.
std::vector<int> local_ranks_of(Process const& process, Group const& group);

/// Why algorithms have refused a call (Environment::refuse): the buffers do not meet their requirements.
struct Refusal {
    unsigned requirements = requires_nothing;
    int owner = -1;   ///< a rank that owns such a buffer
};

/// Makes the decision for these traits. `is_reporter`: this rank reports when the algorithm that the user requested
/// cannot do the call.
Decision decide_for(Comm const& comm, Collective collective, CallTraits traits, bool is_reporter,
                    Refusal const& refusal = {});

/// Traits of a call without an operator and with equal parts.
inline CallTraits plain_traits(CommState const& state, std::size_t bytes) {
    CallTraits traits = CallTraits::plain(state.trees.hierarchy, state.area.slot_bytes(), bytes);
    traits.several_nodes = state.multi_node != nullptr;
    traits.shared_cores = state.process.segment.header().oversubscribed();
    traits.loadable_buffers = state.process.single_copy.may_load();
    traits.copyable_buffers = state.process.single_copy.may_copy();
    traits.kernel_copies = state.process.single_copy.may_copy_by_kernel();
    return traits;
}

inline CallTraits traits_of(CommState const& state, BarrierArgs const&) { return plain_traits(state, 0); }
inline CallTraits traits_of(CommState const& state, BcastArgs const& args) {
    return plain_traits(state, args.data.bytes());
}
/// Reductions of all kinds. Must be called after complete(), which finds the kernels.
inline CallTraits traits_of(CommState const& state, ReduceArgs const& args) {
    bool const has_kernels = args.kernels.nary != nullptr && args.type->dense(2);
    return plain_traits(state, args.bytes())
        .with_operator(state.trees.hierarchy, args.op->commutative, has_kernels, state.process.variables.deterministic);
}
inline CallTraits traits_of(CommState const& state, RootedArgs const& args) {
    return plain_traits(state, args.max_part_bytes).with_parts(args.equal_parts);
}
inline CallTraits traits_of(CommState const& state, AllgatherArgs const& args) {
    return plain_traits(state, args.max_part_bytes).with_parts(true);
}
inline CallTraits traits_of(CommState const& state, AlltoallArgs const& args) {
    return plain_traits(state, args.part_bytes).with_parts(args.equal_parts);
}
inline CallTraits traits_of(CommState const& state, NeighborArgs const& args) {
    return plain_traits(state, args.part_bytes).with_parts(args.equal_parts);
}

/// Completes the arguments before the decision: finds the kernels of a reduction.
inline void complete(CommonArgs&) {}
inline void complete(ReduceArgs& args) { find_kernels(args); }

/// The bytes that are recorded for a call: the message of a broadcast, the whole vector of a reduction; for other
/// movements the rank's own part, or everything that it sends.
inline std::size_t message_bytes(Comm const&, BarrierArgs const&) { return 0; }
inline std::size_t message_bytes(Comm const&, BcastArgs const& args) { return args.data.bytes(); }
inline std::size_t message_bytes(Comm const&, ReduceArgs const& args) { return args.bytes(); }
inline std::size_t message_bytes(Comm const&, RootedArgs const& args) { return args.mine.bytes(); }
inline std::size_t message_bytes(Comm const&, AllgatherArgs const& args) { return args.mine.bytes(); }
inline std::size_t message_bytes(Comm const& comm, AlltoallArgs const& args) {
    std::size_t sum = 0;
    for (int i = 0; i < comm.union_group->size(); ++i) sum += (args.is_in_place ? args.receive : args.send)[i].bytes();
    return sum;
}
inline std::size_t message_bytes(Comm const&, NeighborAllgatherArgs const& args) { return args.mine.bytes(); }
inline std::size_t message_bytes(Comm const&, NeighborAlltoallArgs const& args) {
    std::size_t sum = 0;
    for (int i = 0; i < args.edges->out_degree(); ++i) sum += args.send[i].bytes();
    return sum;
}

/// True for the one rank that reports an unsuitable setting: the lowest of the ranks that reach the same decision. In a
/// rooted call on an intercommunicator the ranks of the root's group do not know the message, so it is the first rank
/// of the other group.
template <class Args>
bool is_reporter(Comm const& comm, Args const& args) {
    if (!state_of(comm).has_user_calls) return false;
    int const mine = comm.union_group->rank(), second_group = args.first_group_size;
    if constexpr (requires { args.root; })
        if (second_group > 0) return args.root >= 0 && mine == (args.root < second_group ? second_group : 0);
    return mine == 0;
}

/// Returns the decision for a call, which is made at the first call of its class. The arguments must be complete. It is
/// valid until the communicator's decisions are cleared (DecisionCache::epoch). `refusal`: of the algorithms that have
/// been tried for this call.
template <class Args>
Decision const& decision_for(Comm const& comm, Collective collective, Args const& args, Refusal const& refusal = {}) {
    CommState& state = state_of(comm);
    CallTraits traits = traits_of(state, args);
    traits.intercommunicator = args.first_group_size > 0;
    if (refusal.requirements != requires_nothing) traits.loadable_buffers = false;
    if (refusal.requirements & requires_copyable_buffers) traits.copyable_buffers = false;
    Decision& decision = state.decisions.at(collective, traits);
    if (!decision.algorithm) decision = decide_for(comm, collective, traits, is_reporter(comm, args), refusal);
    return decision;
}

/// Records a call that began at `start` (by now_ns) and ends now.
void record(CallStatisticsRow& statistics, CollectiveCounters& counters, std::size_t bytes, std::int64_t start);

}   // namespace tutti::coll
