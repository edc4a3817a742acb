/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined attributes: pointers to ints, readable on any communicator, and read-only. MPI_WTIME_IS_GLOBAL is false on
 * several nodes. */
// ranks: 1 3
#include "../comm/node.h"

static int get(MPI_Comm comm, int key) {
    int *value = NULL, flag = 0;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag && value, "key %x: flag %d", key, flag);
    return *value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size, flag, key, type_key, added, code;
    void *value;
    MPI_Comm copy;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int ranks[8] = {0, 1, 2, 3, 4, 5, 6, 7}, one_node = keep_ranks_on_node(size, ranks) == size;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm all[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, copy};
    for (int i = 0; i < 3; ++i) {
        CHECK(get(all[i], MPI_TAG_UB) >= 32767, "MPI_TAG_UB is %d", get(all[i], MPI_TAG_UB));
        CHECK(get(all[i], MPI_HOST) == MPI_PROC_NULL, "MPI_HOST is %d", get(all[i], MPI_HOST));
        CHECK(get(all[i], MPI_IO) == MPI_ANY_SOURCE, "MPI_IO is %d", get(all[i], MPI_IO));
        CHECK(get(all[i], MPI_WTIME_IS_GLOBAL) == one_node, "MPI_WTIME_IS_GLOBAL is %d of %d ranks, %s node",
              get(all[i], MPI_WTIME_IS_GLOBAL), size, one_node ? "one" : "not one");
        CHECK(get(all[i], MPI_UNIVERSE_SIZE) == size, "MPI_UNIVERSE_SIZE is %d", get(all[i], MPI_UNIVERSE_SIZE));
        CHECK(get(all[i], MPI_APPNUM) == 0, "MPI_APPNUM is %d", get(all[i], MPI_APPNUM));
    }
    int before = get(MPI_COMM_WORLD, MPI_LASTUSEDCODE);
    CHECK(before >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is %d", before);
    MPI_Add_error_class(&added);
    CHECK(get(MPI_COMM_WORLD, MPI_LASTUSEDCODE) == added && added > before, "MPI_LASTUSEDCODE is %d after class %d",
          get(MPI_COMM_WORLD, MPI_LASTUSEDCODE), added);
    MPI_Add_error_code(added, &code);
    CHECK(get(MPI_COMM_WORLD, MPI_LASTUSEDCODE) >= code, "MPI_LASTUSEDCODE is %d after code %d",
          get(MPI_COMM_WORLD, MPI_LASTUSEDCODE), code);

    /* Messages with the largest tag work. */
    int tag = get(MPI_COMM_WORLD, MPI_TAG_UB), out = 5, in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(in == 5, "got %d", in);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    key = MPI_TAG_UB;
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &out));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_IO));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&key));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, 1234, &value, &flag));
    MPI_Comm_create_keyval(NULL, NULL, &key, NULL);
    MPI_Type_create_keyval(NULL, NULL, &type_key, NULL);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, type_key, &out));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    FAILS(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_WORLD, key, NULL, &flag));
    FAILS(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_create_keyval(NULL, NULL, NULL, NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_set_attr(MPI_COMM_NULL, key, &out));
    MPI_Comm_free_keyval(&key);
    MPI_Type_free_keyval(&type_key);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&key));
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
