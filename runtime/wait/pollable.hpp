// SPDX-License-Identifier: BSD-3-Clause
// What a rank polls while it waits. All of it is called inside the rank's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "runtime/counters/blocked.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

/// Something that moves communication on when it is called: the transports, and suspended operations.
class Pollable {
public:
    virtual ~Pollable() = default;
    /// Moves on everything that needs no wait. Returns true if anything moved.
    virtual bool poll() = 0;
    /// Returns true if nothing is under way that must be polled until it ends, other than what a thread waits for.
    virtual bool at_rest() const { return true; }
    /// Returns true if something is under way that stores of other ranks of this node move on.
    virtual bool awaits_words() const { return false; }
    /// Adds to the blockage's `others` the ranks whose acts move something on here for third ranks. Where these are not
    /// known, the blockage awaits the unknown.
    virtual void tell(Blockage&) const {}
    /// Adds what has gone to and come from suspected ranks of other nodes.
    virtual void count_bytes(Segment const&, NetworkBytes&) const {}
};

/// All that one rank polls: its transports, and its operations under way.
class Pollables {
public:
    static constexpr std::size_t most = 4;

    void attach(Pollable* pollable) { list_[count_++] = pollable; }
    void detach(Pollable* pollable) {
        count_ = static_cast<std::size_t>(std::remove(list_, list_ + count_, pollable) - list_);
    }
    std::span<Pollable* const> all() const { return {list_, count_}; }

    bool poll() {
        bool moved = false;
        for (std::size_t i = 0; i < count_; ++i) moved |= list_[i]->poll();
        return moved;
    }
    bool at_rest() const {
        return std::ranges::all_of(all(), [](Pollable const* p) { return p->at_rest(); });
    }
    bool await_words() const {
        return std::ranges::any_of(all(), [](Pollable const* p) { return p->awaits_words(); });
    }

private:
    Pollable* list_[most] = {};
    std::size_t count_ = 0;
};

}   // namespace tutti
