// SPDX-License-Identifier: BSD-3-Clause
#include "coll/choice/decision.hpp"

#include "coll/comm/create.hpp"
#include "runtime/base/clock.hpp"

namespace tutti::coll {

Decision decide_for(Comm const& comm, Collective collective, CallTraits const& traits) {
    CommState& state = state_of(comm);
    ProcessState& node = state_of(state.process);
    Settings const& settings = state.settings ? *state.settings : node.settings;
    Decision decision = decide(collective, traits, settings,
                               [&](topo::LevelChoice const* levels) -> Trees const& { return trees_of(comm, levels); });
    if (node.call_statistics)
        decision.line =
            &node.call_statistics->line(comm.name, comm.union_group->size(), name_of(collective), text_of(*decision.setting));
    return decision;
}

void record(CallStatisticsRow& line, Use& use, std::size_t bytes, std::int64_t start) {
    auto const time = static_cast<std::uint64_t>(now_ns() - start);
    line.note(bytes, time);
    use.bytes.add(bytes);
    use.time.add(time);
}

}  // namespace tutti::coll
