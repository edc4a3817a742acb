// SPDX-License-Identifier: BSD-3-Clause
#include "shared_page.hpp"

#include <sched.h>

namespace bench {
namespace {

int rank_in(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int ranks_of(MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

// Of all ranks together: where each one is bound to its own core, there is room for all.
bool fewer_cores_than(int ranks, MPI_Comm comm)
{
    cpu_set_t mine, all;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        CPU_ZERO(&mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, comm);
    return CPU_COUNT(&all) < ranks;
}

} // namespace

SharedPage::SharedPage(MPI_Comm comm)
    : rank_(rank_in(comm)), ranks_(ranks_of(comm)), crowded_(fewer_cores_than(ranks_, comm)),
      memory_(comm, sizeof(Line) * std::size_t(ranks_)), lines_(static_cast<Line *>(memory_.data()))
{
}

} // namespace bench
