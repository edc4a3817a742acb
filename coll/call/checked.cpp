// SPDX-License-Identifier: BSD-3-Clause
// Checks of collectives under --check: exchanges of amounts (coll/match/) and of the fact that all members have called.
#include "coll/call/checked.hpp"

#include <vector>

#include "coll/call/internal.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/match/amounts.hpp"

namespace tutti::coll {

void check_with_members(Comm& comm, Collective collective, RootedArgs const& args) {
    auto const n = static_cast<std::size_t>(comm.union_group->size());
    std::vector<Amount> all(n);
    Amount const mine = Amount::of(args.mine);
    bool const is_root = comm.rank() == args.root, to_root = collective == Collective::gather;
    allgather_bytes(comm, &mine, sizeof mine, all.data());
    if (args.equal_parts || comm.is_inter()) return;
    std::vector<Amount> root_amounts(n);
    for (int r = 0; is_root && r < comm.size(); ++r)
        root_amounts[static_cast<std::size_t>(r)] = Amount::of(args.parts[r]);
    bcast_bytes(comm, root_amounts.data(), n * sizeof(Amount), args.root);
    for (int r = 0; r < comm.size(); ++r) {
        Amount const &leaf = all[static_cast<std::size_t>(r)], &root = root_amounts[static_cast<std::size_t>(r)];
        if (r == args.root || (!is_root && r != comm.rank()) || leaf.matches(root)) continue;
        int const peer = comm.group->world_rank(is_root ? r : args.root);
        Amount const &sent = to_root ? leaf : root, &expected = to_root ? root : leaf;
        state_of(comm).records.report_amounts(
            peer, describe_difference(to_root ? r : args.root, sent, to_root ? args.root : r, expected));
    }
}

void check_with_members(Comm& comm, Collective, AlltoallArgs const& args) {
    auto const n = static_cast<std::size_t>(comm.size());
    if (args.equal_parts || args.is_in_place || comm.is_inter()) return await_members(comm);
    std::vector<Amount> mine(n), all(n * n);
    for (int r = 0; r < comm.size(); ++r) mine[static_cast<std::size_t>(r)] = Amount::of(args.send[r]);
    allgather_bytes(comm, mine.data(), n * sizeof(Amount), all.data());
    for (int r = 0; r < comm.size(); ++r) {
        Amount const &sent = all[static_cast<std::size_t>(r) * n + static_cast<std::size_t>(comm.rank())],
                     expected = Amount::of(args.receive[r]);
        if (r != comm.rank() && !sent.matches(expected))
            state_of(comm).records.report_amounts(comm.group->world_rank(r),
                                                  describe_difference(r, sent, comm.rank(), expected));
    }
}

void await_members(Comm& comm) {
    char const mine = 0;
    std::vector<char> all(static_cast<std::size_t>(comm.union_group->size()));
    allgather_bytes(comm, &mine, 1, all.data());
}

void exchange_amounts(Comm const& comm, Collective collective, RootedArgs const& args) {
    CallRecords const& records = state_of(comm).records;
    if (!args.equal_parts && !comm.is_inter()) records.amounts()->begin(comm, records.number(), collective, args);
}

void exchange_amounts(Comm const& comm, Collective collective, AlltoallArgs const& args) {
    CallRecords const& records = state_of(comm).records;
    if (args.equal_parts || args.is_in_place || comm.is_inter()) return;
    records.amounts()->begin(comm, records.number(), collective, args);
}

}   // namespace tutti::coll
