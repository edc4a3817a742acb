// SPDX-License-Identifier: BSD-3-Clause
// From a call to its algorithm: what the call offers, and what is decided for it, looked up per communicator,
// collective and class of sizes.
#pragma once

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/choice/state.hpp"

namespace tutti::coll {

/// The members' places on this node.
std::vector<int> places_of(Process const& process, Group const& group);

/// `tells`: this rank is the one that tells when the algorithm that the user has named cannot do the call.
Decision decide_for(Comm const& comm, Collective collective, CallTraits const& traits, bool tells);

inline constexpr std::size_t unknown_size = ~std::size_t{0};

inline CallTraits plain_traits(CommState const& state, std::size_t bytes) {
    return {.ranks = state.area.members(),
            .levels = state.trees.hierarchy.levels(),
            .bytes = bytes,
            .slot_bytes = state.area.slot_bytes(),
            .commutes = true,
            .ordered = true,
            .one_kind = true,
            .equal_parts = true,
            .several_nodes = state.multi_node != nullptr,
            .shared_cores = state.process.segment.header().crowded()};
}

/// Sizes of parts: those of the plain forms are the same at every rank, the others are known to nobody in full.
inline CallTraits movement_traits(CommState const& state, std::size_t equal_bytes, bool equal) {
    CallTraits traits = plain_traits(state, equal ? equal_bytes : unknown_size);
    traits.equal_parts = equal;
    traits.parts = traits.ranks;
    return traits;
}

inline CallTraits traits_of(CommState const& state, BarrierArgs const&) { return plain_traits(state, 0); }
inline CallTraits traits_of(CommState const& state, BcastArgs const& args) {
    return plain_traits(state, args.data.bytes());
}
/// Of reductions of all kinds; their kernels are known.
inline CallTraits traits_of(CommState const& state, ReduceArgs const& args) {
    CallTraits traits = plain_traits(state, args.bytes());
    traits.commutes = args.op->commutative;
    traits.ordered = traits.commutes || state.trees.hierarchy.consecutive();
    traits.one_kind = args.kernels.many != nullptr && args.type->dense(2);
    traits.grouping = !state.process.variables.deterministic;
    return traits;
}
inline CallTraits traits_of(CommState const& state, RootedArgs const& args) {
    return movement_traits(state, args.largest, args.equal);
}
inline CallTraits traits_of(CommState const& state, AllgatherArgs const& args) {
    return movement_traits(state, args.largest, true);
}
inline CallTraits traits_of(CommState const& state, AlltoallArgs const& args) {
    return movement_traits(state, args.each, args.equal);
}
inline CallTraits traits_of(CommState const& state, NeighborArgs const& args) {
    return movement_traits(state, args.each, args.equal);
}

/// What is looked up once per call, before it is decided.
inline void complete(CommonArgs&) {}
inline void complete(ReduceArgs& args) { find_kernels(args); }

/// What is recorded as a call's bytes: the message of a bcast, the whole vector of a reduction, and of the other
/// movements the rank's own part, or all that it sends.
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

/// One of those that decide the same: the lowest rank. In a rooted call between groups the root's group does not know
/// the message; the other one does.
template <class Args>
bool tells(Comm const& comm, Args const& args) {
    if (!state_of(comm).of_program) return false;
    int const mine = comm.union_group->rank(), behind_first = args.first_group_size;
    if constexpr (requires { args.root; })
        if (behind_first > 0) return args.root >= 0 && mine == (args.root < behind_first ? behind_first : 0);
    return mine == 0;
}

/// The rare part of decision_for: of the first call of its class, or not where the cache looks first.
template <class Args>
[[gnu::noinline]] Decision const& decide_or_find(Comm const& comm, Collective collective, Args const& args) {
    CommState& state = state_of(comm);
    CallTraits traits = traits_of(state, args);
    traits.two_groups = args.first_group_size > 0;
    Decision& decision = state.choices.at(collective, traits);
    if (!decision.algorithm) decision = decide_for(comm, collective, traits, tells(comm, args));
    return decision;
}

/// Under which key a communicator's choices have the decision for a call whose arguments are complete; the same for as
/// long as the communicator lives.
template <class Args>
std::uint32_t choice_key_of(Comm const& comm, Collective collective, Args const& args) {
    return Choices::key(collective, traits_of(state_of(comm), args));
}
/// The decision itself. It lives until the communicator's choices are forgotten.
template <class Args>
Decision const& decision_for(Comm const& comm, Collective collective, Args const& args, std::uint32_t key) {
    Decision const* const known = state_of(comm).choices.find(key);
    if (known && known->algorithm) [[likely]]
        return *known;
    return decide_or_find(comm, collective, args);
}
template <class Args>
Decision const& decision_for(Comm const& comm, Collective collective, Args const& args) {
    return decision_for(comm, collective, args, choice_key_of(comm, collective, args));
}

/// Writes down that a call took from `start` (of now_ns) until now.
void record(CallStatisticsRow& line, Use& use, std::size_t bytes, std::int64_t start);

}   // namespace tutti::coll
