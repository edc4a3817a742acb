// SPDX-License-Identifier: BSD-3-Clause
// Calls of a communicator that run a certain algorithm, in each form that a program can make them.
#pragma once

#include "coll/call/collectives.hpp"
#include "coll/choice/decision.hpp"
#include "tests/coll/world/any_args.hpp"

namespace tutti::coll::test {

enum class Call { blocking, nonblocking, persistent };

/// The case list takes calls that it reckons to suit the algorithm: the library, which sees the call, must agree.
void expect_suits(CommState const& state, AlgorithmRow const& algorithm, AnyArgs args);

/// Makes the algorithm, with the parameters of `args`, that of the communicator's next call of this kind and size.
/// `setting` belongs to that call until it has ended.
void force(Comm const& comm, AlgorithmRow const& algorithm, AnyArgs args, Setting& setting);

/// Forces the algorithm and starts the call; a blocking one has ended then, and nothing is returned.
Ref<Request> start_call(Comm& comm, AlgorithmRow const& algorithm, AnyArgs args, Call form, Setting& setting);

/// Binds the algorithm to a persistent request, which is not started.
Ref<Request> init_call(Comm& comm, Collective collective, AnyArgs args);

/// The algorithm's coroutine in the environment of one node, called at once and driven to its end.
void drive_algorithm(Comm const& comm, AlgorithmRow const& algorithm, AnyArgs args);

}   // namespace tutti::coll::test
