// SPDX-License-Identifier: BSD-3-Clause
// The attached buffer has space again for each message that was received, also if its sender has not made a call since.
// ranks: 2
#include "tests/ranks/check.h"

enum { messages = 8, large = 1 << 20 };

static char data[large];

int main(int argc, char **argv) {
    int me, size = messages * (large + MPI_BSEND_OVERHEAD), modes[] = {0, 1, 2};
    char *room = malloc((size_t)size), *address;
    MPI_Request r[messages], persistent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) MPI_Buffer_attach(room, size);
    MPI_Bsend_init(data, large, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &persistent);
    for (int round = 0; round < 6; ++round) {
        int mode = modes[round % 3];
        if (me == 0) {
            for (int i = 0; i < messages; ++i) {
                if (mode == 0) MPI_Bsend(data, large, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
                if (mode == 1) MPI_Ibsend(data, large, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r[i]);
                if (mode == 2) MPI_Start(&persistent), MPI_Wait(&persistent, MPI_STATUS_IGNORE);
            }
            if (mode == 1) MPI_Waitall(messages, r, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // all messages have been received
        } else {
            for (int i = 0; i < messages; ++i) MPI_Recv(data, large, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    if (me == 0) {
        MPI_Buffer_detach(&address, &size);
        CHECK(address == room, "MPI_Buffer_detach returned another buffer%s", "");
        // A message that does not fit is an error each time.
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Buffer_attach(room, large);
        FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, large, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
        MPI_Buffer_detach(&address, &size);
    }
    MPI_Request_free(&persistent);
    MPI_Finalize();
    free(room);
    return 0;
}
