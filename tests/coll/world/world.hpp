// SPDX-License-Identifier: BSD-3-Clause
// Runs a list of cases on the ranks of one world, one thread each, and ends the test with the case's name when they
// no longer move.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

#include "tests/coll/world/case_list.hpp"
#include "tests/coll/world/checks.hpp"
#include "tests/coll/world/inter_checks.hpp"

namespace tutti::coll::test {

/// Teams of 2, 4, 8 ranks, as many levels as fit; `mixed` deals the ranks out instead, so that teams are not
/// consecutive.
inline topo::Hierarchy make_tree(int ranks, int levels, bool mixed = false) {
    std::vector<topo::Grouping> groupings;
    for (int l = 1; l < levels; ++l) {
        topo::Grouping g{"level" + std::to_string(l), {}};
        int const team = 1 << l, teams = (ranks + team - 1) / team;
        for (int r = 0; r < ranks; ++r) g.group.push_back(mixed ? r % teams : r / team);
        groupings.push_back(g);
    }
    return topo::Hierarchy::build(ranks, groupings);
}

/// `rank_body(rank)` is one rank's whole life; `ranks` of them, if some take no part in the cases.
inline void run_ranks(Suite& suite, std::function<void(int)> const& rank_body, int ranks = 0) {
    if (ranks == 0) ranks = suite.ranks;
    std::atomic<int> left{ranks};
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            try {
                rank_body(r);
            } catch (std::exception const& e) {
                std::fprintf(stderr, "rank %d: %s in: %s\n", r, e.what(),
                             suite.describe(suite.cases[suite.at]).c_str());
                std::abort();
            }
            --left;
        });
    using clock = std::chrono::steady_clock;
    std::size_t seen = suite.at;
    for (auto since = clock::now(); left > 0; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
        if (suite.at != seen) seen = suite.at, since = clock::now();
        if (clock::now() - since > std::chrono::seconds(120)) {
            std::fprintf(stderr, "no rank moves any more in: %s\n", suite.describe(suite.cases[seen]).c_str());
            std::abort();
        }
    }
    for (auto& t : threads) t.join();
    for (std::string const& failure : suite.failures) ADD_FAILURE() << failure;
}

/// `arena`: where the rank has its messages; null: nowhere special.
template <class Execute>
void run_cases(Suite& suite, int rank, Execute& execute, Arena* arena = nullptr) {
    std::vector<Operator> const operators = make_operators();
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        if (rank == 0) suite.at = i;
        if (arena) arena->begin(i);
        check(Turn<Execute>{suite, suite.cases[i], rank, execute, operators});
    }
}

}   // namespace tutti::coll::test
