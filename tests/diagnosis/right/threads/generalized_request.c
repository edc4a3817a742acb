// SPDX-License-Identifier: BSD-3-Clause
// A thread without communication calls completes a generalized request after 0.3 s.
// ranks: 1 2
#include <pthread.h>
#include <unistd.h>

#include <mpi.h>

static int query(void* extra, MPI_Status* status) {
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int release(void* extra) { return (void)extra, MPI_SUCCESS; }
static int cancel(void* extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void* complete_later(void* request) {
    usleep(300000);
    MPI_Grequest_complete(*(MPI_Request*)request);
    return 0;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Request request;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Grequest_start(query, release, cancel, 0, &request);
    MPI_Request copy = request;
    pthread_create(&thread, 0, complete_later, &copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, 0);
    MPI_Finalize();
    return 0;
}
