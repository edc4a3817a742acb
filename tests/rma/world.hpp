// SPDX-License-Identifier: BSD-3-Clause
// Runs ranks with windows as threads of this process.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "rma/create.hpp"
#include "rma/epochs.hpp"
#include "rma/operations.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/nodes_world.hpp"

namespace tutti::rma::ranks_as_threads {

/// Runs `body` on ranks of one node.
inline void run(int ranks, std::function<void(Comm&)> const& body) {
    coll::test::run_on_nodes(std::vector<int>(static_cast<std::size_t>(ranks), 0), body);
}

inline Ref<Datatype> type_of(Basic kind) {
    Ref<Datatype> t = TypeBuilder::predefined(kind);
    t->committed = true;
    return t;
}
/// A predefined operator.
struct Operator {
    explicit Operator(BuiltinOp builtin) : op(Ref<Op>::adopt(new Op)) { op->builtin = builtin; }
    operator Op const&() const { return *op; }
    Ref<Op> op;
};

/// Expects that `body` throws an Error of this class.
template <class Body>
void expect_error(ErrorClass error_class, Body&& body) {
    try {
        body();
        ADD_FAILURE() << "no error";
    } catch (Error const& e) { EXPECT_EQ(e.error_class, error_class) << e.what(); }
}

}   // namespace tutti::rma::ranks_as_threads
