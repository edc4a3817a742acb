// SPDX-License-Identifier: BSD-3-Clause
// Calls on a communicator that run a given algorithm, in each form that a program can use.
#pragma once

#include "coll/call/collectives.hpp"
#include "coll/choice/decision.hpp"
#include "tests/coll/world/any_args.hpp"

namespace tutti::coll::test {

enum class Call { blocking, nonblocking, persistent };

/// The case list selects calls that it expects to suit the algorithm; the library must agree for the actual call.
void expect_suits(CommState const& state, AlgorithmRow const& algorithm, AnyArgs args);

/// Makes the algorithm, with the parameters of `args`, the choice for the communicator's next call of this kind and
/// size. `setting` belongs to that call until it has ended.
void force(Comm const& comm, AlgorithmRow const& algorithm, AnyArgs args, Setting& setting);

/// Forces the algorithm and starts the call. A blocking call has then ended, and the result is null.
Ref<Request> start_call(Comm& comm, AlgorithmRow const& algorithm, AnyArgs args, Call form, Setting& setting);

/// Binds the algorithm to a persistent request, which is not started.
Ref<Request> init_call(Comm& comm, Collective collective, AnyArgs args);

/// Runs the algorithm in the environment of one node, without the choice, except of an algorithm that replaces it if it
/// refuses.
void drive_algorithm(Comm const& comm, AlgorithmRow const& algorithm, AnyArgs args);

}   // namespace tutti::coll::test
