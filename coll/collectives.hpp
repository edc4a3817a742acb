// SPDX-License-Identifier: BSD-3-Clause
// The blocking collectives as the front door calls them: choose an algorithm, drive it. Arguments are checked already.
#pragma once

#include "coll/agree.hpp"
#include "coll/arguments.hpp"
#include "runtime/comm.hpp"

namespace tutti::coll {

void bcast(Comm& comm, BcastArgs& args);
/// `args.in` null: in place (at the root for reduce, everywhere for the others); parameters are filled in here.
void reduce(Comm& comm, ReduceArgs& args);
void allreduce(Comm& comm, ReduceArgs& args);
void scan(Comm& comm, ReduceArgs& args);
void exscan(Comm& comm, ReduceArgs& args);
void reduce_scatter(Comm& comm, ReduceScatterArgs& args);
void gather(Comm& comm, RootedArgs& args);
void scatter(Comm& comm, RootedArgs& args);
void allgather(Comm& comm, AllgatherArgs& args);
void alltoall(Comm& comm, AlltoallArgs& args);

}  // namespace tutti::coll
