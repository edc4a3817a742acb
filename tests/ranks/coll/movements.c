// SPDX-License-Identifier: BSD-3-Clause
// Broadcast, gather, scatter, allgather, alltoall and their v and w variants: sizes around each algorithm threshold,
// dense and strided types on either side, all roots, in place, and on several communicators.
// ranks: 1 2 3 4 8
// run receiver_reading: 2 3 4
// run receiver_reading: TUTTI_COLL_GATHER=receiver_reading:piece=4K TUTTI_COLL_ALLTOALL=rotated:direct=1K
// run receiver_reading: TUTTI_COLL_ALLGATHER=receiver_reading:piece=1K
// run small_pieces: 3
// run small_pieces: TUTTI_ARENA=no TUTTI_CMA=no TUTTI_COLL_GATHER=sender_writing:piece=1
// run small_pieces: TUTTI_COLL_ALLTOALL=rotated:piece=1 TUTTI_COLL_SCATTER=receiver_reading:piece=1
// run small_pieces: TUTTI_COLL_ALLGATHER=receiver_reading:piece=1
// run staged: 2 3 4 TUTTI_CMA=no
#include "tests/ranks/coll/patterns.h"

static const int sizes[] = {0, 1, 2, 14, 100, 2047, 2048, 2049, 9000, 60000};
enum { n_sizes = sizeof sizes / sizeof *sizes };

static MPI_Comm comm;
static int rank, size;

static void fill(int *b, int at, int n, int gap, int from, int to) {
    for (int k = 0; k < n; ++k) b[(at + k) * (1 + gap)] = pattern(from, to, k);
}

static void bcast(int n, int gap, MPI_Datatype t) {
    for (int root = 0; root < size; ++root) {
        int *b = filled(n, gap);
        if (rank == root) fill(b, 0, n, gap, root, n);
        MPI_Bcast(b, n, t, root, comm);
        check_filled(b, 0, n, gap, root, n, "Bcast", root);
        free(b);
    }
}

static void gather(int n, int gap, MPI_Datatype t) {
    for (int root = 0; root < size; ++root) {
        for (int in_place = 0; in_place < 2; ++in_place) {
            int *mine = filled(n, 0), *all = filled(n * size, gap);
            fill(mine, 0, n, 0, rank, root);
            if (rank == root && in_place) fill(all, rank * n, n, gap, rank, root);
            MPI_Gather(rank == root && in_place ? MPI_IN_PLACE : mine, n, MPI_INT, rank == root ? all : NULL, n, t,
                       root, comm);
            for (int i = 0; i < size && rank == root; ++i) check_filled(all, i * n, n, gap, i, root, "Gather", root);
            free(mine), free(all);

            mine = filled(n, gap), all = filled(n * size, 0);
            for (int i = 0; i < size; ++i) fill(all, i * n, n, 0, root, i);
            MPI_Scatter(all, n, MPI_INT, rank == root && in_place ? MPI_IN_PLACE : mine, n, t, root, comm);
            if (!(rank == root && in_place)) check_filled(mine, 0, n, gap, root, rank, "Scatter", root);
            free(mine), free(all);
        }
    }
}

/* Rank i has n·(i % 3) / 2 elements; blocks are in reverse order with one element between them. */
static int part(int n, int i) { return n * (i % 3) / 2; }
static int layout(int n, int *counts, int *displs) {
    int next = 0;
    for (int i = size - 1; i >= 0; --i) {
        counts[i] = part(n, i);
        displs[i] = next;
        next += counts[i] + 1;
    }
    return next;
}

static void gatherv(int n, int gap, MPI_Datatype t) {
    int counts[64], displs[64], room = layout(n, counts, displs), mine_n = counts[rank];
    for (int root = 0; root < size; ++root) {
        for (int in_place = 0; in_place < 2; ++in_place) {
            int own = rank == root && in_place;
            int *mine = filled(mine_n, 0), *all = filled(room, gap);
            fill(own ? all : mine, own ? displs[rank] : 0, mine_n, own ? gap : 0, rank, root);
            MPI_Gatherv(own ? MPI_IN_PLACE : mine, mine_n, MPI_INT, all, counts, displs, t, root, comm);
            for (int i = 0; i < size && rank == root; ++i)
                check_filled(all, displs[i], counts[i], gap, i, root, "Gatherv", root);
            free(mine), free(all);

            mine = filled(mine_n, gap), all = filled(room, 0);
            for (int i = 0; i < size; ++i) fill(all, displs[i], counts[i], 0, root, i);
            MPI_Scatterv(all, counts, displs, MPI_INT, own ? MPI_IN_PLACE : mine, mine_n, t, root, comm);
            if (!own) check_filled(mine, 0, mine_n, gap, root, rank, "Scatterv", root);
            free(mine), free(all);
        }
    }
}

static void allgather(int n, int gap, MPI_Datatype t) {
    int counts[64], displs[64], room = layout(n, counts, displs);
    for (int in_place = 0; in_place < 2; ++in_place) {
        int *mine = filled(n, 0), *all = filled(n * size, gap);
        fill(in_place ? all : mine, in_place ? rank * n : 0, n, in_place ? gap : 0, rank, 0);
        MPI_Allgather(in_place ? MPI_IN_PLACE : mine, n, MPI_INT, all, n, t, comm);
        for (int i = 0; i < size; ++i) check_filled(all, i * n, n, gap, i, 0, "Allgather", -1);
        free(mine), free(all);

        mine = filled(counts[rank], 0), all = filled(room, gap);
        fill(in_place ? all : mine, in_place ? displs[rank] : 0, counts[rank], in_place ? gap : 0, rank, 0);
        MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, counts[rank], MPI_INT, all, counts, displs, t, comm);
        for (int i = 0; i < size; ++i) check_filled(all, displs[i], counts[i], gap, i, 0, "Allgatherv", -1);
        free(mine), free(all);
    }
}

static void alltoall(int n, int gap, MPI_Datatype t) {
    for (int in_place = 0; in_place < 2; ++in_place) {
        int *send = filled(n * size, 0), *receive = filled(n * size, gap);
        for (int i = 0; i < size; ++i) fill(in_place ? receive : send, i * n, n, in_place ? gap : 0, rank, i);
        MPI_Alltoall(in_place ? MPI_IN_PLACE : send, n, MPI_INT, receive, n, t, comm);
        for (int i = 0; i < size; ++i) check_filled(receive, i * n, n, gap, i, rank, "Alltoall", -1);
        free(send), free(receive);
    }
}

/* Ranks i and j exchange n·((i + j) % 3) / 2 elements in either direction, so that in-place calls have the same
 * counts. */
static void alltoallv(int n, int gap, MPI_Datatype t) {
    int counts[64], displs[64], bytes[64], send_bytes[64], next = 0;
    MPI_Datatype ints[64], spaced[64];
    for (int i = 0; i < size; ++i) {
        counts[i] = part(n, rank + i);
        displs[i] = next;
        send_bytes[i] = next * (int)sizeof(int);
        bytes[i] = send_bytes[i] * (1 + gap);
        next += counts[i] + 1;
        ints[i] = MPI_INT;
        spaced[i] = t;
    }
    for (int in_place = 0; in_place < 2; ++in_place) {
        for (int typed = 0; typed < 2; ++typed) {
            int *send = filled(next, 0), *receive = filled(next, gap);
            for (int i = 0; i < size; ++i)
                fill(in_place ? receive : send, displs[i], counts[i], in_place ? gap : 0, rank, i);
            void *from = in_place ? MPI_IN_PLACE : send;
            if (typed) MPI_Alltoallw(from, counts, send_bytes, ints, receive, counts, bytes, spaced, comm);
            else MPI_Alltoallv(from, counts, displs, MPI_INT, receive, counts, displs, t, comm);
            for (int i = 0; i < size; ++i)
                check_filled(receive, displs[i], counts[i], gap, i, rank, typed ? "Alltoallw" : "Alltoallv", -1);
            free(send), free(receive);
        }
    }
}

static void all_on(MPI_Comm c) {
    comm = c;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int s = 0; s < n_sizes; ++s) {
        if (size > 4 && sizes[s] > 20000) continue;
        for (int gap = 0; gap < 3; gap += 2) {
            MPI_Datatype t = spaced_int(gap);
            bcast(sizes[s], gap, t);
            gather(sizes[s], gap, t);
            gatherv(sizes[s], gap, t);
            allgather(sizes[s], gap, t);
            alltoall(sizes[s], gap, t);
            alltoallv(sizes[s], gap, t);
            MPI_Type_free(&t);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for_communicators(all_on);
    MPI_Finalize();
    return 0;
}
