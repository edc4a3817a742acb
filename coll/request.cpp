// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives under way, and the progress engine that moves them on.
#include "coll/request.hpp"

#include <algorithm>
#include <new>

#include "coll/agree.hpp"
#include "coll/comm_create.hpp"
#include "coll/comm_derive.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {

Progress::Progress(Waiter& waiter) : waiter_(waiter) { waiter_.attach(this); }
Progress::~Progress() { waiter_.detach(this); }

bool Progress::poll() {
    bool moved = false;
    for (CollectiveRequest *r = first_, *next; r; r = next) {
        next = r->next_;
        moved |= r->move();   // which may end it
    }
    return moved;
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
      lane_(&state_of(on)) {
    comm = Ref<Comm>::share(&on);
}

void CollectiveRequest::make_persistent() {
    persistent = true;
    active = false;
    complete = true;
    own_frames_ = std::make_unique<FramePool>(FramePool::Keeps::all);
    if (comm->united->size() > 1) use_own_lane();
}

void CollectiveRequest::use_own_lane() {
    if (state_of(*comm).across) {
        own_comm_ = duplicate_bare(*comm);
        lane_ = &state_of(*own_comm_);
        return;
    }
    Process& process = comm->process;
    int const members = comm->united->size();
    std::size_t& held = state_of(process).lane_bytes;
    std::size_t const heap = process.segment.heap(process.place()).size();
    Birth birth{};
    // Half of the heap is left for communicators and staging memory.
    if (comm->united->rank() == 0 && held + Area::bytes(members) <= heap / 2)
        birth = conceive_or_tell(process, *comm->united);
    bcast_bytes(*comm, &birth, sizeof birth, 0);
    if (birth.context == 0) return;
    own_lane_ = std::make_unique<Lane>(process, Area(process.segment.at(birth.area), members), comm->united->rank());
    lane_ = own_lane_.get();
    if (birth.owner != process.rank()) return;
    own_lane_->owned_offset = birth.area;
    held += Area::bytes(members);
}

CollectiveRequest::~CollectiveRequest() {
    if (own_lane_ && own_lane_->owned_offset != 0)
        state_of(own_lane_->process).lane_bytes -= Area::bytes(own_lane_->area.members());
}

void CollectiveRequest::start() {
    active = true;
    complete = false;
    if (status.error != ErrorClass::success) status = {};   // of the last start
    begun_ = landed_ = 0;
    first_ = lane_->issue(fragments_);
    if (!lane_->area) numbered();
    if (lane_->queue.first || !lane_->may_begin(first_)) return wait_in_line();
    do begin_next();
    while (may_begin_next());
    if (landed_ == fragments_) return over();   // nobody else has heard of it
    ++references;   // the progress engine's, until the end
    in_progress_ = true;
    state_of(lane_->process).progress.add(*this);
}

bool CollectiveRequest::may_begin_next() {
    return begun_ < fragments_ && begun_ - landed_ < window_ && lane_->may_begin(first_ + begun_);
}

void CollectiveRequest::begin_next() {
    unsigned at = 0;
    while (flights_[at]) ++at;
    flights_[at] = &begin(at, begun_++);
    if (flights_[at]->ended()) land(at);
}

// What it waits for is looked at first: most looks are in vain.
bool CollectiveRequest::move() {
    if (complete) return false;
    if (in_line_) {
        if (lane_->queue.first != this || !lane_->may_begin(first_)) return false;
        leave_line();
    }
    bool moved = false;
    for (unsigned at = 0; at < window_; ++at) {
        if (!flights_[at] || !flights_[at]->suspension().over()) continue;
        moved = true;
        flights_[at]->go_on();
        if (flights_[at]->ended()) land(at);
    }
    while (may_begin_next()) moved = true, begin_next();
    if (landed_ == fragments_) end();
    return moved;
}

void CollectiveRequest::land(unsigned at) {
    flights_[at]->end();
    try {
        flights_[at]->check();
    } catch (Error const& error) {
        status.error = error.error_class;
        error_text = error.what();
    } catch (std::bad_alloc const&) {
        status.error = ErrorClass::no_mem;
        error_text = "the system has no more memory";
    }
    leave(at);
    flights_[at] = nullptr;
    ++landed_;
}

void CollectiveRequest::wait_in_line() {
    Queue& queue = lane_->queue;
    ++references;   // as in start
    in_line_ = true;
    behind_ = nullptr;
    (queue.last ? queue.last->behind_ : queue.first) = this;
    queue.last = this;
    if (queue.first != this) return;
    in_progress_ = true;
    state_of(lane_->process).progress.add(*this);
}

// The next in the line is looked at from now on.
void CollectiveRequest::leave_line() {
    Queue& queue = lane_->queue;
    in_line_ = false;
    queue.first = behind_;
    if (!behind_) queue.last = nullptr;
    if (!behind_) return;
    behind_->in_progress_ = true;
    state_of(lane_->process).progress.add(*behind_);
}

void CollectiveRequest::end() {
    if (in_progress_) state_of(lane_->process).progress.remove(*this);
    in_progress_ = false;
    over();
    Ref<Request>::release(this);
}

void CollectiveRequest::over() {
    complete = true;
    finished();
}

Reason CollectiveRequest::reason(char const* call) const {
    for (Flight const* flight : flights_)
        if (flight) return {call, comm->united->world_rank(flight->suspension().peer), -1, comm->context};
    return {call, -1, -1, comm->context};
}

}  // namespace tutti::coll
