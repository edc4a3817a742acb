// SPDX-License-Identifier: BSD-3-Clause
// Barriers in shared memory: by flags (exchange, hierarchical, linear, xhc), and by messages of no bytes, which are
// counts of `sent` (binomial, cheetah, dissemination, mpich_hierarchical). The last two also run between nodes. The
// barrier masters is in coll/algorithms/bcast/between_nodes.cpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/ordinary.hpp"
#include "coll/blocks/run_schedule.hpp"
#include "coll/blocks/tree.hpp"
#include "coll/env/env.hpp"
#include "coll/env/net_env.hpp"
#include "coll/env/team.hpp"

// binomial: barrier along a binomial tree. Reports move up to rank 0, releases move down. 2 ⌈log2 p⌉ steps, 2 (p − 1)
// messages of no bytes.
// The software combining tree of Yew, Tzeng, Lawrie, IEEE Trans. on Computers C-36 (1987), with messages.

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task binomial(Env& env, BarrierArgs const&) {
    TreePosition const t = binomial_tree(env.frames(), env.rank(), env.size());
    for (int child : t.children) co_await receive_empty(env, child, 1);
    if (t.parent >= 0) {
        env.sent(t.parent, 1);
        co_await receive_empty(env, t.parent, 1);
    }
    for (auto child = t.children.rbegin(); child != t.children.rend(); ++child) env.sent(*child, 1);
}

extern constinit const Algorithm<BarrierArgs> binomial_algorithm = {
    "binomial",
    "ranks report up a binomial tree, and releases return down the tree",
    Family::baseline,
    "after the combining tree of Yew, Tzeng, Lawrie, IEEE Trans. on Computers C-36 (1987)",
    requires_nothing,
    {},
    TUTTI_SHM_ONLY(binomial),
    {"0"}};

// cheetah: barrier composed of primitives. n-ary fan-ins up the levels, recursive k-ing at the top, n-ary fan-outs
// down, in a general schedule: a rank handles the events for which it waits in the order in which they occur; only the
// messages that depend on an event wait for it. Over several nodes, messages between the nodes. 2 sum over lower levels
// of log_n(team) + log_k(top) (+ 2 with extra ranks) steps; no data.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section III.C.

namespace {

enum ParameterIndex : std::size_t { radix = 1, fan_in, fan_out };

}   // namespace

template <class Env>
Task cheetah(Env& env, BarrierArgs const& a) {
    auto const make = [&] {
        topo::Hierarchy const& tree = env.hierarchy();
        ScheduleLevels const levels{tree, env.rank(), std::is_same_v<Env, NetEnv>};
        RecursiveKIngPlan const plan(tree.team(levels.top(), env.rank()).members.size(),
                                     static_cast<int>(a.parameters[radix]), false);
        auto schedule = std::make_shared<Schedule>(Order::general, plan.buffers(), false);
        compose_allreduce(*schedule, levels, plan, Partners::rotated, {a.parameters, fan_in, fan_out});
        return schedule;
    };
    Plans::Shape const shape{"barrier/cheetah", -1, 0, &env.trees(), a.parameters.values()};
    co_await run_schedule(env, shape, {}, {}, make);
}

std::uint64_t cheetah_operations(BarrierArgs const&, NodePartition const&) { return 1; }

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"radix", 4, "ranks that signal each other in a step at the top", ParameterKind::number},
    {"fan_in", 4, "children of a rank in the fan-ins of each level", ParameterKind::numbers},
    {"fan_out", 4, "children of a rank in the fan-outs of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<BarrierArgs> cheetah_algorithm = {
    "cheetah",
    "fan-in up the levels, recursive k-ing at the top, fan-out down; steps run in any order",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, section III.C",
    requires_nothing,
    cheetah_parameters,
    TUTTI_SHM_AND_NODES(cheetah),
    {"0"}};

// dissemination: after step k every rank knows that 2^(k + 1) ranks have arrived. ⌈log2 p⌉ steps, p messages of no
// bytes in each.
// Hensgen, Finkel, Manber, Int. J. of Parallel Programming 17 (1988).

template <class Env>
Task dissemination(Env& env, BarrierArgs const&) {
    return disseminate(env);
}

extern constinit const Algorithm<BarrierArgs> dissemination_algorithm = {
    "dissemination",
    "in step k, every rank sends to the rank 2^k ahead and receives from the rank 2^k behind",
    Family::baseline,
    "Hensgen, Finkel, Manber, Int. J. of Parallel Programming 17 (1988)",
    requires_nothing,
    {},
    TUTTI_SHM_AND_NET(dissemination),
    {"0", "log2(p)*t(0)"}};

// exchange: every rank publishes its flag and waits for the flags of all others. One step, p flags written, p(p − 1)
// read.

template <class Env>
Task exchange(Env& env, BarrierArgs const&) {
    env.publish();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
    }
}

extern constinit const Algorithm<BarrierArgs> exchange_algorithm = {"exchange",
                                                                    "every rank polls the flags of all other ranks",
                                                                    Family::tutti,
                                                                    "Tutti",
                                                                    requires_nothing,
                                                                    {},
                                                                    TUTTI_SHM_ONLY(exchange),
                                                                    {"0"}};

// hierarchical: barrier over any number of levels. Members report to their leader, leaders to theirs; the release
// returns down the same levels, by one flag per team that all members read. 2 L steps, 2 (p − 1) flags read across
// ranks.
// XHC (Katevenis, Ploumidis, Marazakis), section IV, the acknowledgement only.

template <class Env>
Task hierarchical(Env& env, BarrierArgs const&) {
    topo::Hierarchy const& tree = env.hierarchy();
    int const mine = tree.levels_of(env.rank());
    int level = 0;
    for (; level < mine; ++level) {
        topo::Team const team = tree.team(level, env.rank());
        if (!team.is_leader) break;
        for (int member : team.members)
            if (member != env.rank()) co_await env.until_ack(member, level, 1);
    }
    if (level < tree.levels()) {   // every rank except the topmost leader: report, then wait for the team's release
        env.ack(level, 1);
        int const leader = tree.team(level, env.rank()).leader;
        co_await env.until(leader, 1);
    }
    env.publish(1);
}

constexpr Parameter hierarchical_parameters[] = {hierarchy_parameter};
extern constinit const Algorithm<BarrierArgs> hierarchical_algorithm = {
    "hierarchical",
    "gather and release over the levels of the hierarchy",
    Family::tutti,
    "after XHC, section IV",
    requires_nothing,
    hierarchical_parameters,
    TUTTI_SHM_ONLY(hierarchical),
    {"0"}};

// linear: a central barrier. All ranks report to rank 0, which then releases them by one flag that all read. Two steps;
// rank 0 reads p − 1 flags, each other rank one.
// The central barrier of Mellor-Crummey, Scott, ACM Trans. on Computer Systems 9 (1991), section 3.1, with one flag per
// rank instead of the counter.

template <class Env>
Task linear(Env& env, BarrierArgs const&) {
    if (env.rank() != 0) {
        env.ack(0, 1);
        co_await env.until(0);
        env.count_message(0);
        co_return;
    }
    for (int peer = 1; peer < env.size(); ++peer) {
        co_await env.until_ack(peer, 0, 1);
        env.count_message(peer);
    }
    env.publish();
}

extern constinit const Algorithm<BarrierArgs> linear_algorithm = {
    "linear",
    "all ranks report to rank 0, which releases them",
    Family::baseline,
    "after Mellor-Crummey, Scott, ACM Trans. on Computer Systems 9 (1991), section 3.1",
    requires_nothing,
    {},
    TUTTI_SHM_ONLY(linear),
    {"0"}};

// mpich_hierarchical: barrier with a master per node, of ordinary collectives (coll/blocks/ordinary.hpp): (1) a barrier
// by dissemination on each node, (2) one among the masters, (3) a broadcast of one byte on each node, which releases
// its ranks. With N nodes of c ranks: 2 ⌈log2 c⌉ + ⌈log2 N⌉ consecutive messages. A single node has finished after the
// first step.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.4.

template <class Env>
Task mpich_hierarchical(Env& env, BarrierArgs const&) {
    Partition const& nodes = env.nodes();
    Team<Env> node(env, ranks_of_node(env.frames(), nodes, nodes.part_of(env.rank())));
    PhaseClock clock(env);
    co_await disseminate(node);
    clock.end_before();
    if (nodes.count() == 1) co_return;
    env.begin_phase();
    if (node.rank() == 0) {
        Team<Env> masters(env, nodes.masters(env.frames()));
        co_await disseminate(masters);
        clock.end_between();
    }
    env.begin_phase();
    PooledBytes const release(env.frames(), 1);
    BcastArgs const args = bcast_bytes_args(release.get(), 1, 0);
    if (node.size() > 1) co_await binomial_bcast(node, args);
    clock.end_after();
}

constexpr Parameter mpich_hierarchical_parameters[] = {hierarchy_parameter};
extern constinit const Algorithm<BarrierArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "a barrier on each node, one among the masters, and a release on each node",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.4",
    requires_nothing,
    mpich_hierarchical_parameters,
    TUTTI_SHM_AND_NET(mpich_hierarchical),
    {"m < 2 ? 0 : 4*(p - m)",
     "phases(s = 1; barrier_dissemination(n) + (top < 1 ? N < 2 ? 0 : bcast_binomial(n) : 0))"}};

// xhc: the hierarchical acknowledgement of XHC's broadcast up the levels, its leaders' flags down the levels. 2 L
// steps; 2 (p − 1) words read from other ranks, p − 1 written on the way up and, on the way down, as many as the layout
// of the flags requires.
// XHC (Katevenis, Ploumidis, Marazakis): the synchronization of section IV.A without its data; the paper has no
// barrier.

template <class Env>
Task xhc(Env& env, BarrierArgs const& a) {
    LeaderFlag<Env> flag(env, env.hierarchy(), -1, static_cast<FlagLayout>(a.parameters[1]));
    for (int child : flag.children()) co_await env.until_consumed(child, 1);
    if (flag.parent() >= 0) {
        env.consumed(flag.parent(), 1);
        co_await flag.until(1);
    }
    flag.announce(1);
}

constexpr Parameter xhc_parameters[] = {hierarchy_parameter, flags_parameter};
extern constinit const Algorithm<BarrierArgs> xhc_algorithm = {
    "xhc",
    "acknowledgements move up the levels, and leaders' flags release the ranks below",
    Family::xhc,
    "after Katevenis, Ploumidis, Marazakis: XHC, section IV.A",
    requires_nothing,
    xhc_parameters,
    TUTTI_SHM_ONLY(xhc),
    {"0"}};

}   // namespace tutti::coll::algorithms::barrier
