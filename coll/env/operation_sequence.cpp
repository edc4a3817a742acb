// SPDX-License-Identifier: BSD-3-Clause
#include "coll/env/operation_sequence.hpp"

#include <algorithm>

#include "runtime/base/error.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

OperationSequence::~OperationSequence() {
    if (!area) return;
    area.done(rank).publish(Area::gone);
    // If there is no memory to record the deferred release, the rank keeps the memory until it ends.
    unless_out_of_memory([this] {
        for (int region = 0; region < area_regions; ++region)
            if (std::uint64_t const offset = area.own_region(region); offset != 0)
                process.heap.release_when(offset, [view = area] { return view.take_back_region(); });
        if (owned_offset != 0) process.heap.release_when(owned_offset, [view = area] { return view.unused(); });
        return true;
    });
}

bool OperationSequence::look_for_channel(std::uint64_t number) {
    if (!area) {
        if (under_way == 0) safe = number + most_apart;
        return number <= safe;
    }
    std::uint64_t least = finished;
    for (int m = 0; m < area.members(); ++m)
        if (m != rank) least = std::min(least, area.done(m).read());
    for (std::uint64_t n = safe + 1; n <= least + channel_depth; ++n) area.enter(rank, n);
    safe = least + channel_depth;
    return number <= safe;
}

void OperationSequence::wait_for_channel(Comm const& comm, char const* operation, std::uint64_t number) {
    for (int m = 0; area && m < area.members(); ++m) {
        Flag const& done = area.done(m);
        process.waiter.until([&] { return done.reached(number - channel_depth); }, reason_in(comm, operation, m),
                             &done.value);
    }
    process.waiter.until([&] { return may_begin(number); }, reason_in(comm, operation));
}

Reason reason_in(Comm const& comm, char const* operation, int member) {
    char const* const call = comm.process.call_name;
    return comm.reason(*call ? call : operation, member);
}

bool concerns_this_rank_alone(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (Error const& e) { return e.error_class == ErrorClass::truncate; } catch (...) {
        return false;
    }
}

void OperationSequence::end_early(std::uint64_t number) {
    beyond |= std::uint64_t{1} << (number - finished - 1);
    for (; beyond & 1; beyond >>= 1) ++finished;
}

}   // namespace tutti::coll
