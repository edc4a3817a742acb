// SPDX-License-Identifier: BSD-3-Clause
// What the checks of all collectives share. Execute has operator()(AlgorithmRow const&, Args const&).
#pragma once

#include "tests/coll/world/cases.hpp"

namespace tutti::coll::test {

/// A rank's view while it runs a case.
template <class Execute>
struct Turn {
    Suite& suite;
    Case const& c;
    int rank;
    Execute& execute;
    std::vector<Operator> const&
        operators;   ///< the rank's own, as every rank of a job has: they remember their kernels

    Op const& op() const { return *operators[static_cast<std::size_t>(c.op)].op; }

    template <class Args>
    void run(Args& args) {
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

}   // namespace tutti::coll::test
