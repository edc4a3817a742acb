// SPDX-License-Identifier: BSD-3-Clause
// A program that uses MPI only through a library. Compiled with BETWEEN it is the library, without it the program,
// which prints whether a large block of memory is shared with other ranks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BETWEEN
#include <mpi.h>
void between_begin(void) { MPI_Init(NULL, NULL); }
void between_end(void) { MPI_Finalize(); }
#else
void between_begin(void);
void between_end(void);

static void* (*volatile get)(size_t) = malloc;   // its address, not only a call of it

static int shared(void const* p) {
    char line[512];
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    for (unsigned long from, to; maps && !found && fgets(line, sizeof line, maps);)
        found = sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= (unsigned long)p && (unsigned long)p < to &&
                strstr(line, "/memfd:tutti");
    if (maps) fclose(maps);
    return found;
}

int main(void) {
    char* early = get(1 << 20);
    between_begin();
    char* late = get(1 << 20);
    printf("early %d late %d\n", shared(early), shared(late));
    between_end();
    free(early), free(late);
    return 0;
}
#endif
