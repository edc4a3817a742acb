// SPDX-License-Identifier: BSD-3-Clause
// One numbered operation that suspends where a blocking call would wait: its environment, its coroutine, and what that
// waits for. Nothing in here waits; a fragment of a large operation is a running operation of its own. One that is
// restarted keeps its environment, and makes its coroutine anew in the memory of the last one.
#pragma once

#include <optional>

#include "coll/env/net_env.hpp"
#include "coll/choice/state.hpp"

namespace tutti::coll {

class RunningOperation {
public:
    /// Its channel is free. The sequence, the trees, the communicator and `frames` (as in ShmMemory) outlive it.
    RunningOperation(Comm const& comm, OperationSequence& sequence, Trees const& trees, char const* operation, Numbers numbers,
           FramePool* frames = nullptr)
        : sequence_(sequence), number_(numbers.operation) {
        if (state_of(comm).multi_node) net_.emplace(comm, trees, operation, numbers, &suspension_, frames);
        else
            shm_.emplace(sequence.area, trees, sequence.rank, number_, comm, operation, state_of(comm).localities.data(),
                         &suspension_, frames);
    }

    Suspension const& suspension() const { return suspension_; }

    /// The same operation once more, with other numbers.
    void restart(Numbers numbers) {
        number_ = numbers.operation;
        net_ ? net_->restart(numbers) : shm_->restart(number_);
    }

    /// Begins what make(environment) gives: runs it until it suspends or ends.
    template <class Make>
    void begin(Make make) {
        task_.emplace(net_ ? make(*net_) : make(*shm_));
        task_->resume();
    }
    /// The same again, once what it waits for has come.
    void go_on() { suspension_.coroutine.resume(); }
    bool ended() const { return task_->done(); }
    /// Gives up its channel and what else it had for itself.
    void end() {
        if (!shm_) return;   // a task between nodes does so itself
        shm_->end();
        sequence_.end(number_);
    }
    /// Rethrows what ended the task, if anything did.
    void check() const { task_->check(); }

private:
    OperationSequence& sequence_;
    std::uint64_t number_;
    Suspension suspension_;
    std::optional<ShmEnv> shm_;   ///< on one node,
    std::optional<NetEnv> net_;   ///< or on several
    std::optional<Task> task_;
};

}  // namespace tutti::coll
