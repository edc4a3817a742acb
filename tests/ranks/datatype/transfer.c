// SPDX-License-Identifier: BSD-3-Clause
// Sends datatypes of many layouts between two ranks. The received data is what MPI_Pack produces, in any layout of the
// same signature and of any size; partial messages are counted in elements.
// ranks: 2
#include "tests/ranks/check.h"
#include <string.h>

enum { shapes = 7, room = 1 << 20 };

/// Datatypes of `n` doubles each, in different layouts within `room` bytes of the origin.
static MPI_Datatype shape(int which, int n) {
    MPI_Datatype t, u;
    int *ones = malloc(n * sizeof(int)), *places = malloc(n * sizeof(int));
    for (int i = 0; i < n; ++i) ones[i] = 1, places[i] = i % 2 ? 2 * i + 1 : 2 * i;
    switch (which) {
    case 0: MPI_Type_contiguous(n, MPI_DOUBLE, &t); break;
    case 1: MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &t); break;
    case 2: MPI_Type_indexed(n, ones, places, MPI_DOUBLE, &t); break;
    case 3: {   // in reverse order
        MPI_Aint back = (MPI_Aint)8 * (n - 1);
        int one = 1;
        MPI_Type_create_hvector(n, 1, -8, MPI_DOUBLE, &u);
        MPI_Type_create_hindexed(1, &one, &back, u, &t);
        MPI_Type_free(&u);
        break;
    }
    case 4: {   // blocks of two sizes with a gap
        int blocks[2] = {1, n - 1};
        MPI_Aint at[2] = {16, 100};
        MPI_Type_create_hindexed(2, blocks, at, MPI_DOUBLE, &t);
        break;
    }
    case 5: {   // a struct of two halves
        int blocks[2] = {n / 2, n - n / 2};
        MPI_Aint at[2] = {8 * (n - n / 2) + 64, 0};
        MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_DOUBLE};
        MPI_Type_create_struct(2, blocks, at, parts, &t);
        break;
    }
    default: {   // a column of a matrix
        int sizes[2] = {n, 5}, some[2] = {n, 1}, start[2] = {0, 3};
        MPI_Type_create_subarray(2, sizes, some, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    }
    }
    MPI_Type_commit(&t);
    free(ones);
    free(places);
    return t;
}

static void between(int rank, int from, int to, int n, char *field, char *packed, char *expected) {
    MPI_Datatype sent = shape(from, n), received = shape(to, n);
    int position = 0;
    double *values = (double *)field;
    if (rank == 0) {
        for (int i = 0; i < room / 8; ++i) values[i] = i * 0.5 + from;
        MPI_Send(field, 1, sent, 1, 5, MPI_COMM_WORLD);
        MPI_Pack(field, 1, sent, packed, room, &position, MPI_COMM_WORLD);
        MPI_Send(packed, 8 * n, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        int elements;
        memset(field, 0, room);
        MPI_Recv(field, 1, received, 0, 5, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, received, &elements);
        CHECK(elements == n, "%d elements instead of %d", elements, n);
        MPI_Recv(expected, 8 * n, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pack(field, 1, received, packed, room, &position, MPI_COMM_WORLD);
        CHECK(position == 8 * n, "%d bytes", position);
        CHECK(memcmp(packed, expected, 8 * n) == 0, "shape %d to shape %d, %d doubles", from, to, n);
    }
    MPI_Type_free(&sent);
    MPI_Type_free(&received);
}

static void partial(int rank) {
    int blocks[3] = {2, 1, 1}, count, elements;
    MPI_Aint places[3] = {0, 8, 16};
    MPI_Datatype parts[3] = {MPI_INT, MPI_DOUBLE, MPI_INT}, type, longer;
    struct { int two[2]; double one; } into[3] = {{{1, 2}, 3}, {{4, 5}, 6}};
    MPI_Status status;
    MPI_Type_create_struct(2, blocks, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_create_struct(3, blocks, places, parts, &longer);
    MPI_Type_commit(&longer);
    if (rank == 0) {
        MPI_Send(into, 1, longer, 1, 7, MPI_COMM_WORLD);   // one struct and one int of the next one
    } else {
        memset(into, 0, sizeof into);
        MPI_Recv(into, 3, type, 0, 7, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, type, &count);
        MPI_Get_elements(&status, type, &elements);
        CHECK(count == MPI_UNDEFINED && elements == 4, "count %d, elements %d", count, elements);
        CHECK(into[0].two[1] == 2 && into[0].one == 3, "%d %g", into[0].two[1], into[0].one);
        CHECK(into[1].two[0] == 4 && into[1].two[1] == 0, "%d %d", into[1].two[0], into[1].two[1]);
    }
    MPI_Type_free(&longer);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    int rank, sizes[] = {3, 100, 3000, 20000};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *field = malloc(room), *packed = malloc(room), *expected = malloc(room);
    for (int s = 0; s < 4; ++s)
        for (int from = 0; from < shapes; ++from)
            for (int to = 0; to < shapes; ++to) between(rank, from, to, sizes[s], field, packed, expected);
    partial(rank);
    free(field);
    free(packed);
    free(expected);
    MPI_Finalize();
    return 0;
}
