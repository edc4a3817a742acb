/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Status_get_source and the other field functions, also before MPI_Init and after MPI_Finalize. */
// ranks: 1 2 4
#include "tests/ranks/check.h"

static void set_and_get(void) {
    MPI_Status s;
    int source = 0, tag = 0, error = 0;
    CHECK(MPI_Status_set_source(&s, 11) == MPI_SUCCESS && s.MPI_SOURCE == 11, "source %d", s.MPI_SOURCE);
    CHECK(MPI_Status_set_tag(&s, 12) == MPI_SUCCESS && s.MPI_TAG == 12, "tag %d", s.MPI_TAG);
    CHECK(MPI_Status_set_error(&s, 13) == MPI_SUCCESS && s.MPI_ERROR == 13, "error %d", s.MPI_ERROR);
    MPI_Status_get_source(&s, &source);
    MPI_Status_get_tag(&s, &tag);
    MPI_Status_get_error(&s, &error);
    CHECK(source == 11 && tag == 12 && error == 13, "%d %d %d", source, tag, error);
}

int main(int argc, char **argv) {
    int me, size, source = 0, tag = 0;
    set_and_get();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Status s;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 5, &tag, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &s);
    MPI_Status_get_source(&s, &source);
    MPI_Status_get_tag(&s, &tag);
    CHECK(source == (me + size - 1) % size && tag == 5, "%d %d", source, tag);
    FAILS(MPI_ERR_ARG, MPI_Status_get_source(NULL, &source));
    FAILS(MPI_ERR_ARG, MPI_Status_get_tag(MPI_STATUS_IGNORE, &tag));
    FAILS(MPI_ERR_ARG, MPI_Status_get_error(&s, NULL));
    FAILS(MPI_ERR_ARG, MPI_Status_set_source(MPI_STATUS_IGNORE, 1));
    FAILS(MPI_ERR_ARG, MPI_Status_set_tag(NULL, 1));
    FAILS(MPI_ERR_ARG, MPI_Status_set_error(NULL, 1));
    MPI_Finalize();
    set_and_get();
    return 0;
}
