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

bool fewer_cores_than(int ranks)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < ranks;
}

} // namespace

SharedPage::SharedPage(MPI_Comm comm)
    : rank_(rank_in(comm)), ranks_(ranks_of(comm)), crowded_(fewer_cores_than(ranks_)),
      memory_(comm, sizeof(Line) * std::size_t(ranks_)), lines_(static_cast<Line *>(memory_.data()))
{
}

void SharedPage::await(int rank) const
{
    for (int polls = 0; lines_[rank].arrived.load(std::memory_order_acquire) < count_; ++polls)
        if (crowded_ || polls > 1000)
            sched_yield();
}

} // namespace bench
