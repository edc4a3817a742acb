/* SPDX-License-Identifier: BSD-3-Clause */
/* Correct programs with random collectives on several communicators, which must cause no diagnostic. Arguments differ
 * between ranks wherever MPI allows it. */
// ranks: 1 2 3 5 8
#include <stdint.h>

#include "tests/ranks/comm/node.h"

enum { max_ranks = 8, n = 12, steps = 3000, most_requests = 40 };

static int rank, size, in[n * max_ranks], out[n * max_ranks], counts[max_ranks], displs[max_ranks];
static int byte_displs[max_ranks];
static uint64_t all, mine; /* random states: the same at all ranks, and this rank's own */
static MPI_Datatype four, four_again, pair, types[max_ranks], own_types[max_ranks];
static MPI_Op first;
static MPI_Request requests[most_requests];
static int results[most_requests];
static int started;

static int below(uint64_t* state, int limit) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (uint64_t)limit);
}

static void take_first(void* a, void* b, int* length, MPI_Datatype* type) {
    (void)type;
    memcpy(b, a, sizeof(int) * (size_t)*length);
}

/* Twelve integers, as one of several datatypes. */
static MPI_Datatype twelve(int* count) {
    switch (below(&mine, 4)) {
    case 0: *count = 3; return four;
    case 1: *count = 6; return pair;
    case 2: *count = 12; return MPI_INT32_T;
    }
    *count = 12;
    return MPI_INT;
}

static void wait_for_all(void) {
    MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
    started = 0;
}
static MPI_Request* next_request(void) {
    if (started == most_requests) wait_for_all();
    return &requests[started++];
}

static void any_counts(int ranks) {
    for (int i = 0; i < ranks; ++i) counts[i] = 1 + i % 3;
}

static void one_to_all(MPI_Comm comm, int me, int root) {
    int count;
    MPI_Datatype type = twelve(&count);
    int bytes = below(&mine, 3) == 0;
    switch (below(&all, 5)) {
    case 0: MPI_Bcast(in, bytes ? 48 : count, bytes ? MPI_BYTE : type, root, comm); break;
    case 1:
        MPI_Ibcast(in, count, type, root, comm, next_request());
        wait_for_all();
        break;
    case 2: MPI_Bcast(in, 0, me % 2 ? MPI_INT : MPI_DOUBLE, root, comm); break;
    case 3:
        MPI_Scatter(me == root ? in : NULL, me == root ? 12 : -1, me == root ? MPI_INT : MPI_DATATYPE_NULL, out, count,
                    type, root, comm);
        break;
    case 4:
        MPI_Scatterv(in, counts, displs, me == root ? MPI_INT : MPI_DOUBLE, out, 1 + me % 3, MPI_INT, root, comm);
        break;
    }
}

static void all_to_one(MPI_Comm comm, int me, int root) {
    int count, in_place = me == root && below(&mine, 2);
    MPI_Datatype type = twelve(&count);
    switch (below(&all, 4)) {
    case 0:
        MPI_Gather(in_place ? MPI_IN_PLACE : in, in_place ? 77 : count, in_place ? MPI_DOUBLE : type, out,
                   me == root ? 12 : 99, MPI_INT, root, comm);
        break;
    case 1: MPI_Gatherv(in, 1 + me % 3, MPI_INT, out, me == root ? counts : NULL, displs, MPI_INT, root, comm); break;
    case 2: MPI_Reduce(in_place ? MPI_IN_PLACE : in, me == root ? out : NULL, 12, MPI_INT, MPI_SUM, root, comm); break;
    case 3:
        MPI_Ireduce(in, out, 5, MPI_INT, first, root, comm, next_request());
        wait_for_all();
        break;
    }
}

static void all_to_all(MPI_Comm comm, int ranks, int me) {
    int count, in_place = below(&all, 2), part;
    MPI_Datatype type = twelve(&count), receive = twelve(&part);
    switch (below(&all, 6)) {
    case 0: MPI_Allgather(in_place ? MPI_IN_PLACE : in, count, type, out, part, receive, comm); break;
    case 1:
        MPI_Allgatherv(in, 1 + me % 3, MPI_INT, out, counts, displs, below(&mine, 2) ? MPI_INT : MPI_INTEGER, comm);
        break;
    case 2: MPI_Alltoall(in_place ? MPI_IN_PLACE : in, 12, MPI_INT, out, part, receive, comm); break;
    case 3:
        for (int i = 0; i < ranks; ++i) counts[i] = 1 + (i + me) % 4;
        MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm);
        any_counts(ranks);
        break;
    case 4:
        for (int i = 0; i < ranks; ++i) counts[i] = (i + me) % 2;
        MPI_Alltoallw(in, counts, byte_displs, types, out, counts, byte_displs, own_types, comm);
        any_counts(ranks);
        break;
    case 5:
        MPI_Ialltoall(in, 1, MPI_INT, out, 4, me % 2 ? MPI_BYTE : MPI_PACKED, comm, next_request());
        wait_for_all();
        break;
    }
}

static void reductions(MPI_Comm comm, int ranks, int me) {
    int in_place = below(&all, 2);
    MPI_Request request;
    switch (below(&all, 7)) {
    case 0: MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, 8, MPI_INT, MPI_MAX, comm); break;
    case 1: MPI_Allreduce(in, out, 8, below(&mine, 2) ? MPI_INT : MPI_INT32_T, MPI_MAX, comm); break;
    case 2: MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm); break;
    case 3: MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, comm); break;
    case 4: MPI_Scan(in, out, 2, MPI_INT, first, comm); break;
    case 5: MPI_Exscan(in, me == 0 ? NULL : out, 2, MPI_INT, MPI_SUM, comm); break;
    case 6:
        MPI_Allreduce_init(in, out, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        for (int i = 0; i < 3; ++i) {
            MPI_Start(&request);
            MPI_Barrier(comm); /* the starts need no order relative to this */
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
        break;
    }
    (void)ranks;
}

/* Many calls without synchronization, so that ranks are far apart. */
static void barriers(MPI_Comm comm, int root) {
    int const many = 1 + below(&all, 60);
    int word = 0;
    for (int i = 0; i < many; ++i) switch (below(&all, 3)) {
        case 0: MPI_Ibarrier(comm, next_request()); break;
        case 1: MPI_Bcast(&word, 1, MPI_INT, root, comm); break;
        case 2: {
            MPI_Request* const request = next_request();
            MPI_Iexscan(in, &results[request - requests], 1, MPI_INT, MPI_MAX, comm, request);
            break;
        }
        }
    wait_for_all();
}

static void make_and_free(MPI_Comm comm, int me) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    switch (below(&all, 4)) {
    case 0: MPI_Comm_dup(comm, &made); break;
    case 1: MPI_Comm_split(comm, me % 2 ? MPI_UNDEFINED : 0, -me, &made); break;
    case 2:
        MPI_Comm_idup(comm, &made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 3: MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &made); break;
    }
    if (made == MPI_COMM_NULL) return;
    MPI_Barrier(made);
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_free(&made);
}

static void between_groups(MPI_Comm inter, int low) {
    int const me = low ? rank : rank - (size + 1) / 2, from_low = below(&all, 2);
    int const root = low != from_low ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
    switch (below(&all, 6)) {
    case 0: MPI_Barrier(inter); break;
    case 1: MPI_Bcast(in, root == MPI_PROC_NULL ? 1 : 12, MPI_INT, root, inter); break;
    case 2:
        MPI_Reduce(in, out, root == MPI_PROC_NULL ? 1 : 12, MPI_INT, root == MPI_PROC_NULL ? MPI_MAX : MPI_SUM, root,
                   inter);
        break;
    case 3: MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, inter); break;
    case 4: MPI_Allgather(in, low ? 1 : 2, MPI_INT, out, low ? 2 : 1, MPI_INT, inter); break;
    case 5: MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, root, inter); break;
    }
}

static void step(MPI_Comm comm) {
    int ranks, me;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &me);
    any_counts(ranks);
    int const root = below(&all, ranks);
    switch (below(&all, 7)) {
    case 0: one_to_all(comm, me, root); break;
    case 1: all_to_one(comm, me, root); break;
    case 2: all_to_all(comm, ranks, me); break;
    case 3: reductions(comm, ranks, me); break;
    case 4: barriers(comm, root); break;
    case 5:
        if (below(&all, 8) == 0) make_and_free(comm, me);
        break;
    case 6: /* one call repeated */
        for (int i = below(&all, 40); i > 0; --i) MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm);
        break;
    }
}

static void free_all(MPI_Comm* reversed, MPI_Comm* half, MPI_Comm* grid, MPI_Comm* inter) {
    if (*inter != MPI_COMM_NULL) MPI_Comm_free(inter);
    MPI_Comm_free(grid);
    MPI_Comm_free(half);
    MPI_Comm_free(reversed);
    MPI_Op_free(&first);
    MPI_Type_free(&pair);
    MPI_Type_free(&four_again);
    MPI_Type_free(&four);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = 7;
    mine = (uint64_t)rank + 11;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_vector(2, 1, 1, MPI_INT, &pair);
    MPI_Type_contiguous(2, pair, &four_again);
    MPI_Type_commit(&four);
    MPI_Type_commit(&four_again);
    MPI_Type_commit(&pair);
    MPI_Op_create(take_first, 0, &first);
    for (int i = 0; i < max_ranks; ++i) {
        displs[i] = i * 4;
        byte_displs[i] = i * 16;
        types[i] = four;
        own_types[i] = i % 2 ? four : four_again;
    }
    MPI_Comm const world = MPI_COMM_WORLD;
    MPI_Comm reversed, grid, inter = MPI_COMM_NULL, half;
    int const periodic = 1, low = rank < (size + 1) / 2;
    MPI_Comm_split(world, 0, -rank, &reversed);
    MPI_Comm_split(world, low, rank, &half);
    MPI_Cart_create(world, 1, &size, &periodic, 0, &grid);
    if (size > 1) MPI_Intercomm_create(half, 0, world, low ? (size + 1) / 2 : 0, 5, &inter);
    int const taken = size > 4 || !is_single_node() ? steps / 4 : steps;
    for (int i = 0; i < taken; ++i) {
        switch (below(&all, 6)) {
        case 0: step(world); break;
        case 1: step(reversed); break;
        case 2: { /* the halves make different calls */
            uint64_t const kept = all;
            all = kept + (uint64_t)low;
            for (int k = 0; k < 3; ++k) step(half);
            all = kept + 99;
            break;
        }
        case 3: step(grid); break;
        case 4: MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, grid); break;
        case 5:
            if (size > 1) between_groups(inter, low);
            break;
        }
    }
    free_all(&reversed, &half, &grid, &inter);
    MPI_Finalize();
    return 0;
}
