/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of communicator functions: each returns its error class, and no rank is left waiting. */
// ranks: 2
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm comm, freed, made = MPI_COMM_NULL, world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    MPI_Group group, all;
    char name[MPI_MAX_OBJECT_NAME];
    int n, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed = comm;
    MPI_Comm_free(&comm);

    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank(freed, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank(MPI_INT, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank(12345, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &n));
    FAILS(MPI_ERR_ARG, MPI_Comm_size(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_rank(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_group(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&made));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&world));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&self));
    CHECK(world == MPI_COMM_WORLD && self == MPI_COMM_SELF, "handles %x %x", world, self);
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_group(MPI_COMM_WORLD, &group));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, 77, 0, MPI_INFO_NULL, &made));
    FAILS(MPI_ERR_ARG, MPI_Comm_set_name(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_get_name(MPI_COMM_WORLD, name, NULL));
    FAILS(MPI_ERR_INFO, MPI_Comm_set_info(MPI_COMM_WORLD, MPI_INFO_NULL));
    FAILS(MPI_ERR_INFO, MPI_Comm_dup_with_info(MPI_COMM_WORLD, 12345, &made));

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, all, &made));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_group(MPI_COMM_SELF, all, 0, &made));
    FAILS(MPI_ERR_TAG, MPI_Comm_create_group(MPI_COMM_WORLD, all, -1, &made));
    CHECK(made == MPI_COMM_NULL, "handle %x after failures", made);
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
