/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives on intercommunicators: all functions, each root of both groups, and groups of many shapes. */
// ranks: 2 3 4 5 8
// run cma: 2 3 5 TUTTI_ARENA=no
// run staged: 2 3 5 TUTTI_ARENA=no TUTTI_CMA=no
#include "tests/ranks/coll/inter_every.h"

static void all(struct Sides const *s, int n) {
    for (int which = 0; which < operations; ++which) {
        int const rooted = which < 6 || which == 11 || which == 15;
        int const roots = rooted ? s->locals + s->remotes : 1;
        for (int i = 0; i < roots; ++i) {
            /* Both groups use the same sequence of roots, those on the side of world rank 0 first. */
            int low = rank == 0, any;
            MPI_Request request;
            MPI_Iallreduce(&low, &any, 1, MPI_INT, MPI_MAX, s->comm, &request);   /* is a remote rank low? */
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            int const firsts = any ? s->remotes : s->locals, first = i < firsts, ours = any ? !first : first;
            int const at = first ? i : i - firsts;
            struct Work *w = prepare(s, n);
            call(blocking, which, s, w, ours, at);
            verify(which, s, w, ours, at);
            discard(w);
            ++turn;
        }
    }
}

int main(int argc, char **argv) {
    begin_tests(&argc, &argv);
    for (int cut = 0; cut < cuts; ++cut) {
        struct Sides s = sides_of(make_inter(cut, cut % 2, NULL));
        all(&s, 1);
        all(&s, 300);
        all(&s, size > 4 ? 4000 : 30000);
        /* The same groups, each in reverse order. */
        MPI_Comm other;
        MPI_Comm_split(s.comm, 0, -s.me, &other);
        MPI_Comm_free(&s.comm);
        s = sides_of(other);
        all(&s, 50);
        MPI_Comm_free(&s.comm);
    }
    end_tests();
    return 0;
}
