// SPDX-License-Identifier: BSD-3-Clause
#include "coll/env/operation_sequence.hpp"

#include <algorithm>

namespace tutti::coll {
namespace {

constexpr std::uint64_t gone = ~std::uint64_t{0};

}  // namespace

OperationSequence::~OperationSequence() {
    if (!area) return;
    area.done(rank).publish(gone);
    if (owned_offset == 0) return;
    process.heap.release_when(owned_offset, [view = area] {
        for (int m = 0; m < view.members(); ++m)
            if (view.done(m).read() != gone) return false;
        return true;
    });
}

bool OperationSequence::look_for_channel(std::uint64_t number) {
    std::uint64_t least = ~std::uint64_t{0};
    for (int m = 0; m < area.members(); ++m) {
        if (m != rank) least = std::min(least, area.done(m).read());
        else least = std::min(least, finished);
    }
    safe = least > last_operation - channel_depth ? last_operation : least + channel_depth;
    return number <= safe;
}

void OperationSequence::wait_for_channel(char const* operation, std::uint64_t number) {
    for (int m = 0; m < area.members(); ++m) {
        Flag const& done = area.done(m);
        process.waiter.until([&] { return done.reached(number - channel_depth); }, {operation, m, -1, 0});
    }
    look_for_channel(number);
}

void OperationSequence::end_early(std::uint64_t number) {
    beyond |= std::uint64_t{1} << (number - finished - 1);
    for (; beyond & 1; beyond >>= 1) ++finished;
}

}  // namespace tutti::coll
