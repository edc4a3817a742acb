// SPDX-License-Identifier: BSD-3-Clause
#include "coll/env/operation_sequence.hpp"

#include <algorithm>

#include "runtime/base/error.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

OperationSequence::~OperationSequence() {
    if (!area) return;
    area.done(rank).publish(Area::departed);
    // If there is no memory to record the deferred release, the rank keeps the memory until it ends.
    unless_out_of_memory([this] {
        for (int region = 0; region < area_regions; ++region)
            if (std::uint64_t const offset = area.owned_region_offset(region); offset != 0)
                process.heap.release_when(offset, [view = area] { return view.reclaim_region(); });
        if (owned_offset != 0) process.heap.release_when(owned_offset, [view = area] { return view.is_unused(); });
        return true;
    });
}

bool OperationSequence::update_begin_limit(std::uint64_t number) {
    if (!area) {
        if (active == 0) begin_limit = number + max_distance;
        return number <= begin_limit;
    }
    std::uint64_t least = finished;
    for (int m = 0; m < area.members(); ++m)
        if (m != rank) least = std::min(least, area.done(m).read());
    for (std::uint64_t n = begin_limit + 1; n <= least + channel_depth; ++n) area.enter(rank, n);
    begin_limit = least + channel_depth;
    return number <= begin_limit;
}

void OperationSequence::wait_for_channel(Comm const& comm, char const* operation, std::uint64_t number) {
    for (int m = 0; area && m < area.members(); ++m) {
        Flag const& done = area.done(m);
        process.waiter.wait_until([&] { return done.reached(number - channel_depth); }, wait_reason(comm, operation, m),
                                  &done.value);
    }
    process.waiter.wait_until([&] { return may_begin(number); }, wait_reason(comm, operation));
}

Reason wait_reason(Comm const& comm, char const* operation, int member) {
    Function const function = comm.process.call_function;
    return comm.reason(function ? function.name() : operation, member);
}

bool is_local_error(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (Error const& e) { return e.error_class == ErrorClass::truncate; } catch (...) {
        return false;
    }
}

void OperationSequence::end_out_of_order(std::uint64_t number) {
    ended_out_of_order |= std::uint64_t{1} << (number - finished - 1);
    for (; ended_out_of_order & 1; ended_out_of_order >>= 1) ++finished;
}

}   // namespace tutti::coll
