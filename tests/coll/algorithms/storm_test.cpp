// SPDX-License-Identifier: BSD-3-Clause
// Thread storm: every algorithm on four ranks with eight threads each, in one process, so that ThreadSanitizer sees all
// accesses. Each thread runs every eighth case on its own communicator, blocking, nonblocking or persistent, while
// messages are exchanged on the world and some threads create communicators.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "coll/comm/create.hpp"
#include "coll/comm/derive.hpp"
#include "p2p/p2p.hpp"
#include "runtime/wait/progress_thread.hpp"
#include "tests/coll/world/calls.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

constexpr int ranks = 4, threads = 8;

/// Makes a call with the locks that mpi_h/ takes.
struct Visit {
    explicit Visit(Comm& comm) : waiter(comm.process.waiter) { waiter.enter(); }
    ~Visit() { waiter.leave(); }
    Waiter& waiter;
};

/// One thread of a rank.
class Sailor {
public:
    Sailor(Comm& comm, Comm& world, int thread)
        : comm_(comm), world_(world), thread_(thread), suite_(make_tree(ranks, 1), Area(nullptr, ranks).slot_bytes()) {
        add_cases(suite_, 11);
    }

    void run() {
        std::vector<Operator> const operators = make_operators();
        Execute const execute = std::ref(*this);
        for (at_ = static_cast<std::size_t>(thread_); at_ < suite_.cases.size(); at_ += threads) {
            check({suite_, suite_.cases[at_], comm_.rank(), execute, operators});
            talk();
            if (at_ % 5 == 0) make();
        }
    }
    std::vector<std::string> const& failures() const { return suite_.failures; }

    /// Called by a check: runs the algorithm in one of the three forms.
    void operator()(AlgorithmRow const& algorithm, AnyArgs args) {
        Setting setting;
        Ref<Request> request;
        {
            Visit visit(comm_);
            request = start_call(comm_, algorithm, args, static_cast<Call>(at_ / threads % 3), setting);
            if (!request) return;
        }
        talk();   // while the operation is in flight and other threads may advance it
        auto over = [&] {
            if (!request->complete) request->advance();
            return request->complete;
        };
        Visit visit(comm_);
        if (at_ % 2)
            while (!visit.waiter.test(over)) {}
        else visit.waiter.wait_until(over, {"the test"});
        if (request->status.error != ErrorClass::success)
            suite_.fail(suite_.cases[at_], comm_.rank(), request->error_text);
        request = {};
    }

private:
    /// A message to the next rank, on the communicator that all threads share.
    void talk() {
        std::uint64_t const out = at_ * ranks + static_cast<std::size_t>(comm_.rank());
        std::uint64_t in = 0;
        int const next = (comm_.rank() + 1) % ranks, before = (comm_.rank() + ranks - 1) % ranks;
        Visit visit(comm_);
        p2p::sendrecv_bytes(world_, &out, sizeof out, next, &in, sizeof in, before, thread_, "the test");
        if (in != at_ * ranks + static_cast<std::size_t>(before))
            suite_.fail(suite_.cases[at_], comm_.rank(), "a message beside it");
    }
    void make() {
        Visit visit(comm_);
        Ref<Comm> const copy = duplicate(comm_), half = split(*copy, comm_.rank() % 2, 0);
        std::vector<int> members(2, -1);
        int const mine = comm_.rank();
        allgather_bytes(*half, &mine, sizeof mine, members.data());
        if (members != std::vector<int>{mine % 2, mine % 2 + 2})
            suite_.fail(suite_.cases[at_], comm_.rank(), "a communicator made beside it");
    }

    Comm& comm_;
    Comm& world_;
    int const thread_;
    Suite suite_;   // one per thread: references to types are counted under one rank's lock
    std::size_t at_ = 0;
};

void run_rank(Process& process, std::vector<std::string>& failures) {
    std::vector<Ref<Comm>> comms;
    std::vector<std::unique_ptr<Sailor>> crew;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        Visit visit(*process.world);
        comms.push_back(duplicate(*process.world));
    }
    for (int t = 0; t < threads; ++t)
        crew.push_back(std::make_unique<Sailor>(*comms[static_cast<std::size_t>(t)], *process.world, t));
    for (auto& sailor : crew) all.emplace_back([&] { sailor->run(); });
    for (std::thread& t : all) t.join();
    for (auto& sailor : crew) failures.insert(failures.end(), sailor->failures().begin(), sailor->failures().end());
    process.progress_thread.reset();
    BarrierArgs last{};
    coll::execute(coll::BoundCall{*process.world, Collective::barrier, last});
    p2p::drain_sends(process, "the test");
    coll::execute(coll::BoundCall{*process.world, Collective::barrier, last});
}

void storm(bool progress_threads) {
    Segment segment = Segment::create(ranks);
    Variables variables;
    variables.wait = "shared";
    variables.sleep_after = 5;
    variables.staging = 8192;
    std::vector<std::unique_ptr<Process>> processes;
    std::vector<std::string> errors;
    std::vector<std::string> failures[ranks];
    for (unsigned r = 0; r < ranks; ++r) {
        Process& process = *processes.emplace_back(std::make_unique<Process>(segment, r, variables));
        process.thread_multiple = true;
        process.lock.enable();
        p2p::start(process);
        initialize(process, errors);
        if (progress_threads) process.progress_thread = std::make_unique<ProgressThread>(process.waiter);
    }
    std::vector<std::thread> mains;
    for (int r = 0; r < ranks; ++r)
        mains.emplace_back([&, r] { run_rank(*processes[static_cast<std::size_t>(r)], failures[r]); });
    for (std::thread& t : mains) t.join();
    for (auto const& list : failures)
        for (std::string const& failure : list) ADD_FAILURE() << failure;
}

TEST(ThreadStorm, EveryAlgorithmInThreeForms) { storm(false); }
TEST(ThreadStorm, WithProgressThreads) { storm(true); }

}   // namespace
}   // namespace tutti::coll::test
