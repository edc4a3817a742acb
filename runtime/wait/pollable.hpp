// SPDX-License-Identifier: BSD-3-Clause
// What a rank polls while it waits. All methods must be called with the rank's lock held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "runtime/memory/segment.hpp"
#include "runtime/state/call_record.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

/// Something that advances communication when called: the transports, and suspended operations.
class Pollable {
public:
    virtual ~Pollable() = default;
    /// Advances everything that can proceed without waiting. Returns true if anything advanced.
    virtual bool poll() = 0;
    /// Returns true if no operation in progress needs polling, apart from those that a thread waits for.
    virtual bool is_quiescent() const { return true; }
    /// Returns true if an operation in progress advances by stores of other ranks of this node.
    virtual bool awaits_local_stores() const { return false; }
    /// Adds to the blocked call's `others` the ranks whose actions advance something here on behalf of third ranks. If
    /// these are not known, marks the call as awaiting an unknown event.
    virtual void describe(BlockedCall&) const {}
    /// Adds the bytes sent to and received from suspected ranks of other nodes.
    virtual void count_bytes(Segment const&, NetworkBytes&) const {}
};

/// Everything that one rank polls: its transports and its operations in progress.
class Pollables {
public:
    static constexpr std::size_t max_pollables = 4;

    /// At most `max_pollables` may be attached at a time; they must stay valid until they are detached.
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
    bool is_quiescent() const {
        return std::ranges::all_of(all(), [](Pollable const* p) { return p->is_quiescent(); });
    }
    bool await_local_stores() const {
        return std::ranges::any_of(all(), [](Pollable const* p) { return p->awaits_local_stores(); });
    }

private:
    Pollable* list_[max_pollables] = {};
    std::size_t count_ = 0;
};

}   // namespace tutti
