// SPDX-License-Identifier: BSD-3-Clause
// The state of the collectives per communicator (CommState) and per process (ProcessState), and the counters of each
// collective on a communicator (CollectiveCounters), which users can query by the variables listed here.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coll/choice/choose.hpp"
#include "coll/env/group_layout.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/match/call_records.hpp"
#include "runtime/state/counters.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::coll {

struct AlgorithmRow;

/// The counters of one collective on one communicator.
struct CollectiveCounters {
    AlgorithmRow const* algorithm = nullptr;   ///< of the last call; null: there was none
    Counter calls;
    Counter bytes, time;   ///< as in a CallStatisticsRow; counted only if call statistics are enabled

    void begin(AlgorithmRow const* by) {
        algorithm = by;
        calls.add(1);
    }
};

/// One counter as a variable that users can query.
struct CollectiveCounterRow {
    char const* name;
    CounterKind kind;
    Counter CollectiveCounters::*counter;
    char const* description;   ///< continued with the collective's name and a full stop
};

/// Rows of counters. The full name of a variable is tutti_, the collective's name, and `name`.
inline constexpr CollectiveCounterRow collective_counter_rows[] = {
    {"calls", CounterKind::count, &CollectiveCounters::calls, "Calls on this communicator of "},
    {"bytes", CounterKind::bytes, &CollectiveCounters::bytes,
     "With TUTTI_STATS=yes: bytes sent or received on this communicator (in reductions: the whole vector) in calls "
     "of "},
    {"time", CounterKind::time, &CollectiveCounters::time, "With TUTTI_STATS=yes: time spent on this communicator in "},
};
inline constexpr char algorithm_variable[] = "algorithm";
inline constexpr char algorithm_description[] = "The algorithm of the last call on this communicator of ";
/// This variable is per rank, not per communicator.
inline constexpr char in_flight_variable[] = "tutti_coll_in_flight";
inline constexpr char in_flight_description[] =
    "Number of nonblocking and persistent collectives of this rank in flight that the progress engine advances.";

/// Per communicator: its shared memory, its cached decisions, its counters and call records.
struct CommState final : CommMemory {
    using CommMemory::CommMemory;

    std::unique_ptr<Settings> settings;                       ///< from info keys; null: the process's settings
    std::vector<std::unique_ptr<Settings>> former_settings;   ///< kept because operations in flight may refer to them
    bool has_user_calls = true;                               ///< its calls are the program's; false: the library's
    DecisionCache decisions;
    CallRecords records;

    std::string describe_call() const override { return records.describe_last_call(); }
    std::string algorithm_of(std::string_view name) const override {
        Collective collective;
        if (!find_collective(name, collective)) return {};
        auto const& counters = counters_[static_cast<std::size_t>(collective)];
        return counters && counters->algorithm ? counters->algorithm->name : "";
    }
    CollectiveCounters& counters_of(Collective collective) {
        auto& counters = counters_[static_cast<std::size_t>(collective)];
        if (!counters) counters = std::make_unique<CollectiveCounters>();
        return *counters;
    }

private:
    std::array<std::unique_ptr<CollectiveCounters>, collectives> counters_;   ///< created at first use or query
};

/// Per process: the placement of the node's ranks, the settings, and staging memory.
struct ProcessState final : ProcessMemory {
    ProcessState(Process& process, std::size_t staging) : ProcessMemory(staging), progress(process.waiter) {}

    topo::Machine machine;
    topo::Placement placement;
    topo::LevelChoice levels;
    Settings settings;
    CallStatistics* call_statistics = nullptr;   ///< null: calls are not recorded
    std::set<std::string> warned;     ///< warnings already given about requested algorithms that cannot do a call
    Progress progress;                ///< of the operations in flight
    std::size_t sequence_bytes = 0;   ///< bytes of this rank's heap that the sequences of persistent requests occupy
};

inline CommState& state_of(Comm const& comm) { return static_cast<CommState&>(*comm.collectives); }
inline ProcessState& state_of(Process const& process) { return static_cast<ProcessState&>(*process.collectives); }

}   // namespace tutti::coll
