// SPDX-License-Identifier: BSD-3-Clause
// One numbered operation that suspends where a blocking call would wait: its environment, its coroutine, and what that
// waits for. Nothing in here waits; a fragment of a large operation is a running operation of its own. One that is
// restarted keeps its environment, and makes its coroutine anew in the memory of the last one.
#pragma once

#include <optional>

#include "coll/choice/state.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll {

class RunningOperation {
public:
    /// Its channel is free. The sequence, the trees, the communicator and `frames` (as in ShmMemory) outlive it.
    RunningOperation(Comm const& comm, OperationSequence& sequence, Trees const& trees, char const* operation,
                     Numbers numbers, FramePool* frames = nullptr)
        : comm_(comm), sequence_(sequence), name_(operation), number_(numbers.operation) {
        if (state_of(comm).multi_node) net_.emplace(comm, trees, operation, numbers, &suspension_, frames);
        else
            shm_.emplace(sequence.area, trees, sequence.rank, number_, comm, operation,
                         state_of(comm).localities.data(), &suspension_, frames);
    }

    Suspension const& suspension() const { return suspension_; }
    char const* name() const { return name_; }

    /// The same operation once more, with other numbers.
    void restart(Numbers numbers) {
        number_ = numbers.operation;
        net_ ? net_->restart(numbers) : shm_->restart(number_);
    }

    /// Begins what make(environment) gives: runs it until it suspends or ends.
    template <class Make>
    void begin(Make make) {
        if (shm_) task_.emplace(make(*shm_));
        else task_.emplace(make(*net_)), ++sequence_.under_way;
        task_->resume();
    }
    /// The same again, once what it waits for has come.
    void go_on() { suspension_.coroutine.resume(); }
    /// Will what it waits for never come, because a member has failed?
    bool waits_in_vain() const { return shm_ && !left_first_ && sequence_.area.failed(number_); }
    /// Then it ends here, too.
    void give_up();

    bool ended() const { return task_->done() || task_->error(); }
    /// What ended it; null: nothing did, all is well.
    std::exception_ptr const& error() const { return task_->error(); }
    /// Of one that an error has ended: does no member need memory of this rank any more? Until then it is asked again
    /// whenever what it waits for has come.
    bool left_by_all();
    /// Gives up its channel and what else it had for itself.
    void end() {
        if (!shm_) return void(--sequence_.under_way);
        shm_->end();
        if (left_first_) [[unlikely]]
            left_first_ = false, shm_->frames().let_go();
        else sequence_.end(number_);
    }

private:
    Comm const& comm_;
    OperationSequence& sequence_;
    char const* name_;
    std::uint64_t number_;
    Suspension suspension_;
    std::optional<ShmEnv> shm_;   ///< on one node,
    std::optional<NetEnv> net_;   ///< or on several
    std::optional<Task> task_;
    bool left_first_ = false;   ///< it has failed and given its channel up, and members may still be in it
    int in_it_ = 0;             ///< the lowest of them that is not known to have left
};

}   // namespace tutti::coll
