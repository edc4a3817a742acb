// SPDX-License-Identifier: BSD-3-Clause
// Memory exhaustion in a call or request of a program, at every allocation of each rank: no rank waits forever, each
// rank has the right result or an error, and the next call succeeds.
#include <gmock/gmock.h>

#include <barrier>
#include <chrono>
#include <thread>

#include "coll/call/collectives.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/comm/create.hpp"
#include "coll/comm/derive.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/allocations.hpp"

namespace tutti::coll::test {
namespace {

constexpr std::size_t unlimited = ~std::size_t{0};

/// A call as a program makes it, blocking or as a request, between processes of one node.
struct ProgramCall {
    Collective collective;
    int bytes;
    bool as_request;
    std::chrono::milliseconds late{};   ///< the delay of rank 1
};

void PrintTo(ProgramCall const& c, std::ostream* out) {
    *out << name_of(c.collective) << ", " << c.bytes << " bytes" << (c.as_request ? ", a request" : "");
    if (c.late.count() > 0) *out << ", " << c.late.count() << " ms late";
}

template <class Args>
void call(Comm& comm, ProgramCall const& c, Args args, std::size_t allowed) {
    AllocationLimit const ends(allowed);
    BoundCall<Args> bound{comm, c.collective, args};
    if (!c.as_request) return execute(std::move(bound));
    Ref<Request> const request = start(bound);
    comm.process.waiter.wait_until([&] { return request->complete || (request->advance(), request->complete); },
                                   {"test"});
    if (request->status.error != ErrorClass::success) throw Error(request->status.error, request->error_text);
}

/// A sum, or a broadcast from root 0, of bytes. Returns whether it ended without error and with the right result.
bool ends_well(Comm& comm, ProgramCall const& c, std::size_t allowed = unlimited) {
    auto const type = TypeBuilder::predefined(Basic::byte_);
    auto const n = static_cast<std::size_t>(c.bytes);
    std::vector<unsigned char> in(n, static_cast<unsigned char>(comm.rank() + 1)), out(n * 3, 77);
    if (c.collective == Collective::allgather) {
        AllgatherArgs args{};
        args.mine = {in.data(), c.bytes, type.get()};
        args.parts = Parts::regular(out.data(), c.bytes, *type);
        args.max_part_bytes = n;
        call(comm, c, args, allowed);
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t i = 0; i < n; ++i)
                if (out[r * n + i] != r + 1) return false;
        return true;
    }
    BcastArgs args{};
    args.data = {in.data(), c.bytes, type.get()};
    call(comm, c, args, allowed);
    return std::ranges::all_of(in, [](unsigned char x) { return x == 1; });
}

class MemoryRunsOutBetweenProcesses : public testing::TestWithParam<ProgramCall> {};

/// Makes a new world for each refused allocation, so that all pools are empty. Returns false if none was refused.
bool run_starved(ProgramCall const& c, int victim, std::size_t allowed) {
    Segment segment = Segment::create(3);
    std::atomic<bool> ran_out = false;
    std::barrier together(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
        threads.emplace_back([&, rank] {
            Variables variables;
            variables.wait = "shared";
            variables.staging = 8192;
            variables.cma = false;
            variables.fragment = 30000;
            Process process(segment, static_cast<unsigned>(rank), variables);
            std::vector<std::string> errors;
            coll::initialize(process, errors);
            Comm& comm = *process.world;
            together.arrive_and_wait();
            if (rank == 1) std::this_thread::sleep_for(c.late);
            bool well = true, failed = false;
            ErrorClass error = ErrorClass::no_mem;
            try {
                well = ends_well(comm, c, rank == victim ? allowed : unlimited);
            } catch (std::bad_alloc const&) { failed = true; } catch (Error const& e) {
                failed = true;
                error = e.error_class;
            }
            EXPECT_TRUE(well) << "a wrong result at rank " << rank;
            EXPECT_EQ(error, ErrorClass::no_mem);
            if (failed && rank == victim) ran_out = true;
            together.arrive_and_wait();
            EXPECT_TRUE(!failed || ran_out);
            for (int i = 0; i < 2 * channel_depth; ++i) EXPECT_TRUE(ends_well(comm, c));
            EXPECT_EQ(state_of(process).progress.in_flight(), 0);
            together.arrive_and_wait();
        });
    for (auto& t : threads) t.join();
    return ran_out;
}

TEST_P(MemoryRunsOutBetweenProcesses, AndAllRanksEnd) {
    for (int victim : {0, 2}) {
        std::size_t allowed = 0;
        while (run_starved(GetParam(), victim, allowed)) ++allowed;
        EXPECT_GT(allowed, 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Calls, MemoryRunsOutBetweenProcesses,
                         testing::Values(ProgramCall{Collective::bcast, 8, false},
                                         ProgramCall{Collective::bcast, 100'000, true},
                                         ProgramCall{Collective::allgather, 8, true},
                                         ProgramCall{Collective::allgather, 100'000, false},
                                         ProgramCall{Collective::allgather, 100'000, true},
                                         // Publishing a long wait allocates memory, too.
                                         ProgramCall{Collective::allgather, 8, false, std::chrono::milliseconds(40)},
                                         ProgramCall{Collective::bcast, 100'000, true, std::chrono::milliseconds(40)}));

/// Exhausts a rank's heap, which holds the memory that other ranks can access.
std::vector<std::uint64_t> take_all(SegmentHeap& heap) {
    std::vector<std::uint64_t> taken;
    for (std::size_t bytes = 1 << 20; bytes >= 4096; bytes /= 2) try {
            for (;;) taken.push_back(heap.allocate(bytes));
        } catch (Error const& e) { EXPECT_EQ(e.error_class, ErrorClass::no_mem); }
    return taken;
}

// A communicator numbers its members differently, and the program may not know the communicator.
TEST(SegmentRunsOut, AndTheErrorNamesTheWorldRank) {
    Segment segment = Segment::create(3);
    std::barrier together(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
        threads.emplace_back([&, rank] {
            Variables variables;
            variables.wait = "shared";
            variables.cma = variables.arena = false;
            Process process(segment, static_cast<unsigned>(rank), variables);
            std::vector<std::string> errors;
            coll::initialize(process, errors);
            Ref<Comm> const turned = split(*process.world, 0, -rank);
            EXPECT_EQ(turned->rank(), 2 - rank);
            if (rank == 0) take_all(process.heap);
            together.arrive_and_wait();
            for (bool as_request : {false, true}) try {
                    ends_well(*turned, {Collective::allgather, 100'000, as_request});
                    ADD_FAILURE() << "the allocation succeeded";
                } catch (Error const& e) {
                    std::string const peer = rank == 0 ? "" : "rank 0 of MPI_COMM_WORLD has no memory";
                    EXPECT_THAT(e.what(), testing::HasSubstr(peer));
                }
            together.arrive_and_wait();
        });
    for (auto& t : threads) t.join();
}

TEST(SegmentRunsOut, AndAllRanksEnd) {
    Segment segment = Segment::create(3);
    std::barrier together(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
        threads.emplace_back([&, rank] {
            Variables variables;
            variables.wait = "shared";
            variables.cma = variables.arena = false;
            Process process(segment, static_cast<unsigned>(rank), variables);
            std::vector<std::string> errors;
            coll::initialize(process, errors);
            std::vector<std::uint64_t> taken;
            if (rank == 1) taken = take_all(process.heap);
            together.arrive_and_wait();
            for (bool as_request : {false, true})
                EXPECT_THROW(ends_well(*process.world, {Collective::allgather, 100'000, as_request}), Error);
            together.arrive_and_wait();
            for (std::uint64_t offset : taken) process.heap.release(offset);
            for (bool as_request : {false, true})
                EXPECT_TRUE(ends_well(*process.world, {Collective::allgather, 100'000, as_request}));
            together.arrive_and_wait();
        });
    for (auto& t : threads) t.join();
}

}   // namespace
}   // namespace tutti::coll::test
