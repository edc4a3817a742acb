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
    bool progressed = false;
    for (CollectiveRequest *r = first_, *next; r; r = next) {
        next = r->next_;
        progressed |= r->make_progress();   // which may remove r
    }
    return progressed;
}

void Progress::describe(BlockedCall& blocked) const {
    for (CollectiveRequest const* r = first_; r; r = r->next_)
        if (!r->add_peers(blocked.others)) return blocked.await_unknown();
}

void Progress::add(CollectiveRequest& r) {
    r.previous_ = last_;
    r.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &r;
    last_ = &r;
    ++in_flight_;
    waiter_.announce_operation();
}

void Progress::remove(CollectiveRequest& r) {
    (r.previous_ ? r.previous_->next_ : first_) = r.next_;
    (r.next_ ? r.next_->previous_ : last_) = r.previous_;
    --in_flight_;
}

CollectiveRequest::CollectiveRequest(Comm& on, unsigned fragments, unsigned window)
    : fragments_(fragments), window_(std::clamp(window, 1u, std::min(fragments, max_in_flight))),
      sequence_(&state_of(on)) {
    comm = Ref<Comm>::share(&on);
    error_call = state_of(on).records.number();
}

void CollectiveRequest::make_persistent() {
    persistent = true;
    active = false;
    complete = true;
    own_frames_ = std::make_unique<FramePool>(FramePool::Retention::all);
    state_of(*comm).records.count_persistent(1);
    if (comm->union_group->size() > 1) use_own_sequence();
}

CollectiveRequest::~CollectiveRequest() {
    if (persistent) state_of(*comm).records.count_persistent(-1);
    if (p2p::Checks* const checks = this->checks()) checks->release(*buffers_);
    if (own_sequence_ && own_sequence_->owned_offset != 0)
        state_of(own_sequence_->process).sequence_bytes -= Area::bytes(own_sequence_->area.members());
}

/// Returns null if the buffers are not watched, or if the checks no longer exist.
p2p::Checks* CollectiveRequest::checks() const {
    return buffers_ && comm->process.p2p ? p2p::engine(comm->process).checks() : nullptr;
}

void CollectiveRequest::finalize() {
    if (p2p::Checks* const checks = this->checks()) checks->before_completion(*buffers_);
}

void CollectiveRequest::start() {
    if (p2p::Checks* const checks = this->checks()) checks->on_begin(*buffers_);
    active = true;
    complete = false;
    if (persistent) state_of(*comm).records.count_start();
    if (status.error != ErrorClass::success) status = {};   // left by the last start
    begun_ = ended_ = 0;
    first_ = sequence_->allocate_numbers(fragments_);
    if (!sequence_->area) on_numbered();
    if (sequence_->queue.first || !sequence_->may_begin(first_)) return enqueue();
    do begin_next();
    while (may_begin_next());
    if (ended_ == fragments_) return complete_operation();   // the progress engine does not know of it
    ++references;                                            // held by the progress engine until the end
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
        set_error(std::current_exception());
        if (sequence_->area) sequence_->fail(first_ + fragment);
        ++ended_;
        return;
    }
    if (running_[at]->ended()) end_fragment(at);
}

// Checks the events for which the operations wait first, because most polls find nothing.
bool CollectiveRequest::make_progress() {
    if (complete) return false;
    if (is_queued_) {
        if (sequence_->queue.first != this || !sequence_->may_begin(first_)) return false;
        dequeue();
    }
    bool progressed = false;
    for (unsigned at = 0; at < window_; ++at) {
        RunningOperation* const operation = running_[at];
        if (!operation) continue;
        if (operation->suspension().is_ready()) operation->resume();
        else if (operation->peer_failed()) [[unlikely]] operation->end_by_peer_failure();
        else continue;
        progressed = true;
        if (operation->ended()) end_fragment(at);
    }
    while (may_begin_next()) progressed = true, begin_next();
    if (progressed) comm->process.waiter.count_progress();
    if (ended_ == fragments_) end();
    return progressed;
}

void CollectiveRequest::end_fragment(unsigned at) {
    RunningOperation& operation = *running_[at];
    if (operation.error()) [[unlikely]] {
        if (!operation.drain()) return;
        set_error(operation.error());
    }
    operation.end();
    on_fragment_ended(at);
    running_[at] = nullptr;
    ++ended_;
}

void CollectiveRequest::set_error(std::exception_ptr const& error) {
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

void CollectiveRequest::enqueue() {
    RequestQueue& queue = sequence_->queue;
    ++references;   // held until the end, as in start()
    is_queued_ = true;
    next_queued_ = nullptr;
    (queue.last ? queue.last->next_queued_ : queue.first) = this;
    queue.last = this;
    if (queue.first != this) return;
    in_progress_ = true;
    state_of(sequence_->process).progress.add(*this);
}

// The progress engine polls the next request in the queue from now on.
void CollectiveRequest::dequeue() {
    RequestQueue& queue = sequence_->queue;
    is_queued_ = false;
    queue.first = next_queued_;
    if (!next_queued_) queue.last = nullptr;
    if (!next_queued_) return;
    next_queued_->in_progress_ = true;
    state_of(sequence_->process).progress.add(*next_queued_);
}

void CollectiveRequest::end() {
    if (in_progress_) state_of(sequence_->process).progress.remove(*this);
    in_progress_ = false;
    complete_operation();
    Ref<Request>::release(this);
}

void CollectiveRequest::complete_operation() {
    complete = true;
    if (is_user_call_) mark_order_unknown(*comm);
    on_finished();
    if (p2p::Checks* const checks = this->checks()) checks->on_arrived(*buffers_);
}

bool CollectiveRequest::add_peers(std::vector<RankRange>& peers) const {
    for (RunningOperation const* operation : running_) {
        if (!operation) continue;
        int const peer = operation->suspension().world_peer();
        if (peer == any_peer) return false;
        peers.push_back({peer, peer, 1});
    }
    return !is_queued_;
}

// A request that waits in the queue does not wait for any particular rank.
void CollectiveRequest::describe(BlockedCall& blocked) const {
    blocked.kind = CallKind::collective;
    blocked.call = join("collective operation on ", comm->description());
    for (RunningOperation const* operation : running_) {
        if (!operation || operation->suspension().peer == any_peer) continue;
        blocked.call = join(operation->name(), " on ", comm->description());
        return blocked.await(operation->suspension().world_peer());
    }
}

}   // namespace tutti::coll
