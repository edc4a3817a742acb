// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives in progress, and the progress engine that advances them.
#include "coll/call/request.hpp"

#include <algorithm>
#include <new>

#include "coll/call/collectives.hpp"
#include "coll/call/drive.hpp"
#include "p2p/engine.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll {

Progress::Progress(Waiter& waiter) : waiter_(waiter) { waiter_.attach(this); }
Progress::~Progress() { waiter_.detach(this); }

bool Progress::poll() {
    bool moved = false;
    for (CollectiveRequest *r = first_, *next; r; r = next) {
        next = r->next_;
        moved |= r->move();   // which may remove r
    }
    return moved;
}

void Progress::tell(Blockage& blockage) const {
    for (CollectiveRequest const* r = first_; r; r = r->next_)
        if (!r->tell_peers(blockage.others)) return blockage.await_unknown();
}

void Progress::add(CollectiveRequest& r) {
    r.previous_ = last_;
    r.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &r;
    last_ = &r;
    ++in_flight_;
    waiter_.started();
}

void Progress::remove(CollectiveRequest& r) {
    (r.previous_ ? r.previous_->next_ : first_) = r.next_;
    (r.next_ ? r.next_->previous_ : last_) = r.previous_;
    --in_flight_;
}

CollectiveRequest::CollectiveRequest(Comm& on, unsigned fragments, unsigned window)
    : fragments_(fragments), window_(std::clamp(window, 1u, std::min(fragments, most_in_flight))),
      sequence_(&state_of(on)) {
    comm = Ref<Comm>::share(&on);
    error_call = state_of(on).records.number();
}

void CollectiveRequest::make_persistent() {
    persistent = true;
    active = false;
    complete = true;
    own_frames_ = std::make_unique<FramePool>(FramePool::Keeps::all);
    state_of(*comm).records.count_persistent(1);
    if (comm->union_group->size() > 1) use_own_sequence();
}

CollectiveRequest::~CollectiveRequest() {
    if (persistent) state_of(*comm).records.count_persistent(-1);
    if (p2p::Checks* const checks = this->checks()) checks->ends(*buffers_);
    if (own_sequence_ && own_sequence_->owned_offset != 0)
        state_of(own_sequence_->process).sequence_bytes -= Area::bytes(own_sequence_->area.members());
}

/// Returns null if the buffers are not watched, or if the checks no longer exist.
p2p::Checks* CollectiveRequest::checks() const {
    return buffers_ && comm->process.p2p ? p2p::engine(comm->process).checks() : nullptr;
}

void CollectiveRequest::settle() {
    if (p2p::Checks* const checks = this->checks()) checks->settle(*buffers_);
}

void CollectiveRequest::start() {
    if (p2p::Checks* const checks = this->checks()) checks->begins(*buffers_);
    active = true;
    complete = false;
    if (persistent) state_of(*comm).records.count_start();
    if (status.error != ErrorClass::success) status = {};   // left by the last start
    begun_ = ended_ = 0;
    first_ = sequence_->take_numbers(fragments_);
    if (!sequence_->area) numbered();
    if (sequence_->queue.first || !sequence_->may_begin(first_)) return wait_in_line();
    do begin_next();
    while (may_begin_next());
    if (ended_ == fragments_) return over();   // the progress engine does not know of it
    ++references;                              // held by the progress engine until the end
    in_progress_ = true;
    state_of(sequence_->process).progress.add(*this);
}

bool CollectiveRequest::may_begin_next() {
    return begun_ < fragments_ && begun_ - ended_ < window_ && sequence_->may_begin(first_ + begun_);
}

void CollectiveRequest::begin_next() {
    unsigned at = 0;
    while (running_[at]) ++at;
    unsigned const fragment = begun_++;
    try {
        running_[at] = &begin(at, fragment);
    } catch (...) {
        note(std::current_exception());
        if (sequence_->area) sequence_->fail(first_ + fragment);
        ++ended_;
        return;
    }
    if (running_[at]->ended()) end_fragment(at);
}

// Checks the events for which the operations wait first, because most polls find nothing.
bool CollectiveRequest::move() {
    if (complete) return false;
    if (in_line_) {
        if (sequence_->queue.first != this || !sequence_->may_begin(first_)) return false;
        leave_line();
    }
    bool moved = false;
    for (unsigned at = 0; at < window_; ++at) {
        RunningOperation* const operation = running_[at];
        if (!operation) continue;
        if (operation->suspension().over()) operation->go_on();
        else if (operation->waits_in_vain()) [[unlikely]] operation->give_up();
        else continue;
        moved = true;
        if (operation->ended()) end_fragment(at);
    }
    while (may_begin_next()) moved = true, begin_next();
    if (moved) comm->process.waiter.count_move();
    if (ended_ == fragments_) end();
    return moved;
}

void CollectiveRequest::end_fragment(unsigned at) {
    RunningOperation& operation = *running_[at];
    if (operation.error()) [[unlikely]] {
        if (!operation.left_by_all()) return;
        note(operation.error());
    }
    operation.end();
    leave(at);
    running_[at] = nullptr;
    ++ended_;
}

void CollectiveRequest::note(std::exception_ptr const& error) {
    if (!sequence_->area) fail_between_nodes(*comm, "a collective operation", error);
    status.error = ErrorClass::no_mem;
    try {
        try {
            std::rethrow_exception(error);
        } catch (std::exception const& thrown) {
            Error const e = error_of(thrown);
            status.error = e.error_class;
            error_peer = e.peer;
            error_text = e.what();
        }
    } catch (std::bad_alloc const&) {
        error_text = "no memory";   // short enough to need no allocation
    }
}

void CollectiveRequest::wait_in_line() {
    Queue& queue = sequence_->queue;
    ++references;   // held until the end, as in start()
    in_line_ = true;
    behind_ = nullptr;
    (queue.last ? queue.last->behind_ : queue.first) = this;
    queue.last = this;
    if (queue.first != this) return;
    in_progress_ = true;
    state_of(sequence_->process).progress.add(*this);
}

// The progress engine polls the next request in the queue from now on.
void CollectiveRequest::leave_line() {
    Queue& queue = sequence_->queue;
    in_line_ = false;
    queue.first = behind_;
    if (!behind_) queue.last = nullptr;
    if (!behind_) return;
    behind_->in_progress_ = true;
    state_of(sequence_->process).progress.add(*behind_);
}

void CollectiveRequest::end() {
    if (in_progress_) state_of(sequence_->process).progress.remove(*this);
    in_progress_ = false;
    over();
    Ref<Request>::release(this);
}

void CollectiveRequest::over() {
    complete = true;
    if (is_of_program_) forget_order(*comm);
    finished();
    if (p2p::Checks* const checks = this->checks()) checks->arrives(*buffers_);
}

bool CollectiveRequest::tell_peers(std::vector<RankRange>& peers) const {
    for (RunningOperation const* operation : running_) {
        if (!operation) continue;
        int const peer = operation->suspension().world_peer();
        if (peer == anybody) return false;
        peers.push_back({peer, peer, 1});
    }
    return !in_line_;
}

// A request that waits in the queue does not wait for any particular rank.
void CollectiveRequest::tell(Blockage& blockage) const {
    blockage.call = join("collective operation on ", comm->words());
    for (RunningOperation const* operation : running_) {
        if (!operation || operation->suspension().peer == anybody) continue;
        blockage.call = join(operation->name(), " on ", comm->words());
        return blockage.await(operation->suspension().world_peer());
    }
}

}   // namespace tutti::coll
