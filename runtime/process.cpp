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
    return header.crowded() ? WaitPolicy::shared : WaitPolicy::dedicated;
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
    CacheRoom room = cache_room(node);
    if (variables.cache != 0) room.together = variables.cache;
    return Copier(room, stores_named(variables.copy));
}

}   // namespace

Process::Process(Segment& s, unsigned place, Variables v, std::optional<Cluster> everybody)
    : segment(s), variables(std::move(v)), cluster(everybody ? std::move(*everybody) : read_cluster(segment)),
      home(segment, place), call_site(segment.rank_state(place).last_call.site),
      call_name(segment.rank_state(place).last_call.name),
      waiter(segment, place, policy_for(variables, segment.header()), variables.sleep_after, lock,
             variables.wait == "auto"),
      node(read_node(segment)), copier(copier_for(variables, node)),
      single_copy(segment, place,
                  {.arena = variables.arena,
                   .xpmem = variables.xpmem ? xpmem_library : nullptr,
                   .cma = variables.cma,
                   .huge_pages = variables.huge_pages},
                  copier),
      heap(segment, place), place_(place), rank_(cluster.rank_at(static_cast<int>(place))),
      rank_state_(segment.rank_state(place)) {
    call_name = "";
    waiter.tests().names_calls(call_name);
    if (home.moves()) waiter.watch(home);
    if (segment.ranks() > 1 && segment.header().usable_cores > 1 && variables.balance) {
        balance = std::make_unique<Balance>(segment, place);
        waiter.watch(*balance);
    }
    if (Trace* const trace = segment.trace(place)) {
        tracer = std::make_unique<Tracer>(*trace);
        waiter.observers().tracer = tracer.get();
    }
    rank_state().times.started.set(static_cast<std::uint64_t>(now_ns()));
    rank_state().pid.store(getpid(), std::memory_order_relaxed);
    rank_state().process.store(ProcessIdentity::of(getpid()).word(), std::memory_order_relaxed);
    rank_state().state.store(RankPhase::initialised, std::memory_order_release);
}

Process::~Process() = default;

bool Process::start_progress_thread() {
    int error = 0;
    progress_thread = ProgressThread::start(waiter, error);
    if (progress_thread) return true;
    if (segment.header().threads_refused.exchange(error, std::memory_order_relaxed) == 0)
        warn(join("rank ", rank_, " cannot start its progress thread (", std::strerror(error),
                  ") and makes progress in ",
                  "calls of MPI alone; ulimit -u and the pids limit of its control group bound the threads"));
    return false;
}

void Process::warn(std::string const& sentence) const {
    if (!variables.quiet) std::fprintf(stderr, "tutti: %s\n", sentence.c_str());
}

// Maps an affinity mask to processing units of the machine that the launcher described.

topo::Restriction restriction(Process const& process) {
    topo::Machine const& described = process.node.machine;
    topo::Placement const& placement = process.node.placement;
    if (described.pretended && process.place() < placement.pu.size()) {
        auto const place = static_cast<std::size_t>(placement.pu[process.place()]);
        return topo::restriction(described, {&described.pus[place], 1});
    }
    std::vector<int> const numbers = topo::affinity_pus();
    topo::Machine const machine = described.pus.empty() ? NodeMachine().reduced_to(numbers) : described;
    std::vector<topo::Pu> pus;
    for (topo::Pu const& pu : machine.pus)
        if (std::ranges::find(numbers, pu.os) != numbers.end()) pus.push_back(pu);
    if (pus.size() == numbers.size()) return topo::restriction(machine, pus);
    topo::Restriction none;
    none.fill(-1);
    none.front() = 0;   // the node
    return none;
}

}   // namespace tutti
