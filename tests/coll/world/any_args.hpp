// SPDX-License-Identifier: BSD-3-Clause
// The arguments of any collective, so that the code that runs a case is compiled once and not per type of arguments.
#pragma once

#include <variant>

#include "coll/env/arguments.hpp"

namespace tutti::coll::test {

/// A reference to the arguments of a call; std::visit passes a pointer to them.
struct AnyArgs : std::variant<BarrierArgs const*, BcastArgs const*, ReduceArgs const*, ReduceScatterArgs const*,
                              RootedArgs const*, AllgatherArgs const*, AlltoallArgs const*,
                              NeighborAllgatherArgs const*, NeighborAlltoallArgs const*> {
    template <class Args>
    requires std::is_base_of_v<CommonArgs, Args> AnyArgs(Args const& args) : variant(&args) {}
};

}   // namespace tutti::coll::test
