/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of group functions: each returns its error class. */
// ranks: 2
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Group world, freed, result;
    int n, ranks[3] = {0, 1, 0}, outside[1] = {2};
    int ranges[1][3] = {{0, 1, 0}}, overlapping[2][3] = {{0, 1, 1}, {1, 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, ranks, &freed);
    MPI_Group copy = freed;
    MPI_Group_free(&freed);

    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &n));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(copy, &n));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_COMM_WORLD, &n));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&freed));
    FAILS(MPI_ERR_GROUP, MPI_Group_union(world, MPI_GROUP_NULL, &result));
    FAILS(MPI_ERR_GROUP, MPI_Group_compare(MPI_GROUP_NULL, world, &n));
    FAILS(MPI_ERR_ARG, MPI_Group_size(world, NULL));
    FAILS(MPI_ERR_ARG, MPI_Group_rank(world, NULL));
    FAILS(MPI_ERR_ARG, MPI_Group_union(world, world, NULL));
    FAILS(MPI_ERR_ARG, MPI_Group_incl(world, -1, ranks, &result));
    FAILS(MPI_ERR_ARG, MPI_Group_incl(world, 1, NULL, &result));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 3, ranks, &result));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(world, 1, outside, &result));
    FAILS(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, ranges, &result));
    FAILS(MPI_ERR_RANK, MPI_Group_range_incl(world, 2, overlapping, &result));
    FAILS(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, outside, world, &n));
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
