// SPDX-License-Identifier: BSD-3-Clause
// A persistent request has a sequence of operations of its own, in memory that is got as a communicator's is: here,
// because that runs collectives.
#include <memory>

#include "coll/call/bytes.hpp"
#include "coll/call/request.hpp"
#include "coll/comm/create.hpp"
#include "coll/comm/derive.hpp"

namespace tutti::coll {

void CollectiveRequest::use_own_sequence() {
    if (state_of(*comm).multi_node) {
        own_comm_ = duplicate_bare(*comm);
        own_comm_->told_as = &*comm;
        sequence_ = &state_of(*own_comm_);
        return;
    }
    Process& process = comm->process;
    int const members = comm->union_group->size();
    std::size_t& held = state_of(process).sequence_bytes;
    std::size_t const heap = process.segment.layout().heap_bytes;
    ContextAllocation mine{};
    // Half of the heap is left for communicators and staging memory.
    if (comm->union_group->rank() == 0 && held + Area::bytes(members) <= heap / 2)
        mine = allocate_context(process, *comm->union_group);
    bcast_bytes(*comm, &mine, sizeof mine, 0);
    if (mine.context == 0) return;
    own_sequence_ = std::make_unique<OperationSequence>(
        process, Area(process.segment.at(mine.area), *comm->union_group, process), comm->union_group->rank());
    sequence_ = own_sequence_.get();
    if (mine.owner != process.rank()) return;
    own_sequence_->owned_offset = mine.area;
    held += Area::bytes(members);
}

}   // namespace tutti::coll
