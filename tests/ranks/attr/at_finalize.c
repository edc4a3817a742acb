/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, in reverse order of their setting, while MPI still
 * works. */
// ranks: 1 3
#include "tests/ranks/check.h"

static int seen;

static int erase(MPI_Comm comm, int key, void *value, void *state) {
    int size, finalized, sum = 0, one = 1;
    MPI_Finalized(&finalized);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(!finalized && sum == size && comm == MPI_COMM_SELF, "finalized %d, sum %d, comm %x", finalized, sum, comm);
    CHECK((int)(MPI_Aint)value == 4 - seen, "deletion %d is of %d", seen, (int)(MPI_Aint)value);
    ++seen;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (MPI_Aint i = 0; i < 5; ++i) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, erase, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)i);
        MPI_Comm_free_keyval(&key);
    }
    MPI_Finalize();
    CHECK(seen == 5, "%d attributes were deleted", seen);
    return 0;
}
