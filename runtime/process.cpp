// SPDX-License-Identifier: BSD-3-Clause
// A rank's beginning and end.
#include "runtime/process.hpp"

#include <unistd.h>

#include "runtime/progress_thread.hpp"

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

Copier copier_for(Variables const& variables, topo::NodeMap const& node) {
    CacheRoom room = cache_room(node);
    if (variables.cache != 0) room.together = variables.cache;
    return Copier(room, stores_named(variables.copy));
}

}  // namespace

Process::Process(Segment& s, unsigned rank, Variables v)
    : segment(s), variables(std::move(v)),
      waiter(segment, rank, policy_for(variables, segment.header()), variables.sleep_after, gate),
      node(read_node(segment)), copier(copier_for(variables, node)),
      ladder(segment, rank,
             {.arena = variables.arena,
              .xpmem = variables.xpmem ? xpmem_library : nullptr,
              .cma = variables.cma,
              .huge_pages = variables.huge_pages},
             copier),
      heap(segment, rank), rank_(static_cast<int>(rank)) {
    card().times.started.set(static_cast<std::uint64_t>(now_ns()));
    card().pid.store(getpid(), std::memory_order_relaxed);
    card().state.store(RankState::initialised, std::memory_order_release);
}

Process::~Process() = default;

}  // namespace tutti
