// SPDX-License-Identifier: BSD-3-Clause
// Making a communicator and freeing it again, as one call: what one of the two leaves to the other is counted so.
#include "operation.hpp"

namespace bench {
namespace {

int half_of(const Call &c) { return c.rank < (c.ranks + 1) / 2 ? 0 : 1; }
int ranks_in_half(const Call &c) { return half_of(c) == 0 ? (c.ranks + 1) / 2 : c.ranks / 2; }
int rank_in_half(const Call &c) { return half_of(c) == 0 ? c.rank : c.rank - (c.ranks + 1) / 2; }

MPI_Group group_of_my_half(const Call &c)
{
    int range[1][3] = {{c.rank - rank_in_half(c), c.rank - rank_in_half(c) + ranks_in_half(c) - 1, 1}};
    MPI_Group all, half;
    MPI_Comm_group(c.comm, &all);
    MPI_Group_range_incl(all, 1, range, &half);
    MPI_Group_free(&all);
    return half;
}

MPI_Comm dup(const Call &c)
{
    MPI_Comm copy;
    MPI_Comm_dup(c.comm, &copy);
    return copy;
}
MPI_Comm split(const Call &c)
{
    MPI_Comm half;
    MPI_Comm_split(c.comm, half_of(c), c.rank, &half);
    return half;
}
MPI_Comm create(const Call &c)
{
    MPI_Group group = group_of_my_half(c);
    MPI_Comm half;
    MPI_Comm_create(c.comm, group, &half);
    MPI_Group_free(&group);
    return half;
}
MPI_Comm create_group(const Call &c)
{
    MPI_Group group = group_of_my_half(c);
    MPI_Comm half;
    MPI_Comm_create_group(c.comm, group, 0, &half);
    MPI_Group_free(&group);
    return half;
}

template <MPI_Comm (*make)(const Call &)>
void run(const Call &c)
{
    MPI_Comm made = make(c);
    MPI_Comm_free(&made);
}

// One more, which is looked at and used: of the right size, this rank in its place, and a sum of exactly its ranks.
template <MPI_Comm (*make)(const Call &), bool halves>
std::string examine(const Call &c)
{
    MPI_Comm made = make(c);
    int rank = -1, ranks = -1;
    if (made != MPI_COMM_NULL) {
        MPI_Comm_rank(made, &rank);
        MPI_Comm_size(made, &ranks);
    }
    const int own_rank = halves ? rank_in_half(c) : c.rank, own_ranks = halves ? ranks_in_half(c) : c.ranks;
    int good = rank == own_rank && ranks == own_ranks, all_good = 0;
    // All ranks look or none, so that nobody waits in a communicator that others have not got.
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, c.comm);
    if (!all_good)
        return "a communicator of another size or order than asked for";
    int sum = 0, own_sum = 0;
    const int first = c.rank - own_rank;
    for (int member = first; member < first + own_ranks; ++member)
        own_sum += member;
    MPI_Allreduce(&c.rank, &sum, 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_free(&made);
    good = sum == own_sum;
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, c.comm);
    return all_good ? "" : "a sum over other ranks than those of the communicator";
}

template <MPI_Comm (*make)(const Call &), bool halves>
Operation record(const std::string &name, const std::string &sentence)
{
    Operation operation{name, sentence, Blocks::none, Blocks::none, false, 1, run<make>, nullptr, nullptr};
    operation.examine = examine<make, halves>;
    return operation;
}

} // namespace

std::vector<Operation> communicator_operations()
{
    return {
        record<dup, false>("comm_dup", "MPI_Comm_dup, and MPI_Comm_free of the copy"),
        record<split, true>("comm_split", "MPI_Comm_split into two halves, and MPI_Comm_free"),
        record<create, true>("comm_create", "MPI_Comm_create of each rank's half, with its group, and MPI_Comm_free"),
        record<create_group, true>("comm_create_group", "the same by MPI_Comm_create_group"),
    };
}

} // namespace bench
