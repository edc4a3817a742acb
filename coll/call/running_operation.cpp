// SPDX-License-Identifier: BSD-3-Clause
// A suspended operation that fails, by itself or because of a member.
#include "coll/call/running_operation.hpp"

namespace tutti::coll {

void RunningOperation::give_up() {
    try {
        throw_failure_of(comm_, shm_->failed_member());
    } catch (...) { task_->end_by(std::current_exception()); }
}

bool RunningOperation::left_by_all() {
    FramePool& frames = shm_ ? shm_->frames() : net_->frames();
    if (!shm_ || concerns_this_rank_alone(error())) {
        frames.hold();
        frames.let_go();   // what the error has left in it
        return true;
    }
    if (!left_first_) {
        frames.hold();
        sequence_.fail(number_);
        left_first_ = true;
        in_it_ = 0;
    }
    for (; in_it_ < sequence_.area.members(); ++in_it_) {
        if (in_it_ == sequence_.rank) continue;
        suspension_ = {std::noop_coroutine(), &sequence_.area.done(in_it_).value, number_, in_it_, &comm_};
        if (!suspension_.over()) return false;
    }
    return true;
}

}   // namespace tutti::coll
