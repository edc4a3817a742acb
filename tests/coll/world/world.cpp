// SPDX-License-Identifier: BSD-3-Clause
#include "tests/coll/world/world.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace tutti::coll::test {

namespace {

/// Keeps freed buffers in the process: faulting in their pages again for each case takes a quarter of the time.
[[maybe_unused]] int const memory_kept =
    mallopt(M_MMAP_THRESHOLD, 32 << 20) + mallopt(M_TRIM_THRESHOLD, 1 << 30) + mallopt(M_TOP_PAD, 32 << 20);

}   // namespace

topo::Hierarchy make_tree(int ranks, int levels, bool mixed) {
    std::vector<topo::Grouping> groupings;
    for (int l = 1; l < levels; ++l) {
        topo::Grouping g{"level" + std::to_string(l), {}};
        int const team = 1 << l, teams = (ranks + team - 1) / team;
        for (int r = 0; r < ranks; ++r) g.group.push_back(mixed ? r % teams : r / team);
        groupings.push_back(g);
    }
    return topo::Hierarchy::build(ranks, groupings);
}

void run_threads(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe) {
    std::mutex mutex;
    std::condition_variable ended;
    int left = ranks;
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            try {
                body(r);
            } catch (std::exception const& e) {
                std::fprintf(stderr, "rank %d: %s in: %s\n", r, e.what(), describe().c_str());
                std::abort();
            }
            std::lock_guard lock(mutex);
            if (--left == 0) ended.notify_one();
        });
    std::unique_lock lock(mutex);
    for (std::string seen, now = describe(); seen != now; now = describe()) {
        seen = now;
        if (ended.wait_for(lock, std::chrono::minutes(5), [&] { return left == 0; })) break;
    }
    if (left > 0) {
        std::fprintf(stderr, "no rank moves any more in: %s\n", describe().c_str());
        std::abort();
    }
    lock.unlock();
    for (auto& t : threads) t.join();
}

void run_ranks(Suite& suite, std::function<void(int)> const& body, int ranks) {
    run_threads(ranks == 0 ? suite.ranks : ranks, body, [&] { return suite.describe(suite.cases[suite.at]); });
    report(suite);
}

void run_cases(Suite& suite, int rank, Execute const& execute, Arena* arena) {
    std::vector<Operator> const operators = make_operators();
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        if (rank == 0) suite.at = i;
        if (arena) arena->begin(i);
        check({suite, suite.cases[i], rank, execute, operators});
    }
}

void report(Suite const& suite) {
    for (std::string const& failure : suite.failures) ADD_FAILURE() << failure;
    testing::Test::RecordProperty("cases", static_cast<int>(suite.cases.size()));
}

}   // namespace tutti::coll::test
