// SPDX-License-Identifier: BSD-3-Clause
// What the collectives keep per communicator and per process.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coll/choice/choose.hpp"
#include "coll/choice/use.hpp"
#include "coll/env/comm_memory.hpp"
#include "coll/env/progress.hpp"
#include "coll/match/call_records.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

/// Per communicator: its memory, its choices, what it was used for.
struct CommState final : CommMemory {
    using CommMemory::CommMemory;

    std::unique_ptr<Settings> settings;                       ///< its own, by info keys; null: the process's
    std::vector<std::unique_ptr<Settings>> former_settings;   ///< which operations under way may still follow
    bool of_program = true;   ///< its calls; else they are the library's own, as of a node's part
    Choices choices;
    CallRecords records;

    std::string call_in_words() const override { return records.last_in_words(); }
    Use& use_of(Collective collective) {
        auto& use = uses_[static_cast<std::size_t>(collective)];
        if (!use) use = std::make_unique<Use>();
        return *use;
    }

private:
    std::array<std::unique_ptr<Use>, collectives> uses_;   ///< of what it was used for, or asked about
};

/// Per process: the placement of the node's ranks, the settings read, and staging memory.
struct ProcessState final : ProcessMemory {
    ProcessState(Process& process, std::size_t staging) : ProcessMemory(staging), progress(process.waiter) {}

    topo::Machine machine;
    topo::Placement placement;
    topo::LevelChoice levels;
    Settings settings;
    CallStatistics* call_statistics = nullptr;   ///< null: calls are not recorded
    std::set<std::string> told;       ///< of which named algorithms the user knows that they cannot do a call
    Progress progress;                ///< of the operations in flight
    std::size_t sequence_bytes = 0;   ///< of this rank's heap that sequences of persistent requests hold
};

inline CommState& state_of(Comm const& comm) { return static_cast<CommState&>(*comm.collectives); }
inline ProcessState& state_of(Process const& process) { return static_cast<ProcessState&>(*process.collectives); }

}   // namespace tutti::coll
