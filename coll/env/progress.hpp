// SPDX-License-Identifier: BSD-3-Clause
// The progress engine of the collectives: knows the requests in flight and moves on those whose flag has come, whenever
// the one wait asks. An idle request costs one load per look; requests that wait for a channel of their communicator
// stand in its queue and cost nothing but for the first.
#pragma once

#include "runtime/objects/request.hpp"

namespace tutti::coll {

class CollectiveRequest;

class Progress final : public Pollable {
public:
    explicit Progress(Waiter& waiter);
    ~Progress() override;

    /// Moves every request on that can move, each once.
    bool poll() override;
    bool at_rest() const override { return in_flight_ == 0; }
    bool awaits_words() const override { return in_flight_ != 0; }
    /// A collective under way goes on while its rank waits for something else, and others may wait for that.
    void tell(Blockage& blockage) const override;
    void add(CollectiveRequest& request);
    void remove(CollectiveRequest& request);
    int in_flight() const { return in_flight_; }

private:
    Waiter& waiter_;
    CollectiveRequest* first_ = nullptr;
    CollectiveRequest* last_ = nullptr;
    int in_flight_ = 0;
};

/// Requests of one communicator that have not begun, in the order in which they were issued.
struct Queue {
    CollectiveRequest* first = nullptr;
    CollectiveRequest* last = nullptr;
};

}   // namespace tutti::coll
