/* SPDX-License-Identifier: BSD-3-Clause */
/* Many communicators of many ranks, each used by an allreduce: the number of calls that waiting ranks compare with each
 * other is bounded for any number of ranks and communicators. Arguments, in any order: the number of duplicates
 * (default: 20); "once", "freed" or "twice". */
// ranks: 2 8
// args: 200 once
// nodes: one, it bounds the comparisons among the ranks of a node
// unchecked: --check compares each call
// run once: 64 once
// run freed: 64 freed
// run twice: 64 twice
// run without_diagnosis: 64 TUTTI_DIAGNOSIS=no once
#include <stdlib.h>
#include <string.h>

#include "tests/ranks/counter.h"

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int duplicates = 20;
    char const *mode = "once";
    for (int i = 1; i < argc; ++i)
        if (atoi(argv[i]) > 0) duplicates = atoi(argv[i]);
        else mode = argv[i];
    MPI_Comm *const all = malloc((size_t)duplicates * sizeof *all);
    Counter const compared = start_counter("tutti_compared_members");
    double const begin = MPI_Wtime();
    for (int i = 0; i < duplicates; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        for (int calls = strcmp(mode, "twice") == 0 ? 2 : 1; calls > 0; --calls) {
            int const mine = rank + i;
            int sum = -1;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all[i]);
            CHECK(sum == size * (size - 1) / 2 + size * i, "duplicate %d: sum %d", i, sum);
        }
        if (strcmp(mode, "freed") == 0) MPI_Comm_free(&all[i]);
    }
    double const seconds = MPI_Wtime() - begin;
    /* The budget that accumulates, 1 ms, is about ten thousand visits of 0.1 us; 1 % of the time is as many per second.
     * Each inspection by the launcher costs one visit per rank of the awaited communicator, and one more each. */
    unsigned long long const visits = read_counter(compared);
    double const bound = 20000 + 200000 * seconds + 20 * seconds * 2 * size;
    CHECK((double)visits <= bound, "%llu visits in %g s", visits, seconds);
    if (rank == 0 && getenv("SHOW"))
        printf("%d ranks, %d duplicates %s: %.3f s, %llu visits\n", size, duplicates, mode, seconds, visits);
    stop_counter(compared);
    free(all);
    MPI_Finalize();
    return 0;
}
