// SPDX-License-Identifier: BSD-3-Clause
// What the collectives keep per communicator and per process.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "coll/area.hpp"
#include "coll/choose.hpp"
#include "coll/progress.hpp"
#include "coll/staging.hpp"
#include "coll/use.hpp"
#include "runtime/process.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::coll {

/// Per communicator: its memory, its trees, its count of operations, its choices, what it was used for.
struct CommState final : Extension {
    CommState(Process& p, Area a, topo::Hierarchy tree, std::vector<topo::Crossing> to_peers, int my_rank)
        : process(p), area(a), trees(std::move(tree)), crossings(std::move(to_peers)), rank(my_rank) {}
    ~CommState() override;

    /// Numbers so many operations and returns the first number. Members number theirs in the same order.
    std::uint64_t issue(std::uint64_t count = 1) {
        std::uint64_t const first = op + 1;
        op += count;
        return first;
    }
    /// Is the operation's channel free everywhere? See area.hpp.
    bool may_begin(std::uint64_t number) { return number <= safe || look_for_channel(number); }
    /// Numbers an operation and waits for its channel.
    std::uint64_t begin(char const* operation) {
        std::uint64_t const number = issue();
        if (number > safe) [[unlikely]] wait_for_channel(operation, number);
        return number;
    }
    /// Operations may end in any order; the others hear of one when all before it have ended, too.
    void end(std::uint64_t number) {
        if (number == finished + 1 && beyond == 0) [[likely]] finished = number;
        else end_early(number);
        area.done(rank).publish(finished);
        process.waiter.wake_sleepers();
        own_soon(&area.channel(rank, op + 1).cell);
    }

    Process& process;
    Area area;
    Trees trees;                              ///< of the levels that the process has chosen
    std::vector<std::pair<topo::LevelChoice, std::unique_ptr<Trees>>> other_trees;   ///< of algorithms' own levels
    std::vector<topo::Crossing> crossings;    ///< from this rank to each member
    int rank;
    std::uint64_t op = 0;                     ///< operations numbered
    std::uint64_t finished = 0;               ///< operations up to this number have ended here,
    std::uint64_t beyond = 0;                 ///< and bit i: so has operation finished + 1 + i
    std::uint64_t safe = channel_depth;       ///< operations up to this number may begin without asking
    std::uint64_t owned_offset = 0;           ///< of the area if it lies in this rank's heap, else 0
    std::unique_ptr<Settings> settings;       ///< its own, by info keys; null: the process's
    std::vector<std::unique_ptr<Settings>> former_settings;   ///< which operations under way may still follow
    Choices choices;
    std::array<Use, collectives> uses;
    Queue queue;                              ///< requests that wait for their first channel

private:
    bool look_for_channel(std::uint64_t number);
    void wait_for_channel(char const* operation, std::uint64_t number);
    void end_early(std::uint64_t number);
};

/// Per process: the placement of the node's ranks, the settings read, and staging memory.
struct ProcessState final : Extension {
    ProcessState(Process& process, std::size_t staging)
        : staging_bytes(staging), stagings(staging), progress(process.waiter) {}

    topo::Machine machine;
    topo::Placement placement;
    topo::LevelChoice levels;
    Settings settings;
    std::size_t staging_bytes;                ///< what algorithms reckon with: the same in every rank of the job
    StagingPool stagings;
    Ledger* ledger = nullptr;                 ///< null: calls are not recorded
    Progress progress;                        ///< of the operations in flight
};

inline CommState& state_of(Comm const& comm) { return static_cast<CommState&>(*comm.collectives); }
inline ProcessState& state_of(Process const& process) { return static_cast<ProcessState&>(*process.collectives); }

}  // namespace tutti::coll
