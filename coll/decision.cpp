// SPDX-License-Identifier: BSD-3-Clause
#include "coll/decision.hpp"

#include "coll/comm_create.hpp"
#include "runtime/clock.hpp"

namespace tutti::coll {

Decision decide_for(Comm const& comm, Collective collective, Offer const& offer) {
    CommState& state = state_of(comm);
    ProcessState& node = state_of(state.process);
    Settings const& settings = state.settings ? *state.settings : node.settings;
    Decision decision = decide(collective, offer, settings,
                               [&](topo::LevelChoice const* levels) -> Trees const& { return trees_of(comm, levels); });
    if (node.ledger)
        decision.line =
            &node.ledger->line(comm.name, comm.united->size(), name_of(collective), text_of(*decision.setting));
    return decision;
}

void record(LedgerLine& line, Use& use, std::size_t bytes, std::int64_t start) {
    auto const time = static_cast<std::uint64_t>(now_ns() - start);
    line.note(bytes, time);
    use.bytes.add(bytes);
    use.time.add(time);
}

}  // namespace tutti::coll
