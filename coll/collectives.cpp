// SPDX-License-Identifier: BSD-3-Clause
// From a call to an algorithm: what the call offers, the choice, the drive.
#include "coll/collectives.hpp"

#include "coll/comm_create.hpp"
#include "coll/drive.hpp"
#include "coll/reducer.hpp"
#include "runtime/clock.hpp"

namespace tutti::coll {
namespace {

constexpr std::size_t unknown_size = ~std::size_t{0};

Offer offer_of(CommState const& state, std::size_t bytes) {
    return {.ranks = state.area.members(),
            .levels = state.trees.hierarchy.levels(),
            .bytes = bytes,
            .slot_bytes = state.area.slot_bytes(),
            .commutes = true,
            .ordered = true,
            .one_kind = true,
            .equal_parts = true};
}

Decision decide_for(Comm const& comm, Collective collective, Offer const& offer) {
    CommState& state = state_of(comm);
    ProcessState& node = state_of(state.process);
    Settings const& settings = state.settings ? *state.settings : node.settings;
    Decision decision = decide(collective, offer, settings,
                               [&](topo::LevelChoice const* levels) -> Trees const& { return trees_of(comm, levels); });
    if (node.ledger)
        decision.line =
            &node.ledger->line(comm.name, comm.size(), name_of(collective), text_of(*decision.setting));
    return decision;
}

/// What is recorded as a call's bytes: the message of a bcast, the whole vector of a reduction, and of the other
/// movements the rank's own part, or all that it sends.
std::size_t message_bytes(Comm const&, BarrierArgs const&) { return 0; }
std::size_t message_bytes(Comm const&, BcastArgs const& args) { return args.data.bytes(); }
std::size_t message_bytes(Comm const&, ReduceArgs const& args) { return args.bytes(); }
std::size_t message_bytes(Comm const&, RootedArgs const& args) { return args.mine.bytes(); }
std::size_t message_bytes(Comm const&, AllgatherArgs const& args) { return args.mine.bytes(); }
std::size_t message_bytes(Comm const& comm, AlltoallArgs const& args) {
    std::size_t sum = 0;
    for (int i = 0; i < comm.size(); ++i) sum += (args.is_in_place ? args.receive : args.send)[i].bytes();
    return sum;
}

void record(LedgerLine& line, Use& use, std::size_t bytes, std::int64_t start) {
    auto const time = static_cast<std::uint64_t>(now_ns() - start);
    line.note(bytes, time);
    use.bytes.add(bytes);
    use.time.add(time);
}

template <class Args>
void run(Comm& comm, Collective collective, Offer const& offer, Args& args) {
    CommState& state = state_of(comm);
    Decision& decision = state.choices.at(collective, offer);
    if (!decision.algorithm) [[unlikely]] decision = decide_for(comm, collective, offer);
    auto const* algorithm = static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    args.parameters = decision.setting->values;
    Use& use = state.uses[static_cast<std::size_t>(collective)];
    use.algorithm = decision.algorithm;
    use.calls.add(1);
    std::int64_t const start = decision.line ? now_ns() : 0;
    drive(comm, *decision.trees, name_of(collective), [&](ShmEnv& env) { return algorithm->shm(env, args); });
    if (decision.line) [[unlikely]] record(*decision.line, use, message_bytes(comm, args), start);
}

template <class Args>
void run_reduction(Comm& comm, Collective collective, std::size_t bytes, Args& args) {
    CommState& state = state_of(comm);
    find_kernels(args);
    Offer offer = offer_of(state, bytes);
    offer.commutes = args.op->commutative;
    offer.ordered = offer.commutes || state.trees.hierarchy.consecutive();
    offer.one_kind = args.kernels.many != nullptr && args.type->dense(2);
    run(comm, collective, offer, args);
}

}  // namespace

void barrier(Comm& comm) {
    BarrierArgs args{};
    run(comm, Collective::barrier, offer_of(state_of(comm), 0), args);
}

void bcast(Comm& comm, BcastArgs& args) {
    run(comm, Collective::bcast, offer_of(state_of(comm), args.data.bytes()), args);
}

void reduce(Comm& comm, ReduceArgs& args) { run_reduction(comm, Collective::reduce, args.bytes(), args); }
void allreduce(Comm& comm, ReduceArgs& args) { run_reduction(comm, Collective::allreduce, args.bytes(), args); }
void scan(Comm& comm, ReduceArgs& args) { run_reduction(comm, Collective::scan, args.bytes(), args); }
void exscan(Comm& comm, ReduceArgs& args) { run_reduction(comm, Collective::exscan, args.bytes(), args); }
void reduce_scatter(Comm& comm, ReduceScatterArgs& args) {
    run_reduction(comm, Collective::reduce_scatter, args.bytes(), args);
}

namespace {

/// Sizes of parts: those of the plain forms are the same at every rank, the others are known to nobody in full.
template <class Args>
void run_movement(Comm& comm, Collective collective, std::size_t equal_bytes, bool equal, Args& args) {
    Offer offer = offer_of(state_of(comm), equal ? equal_bytes : unknown_size);
    offer.equal_parts = equal;
    run(comm, collective, offer, args);
}

}  // namespace

void gather(Comm& comm, RootedArgs& args) { run_movement(comm, Collective::gather, args.largest, args.equal, args); }
void scatter(Comm& comm, RootedArgs& args) { run_movement(comm, Collective::scatter, args.largest, args.equal, args); }
void allgather(Comm& comm, AllgatherArgs& args) { run_movement(comm, Collective::allgather, args.largest, true, args); }
void alltoall(Comm& comm, AlltoallArgs& args) { run_movement(comm, Collective::alltoall, args.each, args.equal, args); }

}  // namespace tutti::coll
