// SPDX-License-Identifier: BSD-3-Clause
// Declarations that the checks of all collectives share.
#pragma once

#include <functional>

#include "tests/coll/world/any_args.hpp"
#include "tests/coll/world/cases.hpp"

namespace tutti::coll::test {

/// Runs one operation of the algorithm as the calling rank.
using Execute = std::function<void(AlgorithmRow const&, AnyArgs)>;

/// A rank's context while it runs a case.
struct CaseRun {
    Suite& suite;
    Case const& c;
    int rank;
    Execute const& execute;
    std::vector<Operator> const& operators;   ///< one set per rank: an operator caches its kernels

    Op const& op() const { return *operators[static_cast<std::size_t>(c.op)].op; }

    template <class Args>
    void run(Args& args) const {
        Values const values = values_of(c);
        args.parameters = values;
        execute(*c.algorithm, args);
    }
    std::vector<std::byte> data(std::size_t bytes, int from, int to) const {
        return packed_data(Unit::u32, bytes, c.seed, from, to);
    }
    void same(Memory const& got, Memory const& expected, char const* what) const {
        if (!(got == expected)) suite.fail(c, rank, std::string(what) + " differs");
    }
};

/// One rank's part of a case: makes its arguments, executes them, and compares all of its memory with a plain
/// computation.
void check(CaseRun const& case_run);

void check_neighbors(CaseRun const& case_run, bool one_block_for_all);   ///< neighbor_checks.cpp
void check_inter(CaseRun const& case_run);                               ///< inter_checks.cpp

/// Operands of ranks first … last, combined in their order, in packed form.
std::vector<std::byte> combined(CaseRun const& t, std::int64_t n, int first, int last);

}   // namespace tutti::coll::test
