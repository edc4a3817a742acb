/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives that a program repeats reuse the checked arguments of an equal call: two alternating counts,
 * several roots and communicators, calls inside an operator, datatypes that are freed and whose handles are used again.
 * With an argument, threads may call MPI at the same time. */
// ranks: 2 3
// run multiple: 2 3 multiple
// run compared: 2 3 TUTTI_DIAGNOSIS=full
#include "tests/ranks/counter.h"

enum { rounds = 50, most = 9 };

static int size, me;

/* Sums the ranks in each of `count` elements, and checks the result. */
static void sum(int count, MPI_Comm comm) {
    int mine[most], all[most], n;
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < count; ++i) mine[i] = me + i, all[i] = -1;
    MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count && n == size; ++i)
        CHECK(all[i] == size * (size - 1) / 2 + i * size, "element %d of %d: %d", i, count, all[i]);
}

static void move(int count, int root) {
    int mine[most], all[16 * most], one[most];
    for (int i = 0; i < count; ++i) mine[i] = 100 * me + i;
    MPI_Gather(mine, count, MPI_INT, all, count, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < size && me == root; ++r)
        CHECK(all[r * count] == 100 * r, "rank %d's part: %d", r, all[r * count]);
    MPI_Scatter(all, count, MPI_INT, one, count, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(one[count - 1] == mine[count - 1], "scattered: %d", one[count - 1]);
    MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[(size - 1) * count] == 100 * (size - 1), "gathered: %d", all[(size - 1) * count]);
    for (int i = 0; i < size * count; ++i) all[i] = me;
    MPI_Alltoall(MPI_IN_PLACE, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[root * count] == root, "from %d: %d", root, all[root * count]);
    int value = me == root ? count : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == count, "from root %d: %d", root, value);
    int const term = me + 1;
    int total = 0;
    MPI_Reduce(&term, &total, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(me != root || total == size * (size + 1) / 2, "reduced: %d", total);
    MPI_Scan(&term, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == (me + 1) * (me + 2) / 2, "scanned: %d", total);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An operator that calls a collective with the arguments of the call that applies it, on another communicator. */
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    int one = 1, result = 0;
    MPI_Allreduce(&one, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i] * result;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);

    Counter bound = start_counter("tutti_coll_bound_calls");
    unsigned long long before = read_counter(bound);
    for (int i = 0; i < rounds; ++i) sum(1, MPI_COMM_WORLD), sum(2, MPI_COMM_WORLD), sum(2, copy);
    CHECK(read_counter(bound) - before == 3, "%llu calls were bound for two counts", read_counter(bound) - before);
    before = read_counter(bound);
    for (int i = 0; i < rounds; ++i)
        for (int root = 0; root < size; ++root) move(1, root);
    unsigned long long const roots = read_counter(bound) - before;
    CHECK(roots <= (unsigned)(4 * size + 4) * 2, "%llu calls were bound for %d roots", roots, size);

    /* Predefined objects stay the same objects while handles are freed. Handles of others are used again. */
    before = read_counter(bound);
    for (int i = 0; i < rounds; ++i) {
        MPI_Datatype vector;
        int many[most] = {0};
        int const n = i % 2 + 1;
        MPI_Type_vector(n, 1, 2, MPI_INT, &vector);
        MPI_Type_commit(&vector);
        for (int k = 0; k < n; ++k) many[2 * k] = me == 0 ? i + k : -1;
        MPI_Bcast(many, 1, vector, 0, MPI_COMM_WORLD);
        for (int k = 0; k < n; ++k) CHECK(many[2 * k] == i + k, "round %d, element %d: %d", i, k, many[2 * k]);
        MPI_Type_free(&vector);
        sum(1, MPI_COMM_WORLD);
    }
    CHECK(read_counter(bound) - before <= rounds + 1, "%llu calls were bound", read_counter(bound) - before);

    /* A changed communicator of the same handle. */
    for (int i = 0; i < 3; ++i) {
        MPI_Comm part;
        int all = 0;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? me : 0, 0, &part);
        MPI_Allreduce(&(int){1}, &all, 1, MPI_INT, MPI_SUM, part);
        CHECK(all == (i % 2 ? 1 : size), "communicator %d has %d ranks", i, all);
        MPI_Comm_free(&part);
    }

    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 3; ++i) {
        int all = 0, mine = 1;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, op, copy);
        CHECK(all == size, "with an operator that calls MPI: %d", all);
    }
    MPI_Op_free(&op);
    stop_counter(bound);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
