/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of counts, displacements and datatypes are overwritten, and the datatypes freed, directly after each
 * nonblocking or persistent call, while the operation cannot be complete: one rank after the other is late. On
 * intracommunicators, intercommunicators and topologies, with short and long lists. */
// ranks: 1 2 3 4 7
#include <string.h>

#include "tests/ranks/check.h"

enum { max_ranks = 16 };
enum { most_lists = 8, room = 4 * 16 * max_ranks, total = 40 };

static MPI_Comm comm;
static int me, size;                  /* in the world */
static int peers, peer[max_ranks * 16];   /* the world ranks that this rank exchanges blocks with */
static int inter, root_side, late, persistent, given[room], got[room];
static MPI_Request request;

static struct { void *list; size_t bytes; } lists[most_lists];
static int listed, typed;
static MPI_Datatype one;              /* a derived datatype of one int */

static void *list(size_t n, size_t each) {
    lists[listed].list = malloc(n * each + 1);
    lists[listed].bytes = n * each;
    return lists[listed++].list;
}

static int part(int from, int to) { return (from + 2 * to) % 3 + 1; }
static int value(int from, int to, int k) { return 1000 * from + 10 * to + k; }

/* Blocks have four ints of space each, in reverse order. */
static int disp(int i, int n) { return 4 * (n - 1 - i); }
static int *counts(int n, int sends) {
    int *all = list((size_t)n, sizeof(int));
    for (int i = 0; i < n; ++i) all[i] = sends ? part(me, peer[i]) : part(peer[i], me);
    return all;
}
/* Each rank sends the same count to all peers. */
static int *counts_alike(void) {
    int *all = list((size_t)peers, sizeof(int));
    for (int i = 0; i < peers; ++i) all[i] = part(peer[i], 0);
    return all;
}
static int *displs(int n, size_t unit) {
    int *all = list((size_t)n, sizeof(int));
    for (int i = 0; i < n; ++i) all[i] = (int)unit * disp(i, n);
    return all;
}
static MPI_Aint *distances(int n) {
    MPI_Aint *all = list((size_t)n, sizeof(MPI_Aint));
    for (int i = 0; i < n; ++i) all[i] = (MPI_Aint)sizeof(int) * disp(i, n);
    return all;
}
static MPI_Datatype *types(int n) {
    MPI_Datatype *all = list((size_t)n, sizeof(MPI_Datatype));
    if (!typed) {
        MPI_Type_contiguous(1, MPI_INT, &one);
        MPI_Type_commit(&one);
        typed = 1;
    }
    for (int i = 0; i < n; ++i) all[i] = i % 2 ? one : MPI_INT;
    return all;
}
static void give_up(void) {
    while (listed > 0) {
        --listed;
        memset(lists[listed].list, 0x6b, lists[listed].bytes);
        free(lists[listed].list);
    }
    if (typed) MPI_Type_free(&one);
    typed = 0;
}

/* Data for one peer is at the displacement of its block; data for all peers is at the front. */
static void fill(int all_alike) {
    for (int i = 0; i < room; ++i) given[i] = got[i] = -1;
    for (int i = 0; i < peers; ++i)
        for (int k = 0; k < 4 && !all_alike; ++k) given[disp(i, peers) + k] = value(me, peer[i], k);
    for (int k = 0; k < 4 && all_alike; ++k) given[k] = value(me, 0, k);
}
static void check(const char *what, int i, int from, int to, int n) {
    for (int k = 0; k < n; ++k)
        CHECK(got[disp(i, peers) + k] == value(from, to, k), "%s, rank %d late: part %d[%d] is %d instead of %d", what,
              late, i, k, got[disp(i, peers) + k], value(from, to, k));
    CHECK(got[disp(i, peers) + n] == -1, "%s wrote too much", what);
}

/* The late rank calls after all others have called and overwritten their lists. */
static void before(void) {
    for (int r = 0; !persistent && me == late && r < size; ++r)
        if (r != me) MPI_Recv(NULL, 0, MPI_INT, r, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void after(void) {
    give_up();
    if (!persistent && me != late) MPI_Send(NULL, 0, MPI_INT, late, 99, MPI_COMM_WORLD);
}

#define CALL(nonblocking, persistent_, ...)                              \
    (persistent ? MPI_##persistent_(__VA_ARGS__, MPI_INFO_NULL, &request) \
                : MPI_##nonblocking(__VA_ARGS__, &request))

/* The root argument of this rank. */
static int root(void) {
    if (!inter) return 0;
    return me % 2 != root_side ? 0 : me < 2 ? MPI_ROOT : MPI_PROC_NULL;
}
static int at_root(void) { return inter ? root() == MPI_ROOT : me == 0; }
static int root_rank(void) { return inter ? root_side : 0; }
static int across(void) { return !inter || me % 2 != root_side; }

static void gatherv(void) {
    CALL(Igatherv, Gatherv_init, given, part(me, 0), MPI_INT, got, counts_alike(), displs(peers, 1), MPI_INT, root(),
         comm);
}
static void check_gatherv(void) {
    for (int i = 0; i < peers && at_root(); ++i) check("gatherv", i, peer[i], 0, part(peer[i], 0));
}
static void scatterv(void) {
    CALL(Iscatterv, Scatterv_init, given, counts(peers, 1), displs(peers, 1), MPI_INT, got, part(root_rank(), me),
         MPI_INT, root(), comm);
}
static void check_scatterv(void) {
    for (int k = 0; k < part(root_rank(), me) && across(); ++k)
        CHECK(got[k] == value(root_rank(), me, k), "scatterv: [%d] is %d", k, got[k]);
}
static void allgatherv(void) {
    CALL(Iallgatherv, Allgatherv_init, given, part(me, 0), MPI_INT, got, counts_alike(), displs(peers, 1), MPI_INT,
         comm);
}
static void check_allgatherv(void) {
    for (int i = 0; i < peers; ++i) check("allgatherv", i, peer[i], 0, part(peer[i], 0));
}
static void alltoallv(void) {
    CALL(Ialltoallv, Alltoallv_init, given, counts(peers, 1), displs(peers, 1), MPI_INT, got, counts(peers, 0),
         displs(peers, 1), MPI_INT, comm);
}
static void alltoallw(void) {
    CALL(Ialltoallw, Alltoallw_init, given, counts(peers, 1), displs(peers, sizeof(int)), types(peers), got,
         counts(peers, 0), displs(peers, sizeof(int)), types(peers), comm);
}
static void check_alltoall(void) {
    for (int i = 0; i < peers; ++i) check("alltoall", i, peer[i], me, part(peer[i], me));
}

/* On an intercommunicator, each group gets the remote group's sum, in blocks for its own ranks; the first gets the
 * rest. */
static int share(int n, int i) { return i > 0 ? 2 : total - 2 * (n - 1); }
static int group_size(void) {
    int n;
    MPI_Comm_size(comm, &n);
    return n;
}
static void reduce_scatter(void) {
    int const n = group_size();
    int *all = list((size_t)n, sizeof(int));
    for (int i = 0; i < n; ++i) all[i] = share(n, i);
    for (int k = 0; k < total; ++k) given[k] = value(me, 0, k);
    CALL(Ireduce_scatter, Reduce_scatter_init, given, got, all, MPI_INT, MPI_SUM, comm);
}
static void check_reduce_scatter(void) {
    int const n = group_size(), mine = inter ? me / 2 : me, first = mine > 0 ? share(n, 0) + 2 * (mine - 1) : 0;
    for (int k = 0; k < share(n, mine); ++k) {
        int sum = 0;
        for (int i = 0; i < peers; ++i) sum += value(peer[i], 0, first + k);
        CHECK(got[k] == sum, "reduce_scatter: [%d] is %d instead of %d", k, got[k], sum);
    }
}

static void neighbor_allgatherv(void) {
    CALL(Ineighbor_allgatherv, Neighbor_allgatherv_init, given, part(me, 0), MPI_INT, got, counts_alike(),
         displs(peers, 1), MPI_INT, comm);
}
static void neighbor_alltoallv(void) {
    CALL(Ineighbor_alltoallv, Neighbor_alltoallv_init, given, counts(peers, 1), displs(peers, 1), MPI_INT, got,
         counts(peers, 0), displs(peers, 1), MPI_INT, comm);
}
static void neighbor_alltoallw(void) {
    CALL(Ineighbor_alltoallw, Neighbor_alltoallw_init, given, counts(peers, 1), distances(peers), types(peers), got,
         counts(peers, 0), distances(peers), types(peers), comm);
}

enum { alike = 1 };   /* all peers get the same data */

static const struct Form {
    void (*call)(void), (*check)(void);
    int same;
} collectives[] = {{gatherv, check_gatherv, alike},       {scatterv, check_scatterv, 0},
                   {allgatherv, check_allgatherv, alike}, {alltoallv, check_alltoall, 0},
                   {alltoallw, check_alltoall, 0},        {reduce_scatter, check_reduce_scatter, alike}},
  neighbors[] = {{neighbor_allgatherv, check_allgatherv, alike},
                 {neighbor_alltoallv, check_alltoall, 0},
                 {neighbor_alltoallw, check_alltoall, 0}};

static void one_form(struct Form const *form) {
    fill(form->same);
    before();
    form->call();
    after();
    for (int time = 0; time <= persistent; ++time) {
        for (int i = 0; i < room && time > 0; ++i) got[i] = -1;
        if (persistent) MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        form->check();
    }
    if (persistent) MPI_Request_free(&request);
}

static void all_forms(struct Form const *forms, int n) {
    for (persistent = 0; persistent <= 1; ++persistent)
        for (late = 0; late < (persistent ? 1 : size); ++late)
            for (int i = 0; i < n; ++i) one_form(&forms[i]);
}

static void between_groups(void) {
    MPI_Comm side;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &comm);
    peers = 0;
    for (int r = 1 - me % 2; r < size; r += 2) peer[peers++] = r;
    for (inter = 1, root_side = 0; root_side < 2; ++root_side) all_forms(collectives, 6);
    inter = 0;
    MPI_Comm_free(&comm);
    MPI_Comm_free(&side);
}

/* On a ring, and on a graph with so many edges that the lists are long. */
static void along_edges(void) {
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &comm);
    peers = 2;
    peer[0] = (me + size - 1) % size;
    peer[1] = (me + 1) % size;
    all_forms(neighbors, 3);
    MPI_Comm_free(&comm);
    for (peers = 0; peers < size * 16; ++peers) peer[peers] = peers / 16;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, peers, peer, MPI_UNWEIGHTED, peers, peer, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    all_forms(neighbors, 3);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    comm = MPI_COMM_WORLD;
    for (peers = 0; peers < size; ++peers) peer[peers] = peers;
    all_forms(collectives, 6);
    if (size > 1) between_groups();
    along_edges();
    MPI_Finalize();
    return 0;
}
