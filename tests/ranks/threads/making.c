// SPDX-License-Identifier: BSD-3-Clause
// Threads create and free communicators, datatypes, groups, attributes and keyvals concurrently, each from its own
// parent; different threads also use the same parent, one after the other.
// ranks: 1 2 4
#include "tests/ranks/threads/threads.h"

enum { threads = 8, rounds = 8 };

static MPI_Comm parents[threads];

static void check(MPI_Comm comm, int members) {
    int n, sum, one = 1;
    MPI_Comm_size(comm, &n);
    CHECK(n == members, "%d members instead of %d", n, members);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == members, "the sum over %d members is %d", members, sum);
}

/* Called inside MPI_Comm_dup and MPI_Comm_free; calls MPI itself. */
static int copied(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag) {
    int n;
    (void)keyval, (void)extra;
    MPI_Comm_size(comm, &n);
    CHECK(n == size, "%d members", n);
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    int got = -1, sent = 7;
    (void)comm, (void)keyval, (void)extra;
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(got == 7, "a message to this rank itself is %d", got);
    ++*(int *)value;
    return MPI_SUCCESS;
}

static void objects(int thread) {
    MPI_Datatype vector;
    MPI_Type_vector(3 + thread, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    int bytes, n = 2 * (3 + thread), *data = malloc(sizeof(int) * (size_t)n), *other = calloc((size_t)n, sizeof(int));
    MPI_Type_size(vector, &bytes);
    CHECK(bytes == 4 * (3 + thread), "%d bytes", bytes);
    fill(data, n, thread);
    MPI_Sendrecv(data, 1, vector, (me + 1) % size, thread, other, 1, vector, (me + size - 1) % size, thread,
                 parents[thread], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        CHECK(other[i] == (i % 2 ? 0 : data[i]), "element %d is %d", i, other[i]);
    MPI_Type_free(&vector);
    MPI_Info info;
    char value[16];
    int flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", thread % 2 ? "odd" : "even");
    MPI_Info_get(info, "key", 15, value, &flag);
    CHECK(flag && value[0] == (thread % 2 ? 'o' : 'e'), "the info value is %s", value);
    MPI_Info_free(&info);
    free(data), free(other);
}

static void making(int thread) {
    MPI_Comm parent = parents[thread], copy, half, group_comm, part;
    int keyval, deletions = 0;
    MPI_Comm_create_keyval(copied, deleted, &keyval, NULL);
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm_set_attr(parent, keyval, &deletions);
        MPI_Comm_dup(parent, &copy);
        check(copy, size);
        MPI_Comm_split(copy, (me + round) % 2, me, &half);
        int color = (me + round) % 2, members = 0;
        for (int r = 0; r < size; ++r) members += (r + round) % 2 == color;
        check(half, members);
        MPI_Group all, some;
        int first = 0;
        MPI_Comm_group(copy, &all);
        MPI_Group_incl(all, 1, &first, &some);
        MPI_Comm_create(copy, some, &part);
        CHECK((part != MPI_COMM_NULL) == (me == 0), "a communicator of rank 0 alone");
        MPI_Comm_create_group(parent, all, thread, &group_comm);
        check(group_comm, size);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
        if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
        MPI_Comm_free(&group_comm);
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
        MPI_Comm_delete_attr(parent, keyval);
        CHECK(deletions == 2 * (round + 1), "%d deletions", deletions);
        objects(thread);
    }
    MPI_Comm_free_keyval(&keyval);
}

/* One parent communicator, which one thread after the other duplicates. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void in_turn(int thread) {
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm made;
        pthread_mutex_lock(&turn_lock);
        while (turn % threads != thread) pthread_cond_wait(&turn_changed, &turn_lock);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        ++turn;
        pthread_cond_broadcast(&turn_changed);
        pthread_mutex_unlock(&turn_lock);
        check(made, size);
        MPI_Comm_free(&made);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &parents[t]);
    run_in_threads(threads, making);
    for (int t = 0; t < threads; ++t) MPI_Comm_free(&parents[t]);
    run_in_threads(threads, in_turn);
    MPI_Finalize();
    return 0;
}
