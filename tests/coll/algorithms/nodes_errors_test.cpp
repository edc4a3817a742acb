// SPDX-License-Identifier: BSD-3-Clause
// Between nodes, too, the receiver of a part that exceeds its buffer reports an error, and no other rank is delayed.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "runtime/base/error.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::coll::test {
namespace {

using Nodes = std::vector<int>;   // by rank

class NodesErrors : public testing::TestWithParam<Nodes> {};

/// Does the call report a truncated part?
template <class Args>
bool truncates(Comm& comm, Collective which, Args args) {
    try {
        execute(BoundCall{comm, which, args});
    } catch (Error const& e) {
        EXPECT_EQ(e.error_class, ErrorClass::truncate) << e.what();
        return true;
    }
    return false;
}

/// The last rank expects slightly less than the other ranks send.
void exchange_with_a_short_rank(Comm& comm, int n) {
    auto const type = TypeBuilder::predefined(Basic::int32);
    int const rank = comm.rank(), size = comm.size(), last = size - 1, room = rank == last ? n - 1 : n;
    std::vector<int> out(static_cast<std::size_t>(n) * static_cast<std::size_t>(size), rank), in(out.size());
    auto const bytes = [&](int count) { return static_cast<std::size_t>(count) * sizeof(int); };
    for (bool equal : {true, false}) {
        RootedArgs gather{};
        gather.mine = {out.data(), n, type.get()};
        if (rank == last) gather.parts = Parts::regular(in.data(), room, *type);
        gather.root = last;
        gather.equal_parts = equal;
        gather.max_part_bytes = bytes(n);
        EXPECT_EQ(truncates(comm, Collective::gather, gather), rank == last) << n;
        RootedArgs scatter{};
        scatter.mine = {in.data(), room, type.get()};
        if (rank == 0) scatter.parts = Parts::regular(out.data(), n, *type);
        scatter.equal_parts = equal;
        scatter.max_part_bytes = bytes(room);
        EXPECT_EQ(truncates(comm, Collective::scatter, scatter), rank == last) << n;
        AlltoallArgs alltoall{};
        alltoall.send = Parts::regular(out.data(), n, *type);
        alltoall.receive = Parts::regular(in.data(), room, *type);
        alltoall.equal_parts = equal;
        alltoall.part_bytes = equal ? bytes(room) : 0;
        EXPECT_EQ(truncates(comm, Collective::alltoall, alltoall), rank == last) << n;
    }
    AllgatherArgs allgather{};
    allgather.mine = {out.data(), n, type.get()};
    allgather.parts = Parts::regular(in.data(), room, *type);
    allgather.max_part_bytes = bytes(room);
    EXPECT_EQ(truncates(comm, Collective::allgather, allgather), rank == last) << n;
}

/// Calls `act` with the communicator of each rank, in one thread per rank.
template <class Act>
void at_all_ranks(Nodes const& node_of, Act const& act) {
    Variables variables;
    variables.wait = "shared";
    NodesWorld world(node_of, variables);
    std::vector<std::thread> threads;
    for (int r = 0; r < world.size(); ++r)
        threads.emplace_back([&, r] {
            act(world.comm(r));
            world.leave(r);
        });
    for (auto& t : threads) t.join();
}

TEST_P(NodesErrors, APartThatIsTooLongIsDetectedByItsReceiverWithoutDelayingOthers) {
    at_all_ranks(GetParam(), [](Comm& comm) {
        for (int n : {2, 15, 1000, 2049, 5000, 100000}) exchange_with_a_short_rank(comm, n);
    });
}

/// The error of a call; empty: none.
template <class Args>
std::string error_of(Comm& comm, Collective which, Args args) {
    try {
        execute(BoundCall{comm, which, args});
    } catch (Error const& e) { return e.what(); }
    return {};
}

/// The last rank is the root. Rank `other` sends a part twice as long as the others, or has room for half a part.
void exchange_with_one_other(Comm& comm, int other, int n) {
    auto const type = TypeBuilder::predefined(Basic::int32);
    int const root = comm.size() - 1, mine = comm.rank() == other ? 2 * n : n, room = comm.rank() == other ? n / 2 : n;
    auto const bytes = [](int count) { return std::to_string(static_cast<std::size_t>(count) * sizeof(int)); };
    std::vector<int> out(static_cast<std::size_t>(2 * n * comm.size())), in(out.size());
    RootedArgs gather{};
    gather.mine = {out.data(), mine, type.get()};
    if (comm.rank() == root) gather.parts = Parts::regular(in.data(), n, *type);
    gather.root = root;
    std::string const sent = "rank " + std::to_string(other) + " sent " + bytes(2 * n) +
                             " bytes, but the receive buffer holds only " + bytes(n) + " bytes";
    EXPECT_EQ(error_of(comm, Collective::gather, gather), comm.rank() == root ? sent : "") << n;
    RootedArgs scatter{};
    scatter.mine = {in.data(), room, type.get()};
    if (comm.rank() == root) scatter.parts = Parts::regular(out.data(), n, *type);
    scatter.root = root;
    std::string const got = "rank " + std::to_string(root) + " sent " + bytes(n) +
                            " bytes, but the receive buffer holds only " + bytes(n / 2) + " bytes";
    EXPECT_EQ(error_of(comm, Collective::scatter, scatter), comm.rank() == other ? got : "") << n;
}

TEST_P(NodesErrors, NameTheSenderByItsRankInTheCommunicator) {
    at_all_ranks(GetParam(), [](Comm& comm) {
        for (int other = 0; other < comm.size(); ++other)
            for (int n : {2, 5000, 100000}) exchange_with_one_other(comm, other, n);
    });
}

INSTANTIATE_TEST_SUITE_P(Worlds, NodesErrors,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 0, 0, 1}, Nodes{0, 1, 2}, Nodes{0, 1, 0, 1, 0}));

}   // namespace
}   // namespace tutti::coll::test
