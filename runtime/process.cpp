// SPDX-License-Identifier: BSD-3-Clause
// Construction of a rank's process state, its messages, and the hardware that it is restricted to.
#include "runtime/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/job/node_machine.hpp"
#include "runtime/wait/core_balancer.hpp"
#include "runtime/wait/progress_thread.hpp"
#include "topo/this_machine.hpp"

namespace tutti {
namespace {

WaitPolicy policy_for(Variables const& variables, SegmentHeader const& header) {
    if (variables.wait == "dedicated") return WaitPolicy::dedicated;
    if (variables.wait == "shared") return WaitPolicy::shared;
    return header.oversubscribed() ? WaitPolicy::shared : WaitPolicy::dedicated;
}

topo::NodeMap read_node(Segment const& segment) {
    auto map = topo::NodeMap::from_text(segment.machine());
    return map ? *map : topo::NodeMap{};
}

Cluster read_cluster(Segment const& segment) {
    if (segment.cluster().empty()) return Cluster::one_node(static_cast<int>(segment.ranks()));
    auto cluster = Cluster::from_text(segment.cluster());
    if (!cluster) fail(ErrorClass::intern, cluster.error());
    return *cluster;
}

Copier copier_for(Variables const& variables, topo::NodeMap const& node) {
    CacheCapacity capacity = cache_capacity(node);
    if (variables.cache != 0) capacity.total = variables.cache;
    return Copier(capacity, parse_copy_stores(variables.copy));
}

}   // namespace

Process::Process(Segment& s, unsigned local_rank, Variables v, std::optional<Cluster> given_cluster)
    : segment(s), variables(std::move(v)), cluster(given_cluster ? std::move(*given_cluster) : read_cluster(segment)),
      numa_home(segment, local_rank), call_site(segment.rank_state(local_rank).last_call.site),
      call_function(segment.rank_state(local_rank).last_call.function),
      waiter(segment, local_rank, policy_for(variables, segment.header()), variables.sleep_after, lock,
             variables.wait == "auto"),
      node(read_node(segment)), copier(copier_for(variables, node)),
      single_copy(segment, local_rank,
                  {.arena = variables.arena,
                   .xpmem = variables.xpmem ? xpmem_library : nullptr,
                   .cma = variables.cma,
                   .huge_pages = variables.huge_pages,
                   .registration_cache = variables.registration_cache},
                  copier),
      heap(segment, local_rank), local_rank_(local_rank), rank_(cluster.world_rank_at(static_cast<int>(local_rank))),
      rank_state_(segment.rank_state(local_rank)) {
    call_function = {};
    if (numa_home.may_move()) waiter.set_numa_home(numa_home);
    if (segment.ranks() > 1 && segment.header().usable_cores > 1 && variables.balance) {
        core_balancer = std::make_unique<CoreBalancer>(segment, local_rank);
        waiter.set_core_balancer(*core_balancer);
    }
    if (Trace* const trace = segment.trace(local_rank)) {
        tracer = std::make_unique<Tracer>(*trace);
        waiter.observers().tracer = tracer.get();
    }
    rank_state().times.started.set(static_cast<std::uint64_t>(now_ns()));
    rank_state().pid.store(getpid(), std::memory_order_relaxed);
    rank_state().process.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    rank_state().state.store(RankPhase::initialised, std::memory_order_release);
    waiter.wake_sleepers();
}

Process::~Process() = default;

bool Process::start_progress_thread() {
    int error = 0;
    progress_thread = ProgressThread::start(waiter, error);
    if (progress_thread) return true;
    if (segment.header().threads_refused.exchange(error, std::memory_order_relaxed) == 0)
        warn(join("rank ", rank_, " cannot start its progress thread (", std::strerror(error),
                  "); it makes progress only in MPI calls. ",
                  "Raise ulimit -u or the pids limit of the control group"));
    return false;
}

void Process::warn(std::string const& message) const {
    if (!variables.quiet) std::fprintf(stderr, "tutti: %s\n", message.c_str());
}

// Maps an affinity mask to processing units of the machine that the launcher described.

topo::Restriction hw_restriction(Process const& process) {
    topo::Machine const& described = process.node.machine;
    topo::Placement const& placement = process.node.placement;
    if (described.simulated && process.local_rank() < placement.pu.size()) {
        auto const pu = static_cast<std::size_t>(placement.pu[process.local_rank()]);
        return topo::restriction(described, {&described.pus[pu], 1});
    }
    std::vector<int> const affinity = topo::affinity_pus();
    topo::Machine const machine = described.pus.empty() ? NodeMachine().reduced_to(affinity) : described;
    std::vector<topo::Pu> pus;
    for (topo::Pu const& pu : machine.pus)
        if (std::ranges::find(affinity, pu.os) != affinity.end()) pus.push_back(pu);
    if (pus.size() == affinity.size()) return topo::restriction(machine, pus);
    topo::Restriction none;
    none.fill(-1);
    none.front() = 0;   // the node
    return none;
}

}   // namespace tutti
