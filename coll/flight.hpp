// SPDX-License-Identifier: BSD-3-Clause
// One numbered operation that suspends where a blocking call would wait: its environment, its coroutine, and what that
// waits for. Nothing in here waits; a fragment of a large operation is a flight of its own.
#pragma once

#include "coll/state.hpp"

namespace tutti::coll {

class Flight {
public:
    /// Its channel is free. The lane, the trees and the communicator outlive it.
    Flight(Comm const& comm, Lane& lane, Trees const& trees, char const* operation, std::uint64_t number)
        : lane_(lane), number_(number),
          env_(lane.area, trees, lane.rank, number, comm, operation, state_of(comm).crossings.data(), &suspension_) {}

    ShmEnv& env() { return env_; }
    Suspension const& suspension() const { return suspension_; }

    /// The same operation once more, with another number.
    void renew(std::uint64_t number) {
        number_ = number;
        env_.renew(number);
    }

    /// Runs the task until it suspends or ends.
    void begin(Task task) {
        task_.emplace(std::move(task));
        task_->resume();
    }
    /// The same again, once what it waits for has come.
    void go_on() { suspension_.coroutine.resume(); }
    bool ended() const { return task_->done(); }
    /// Gives up its channel and what else it had for itself.
    void end() {
        env_.end();
        lane_.end(number_);
    }
    /// Rethrows what ended the task, if anything did.
    void check() const { task_->check(); }

private:
    Lane& lane_;
    std::uint64_t number_;
    Suspension suspension_;
    ShmEnv env_;
    std::optional<Task> task_;
};

}  // namespace tutti::coll
