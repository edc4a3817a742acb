// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init_thread provides the requested level; MPI_Is_thread_main is false in other threads.
// ranks: 2
// args: ask
#include <pthread.h>

#include "tests/ranks/check.h"

static void *in_thread(void *unused) {
    int main_thread = -1;
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == 0, "MPI_Is_thread_main returned %d in another thread", main_thread);
    // SERIALIZED: another thread may communicate while the main thread waits for it.
    int sum = 0, one = 1, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size, "sum %d of %d", sum, size);
    return unused;
}

int main(int argc, char **argv) {
    int provided = -1, asked = -1, main_thread = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CHECK(provided == MPI_THREAD_SERIALIZED, "provided %d", provided);
    MPI_Query_thread(&asked);
    CHECK(asked == provided, "MPI_Query_thread returned %d", asked);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == 1, "MPI_Is_thread_main returned %d in the main thread", main_thread);
    CHECK(argc == 2, "the program's arguments changed: argc is %d", argc);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
