// SPDX-License-Identifier: BSD-3-Clause
// Why a rank waits. A reason is made for every wait and costs nothing until the wait is long; only then is it asked
// what would end it, and how to tell it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/counters/blocked.hpp"

namespace tutti {

/// What is told of a long wait (Blocked has the same in shared memory).
struct Blockage {
    /// What the rank has noticed itself, as Blocked has it.
    struct Hint {
        char const* code = "";   ///< static storage
        std::string headline, help;
        int about = -1;   ///< a rank of the world that would wait because of it; −1: it does not matter who waits

        bool operator==(Hint const&) const = default;
    };

    std::string call;   ///< the MPI call with its arguments in the program's words
    Hint hint;
    Awaiting awaiting = Awaiting::unknown;
    std::vector<RankRange> awaited;
    std::vector<RankRange> others;   ///< an act of one of them moves something on here that other ranks may wait for

    /// Without an act of this rank of the world the wait does not end.
    void await(int world_rank) {
        awaiting = Awaiting::all;
        awaited.push_back({world_rank, world_rank, 1});
    }
    /// An act of one of these, or of those named before, ends it.
    void await_any(std::vector<int> const& world_ranks);
    /// Others may end it, whom nobody can name.
    void await_unknown() {
        awaiting = Awaiting::unknown;
        awaited.clear();
        others.clear();
    }

    bool operator==(Blockage const&) const = default;
};

/// How a wait treats its core. `dedicated`: it polls for long. `shared`: it gives the core away soon.
enum class WaitPolicy { dedicated, shared };

struct Reason {
    char const* operation = "";   ///< the MPI call, static storage
    int peer = -1;                ///< rank of the world without an act of which the wait does not end; −1: see `tell`
    int tag = -1;
    /// Says what there is to say, as it is then; `blockage` has what peer and tag tell. Whatever may change while it is
    /// waited must be told here and not above. Null: there is no more.
    void (*tell)(void const* about, Blockage& blockage) = nullptr;
    void const* about = nullptr;             ///< stays while it is waited
    std::optional<WaitPolicy> policy = {};   ///< none: the rank's

    Blockage blockage() const;
};

}   // namespace tutti
