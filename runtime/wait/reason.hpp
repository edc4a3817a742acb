// SPDX-License-Identifier: BSD-3-Clause
// Why a rank waits. A reason is constructed for every wait and costs nothing until the wait becomes long; only then
// are its description and the events that would end it computed.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "runtime/state/call_record.hpp"

namespace tutti {

/// Description of a long wait (Blocked has the same in shared memory).
struct BlockedCall {
    /// An error that the rank itself has detected, as in BlockedThread.
    struct Hint {
        char const* code = "";   ///< static storage
        std::string headline, help;
        int waiting_rank = -1;   ///< world rank that would wait because of it; −1: it holds for any waiting rank

        bool operator==(Hint const&) const = default;
    };

    std::string call;   ///< the MPI call with its arguments as the program names them
    CallKind kind = CallKind::other;
    Hint hint;
    Awaiting awaiting = Awaiting::unknown;
    std::vector<RankRange> awaited;
    std::vector<RankRange> others;   ///< ranks whose actions advance something here that other ranks may wait for

    /// Declares that the wait cannot end without an action of this world rank.
    void await(int world_rank) {
        awaiting = Awaiting::all;
        awaited.push_back({world_rank, world_rank, 1});
    }
    /// Declares that an action of one of these world ranks, or of those named before, ends the wait.
    void await_any(std::vector<int> const& world_ranks);
    /// Declares that the wait may be ended by a party that cannot be named.
    void await_unknown() {
        awaiting = Awaiting::unknown;
        awaited.clear();
        others.clear();
    }

    bool operator==(BlockedCall const&) const = default;
};

/// How a wait treats its core. `dedicated`: it polls for long. `shared`: it yields the core soon.
enum class WaitPolicy { dedicated, shared };

struct Reason {
    char const* operation = "";   ///< name of the MPI call, static storage
    int peer = -1;                ///< world rank without whose action the wait cannot end; −1: see `describe`
    int tag = -1;                 ///< −1: none
    /// Completes the description with the current state; `blocked` already contains what peer and tag imply.
    /// Anything that may change during the wait must be described here instead of above. Null: nothing to add.
    void (*describe)(void const* context, BlockedCall& blocked) = nullptr;
    void const* context = nullptr;           ///< argument of `describe`; must stay valid during the wait
    std::optional<WaitPolicy> policy = {};   ///< none: the rank's policy

    BlockedCall blocked_call() const;
};


// Merges ranks at equal distances into one range: the members of a communicator mostly form a single one.
inline void BlockedCall::await_any(std::vector<int> const& world_ranks) {
    awaiting = Awaiting::any;
    std::vector<int> sorted(world_ranks);
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size();) {
        RankRange range{sorted[i], sorted[i], 1};
        std::size_t next = i + 1;
        if (next < sorted.size()) range.stride = std::max(1, sorted[next] - sorted[i]);
        for (; next < sorted.size() && sorted[next] <= range.last + range.stride; ++next) {
            if (sorted[next] != range.last + range.stride && sorted[next] != range.last) break;
            range.last = sorted[next];
        }
        awaited.push_back(range);
        i = next;
    }
}

inline BlockedCall Reason::blocked_call() const {
    BlockedCall b;
    b.call = operation;
    if (peer >= 0) b.await(peer);
    if (describe) {
        describe(context, b);
        return b;
    }
    std::string arguments;
    if (peer >= 0) arguments = "rank " + std::to_string(peer);
    if (tag >= 0) arguments += (arguments.empty() ? "tag " : ", tag ") + std::to_string(tag);
    if (!arguments.empty()) b.call += "(" + arguments + ")";
    return b;
}

}   // namespace tutti
