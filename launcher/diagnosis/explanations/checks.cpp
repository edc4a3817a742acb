// SPDX-License-Identifier: BSD-3-Clause
// The pages of errors that are only detected by mpiexec --check.
#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation pages_of_checks[] = {
    {"T10", "the buffer of a send was changed before the send was complete", R"(
A nonblocking send may read its buffer until MPI_Wait or MPI_Test has completed it. If the program changes or frees
the buffer before, the receiver gets the old value in one run and the new one in another.

Wrong: the loop counter has changed when the message is sent.

    for (i = 0; i < n; i++) MPI_Isend(&i, 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);

Right: each send has a value of its own, which is unchanged until all are complete.

    for (i = 0; i < n; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);

The same holds for the send buffers of nonblocking and persistent collectives, such as the operand of MPI_Iallreduce
or the root's buffer of MPI_Ibcast (MPI 4.1, 6.12), and for the origin buffers of MPI_Put, MPI_Accumulate and similar
calls until MPI_Win_flush_local, MPI_Win_unlock, MPI_Win_fence or another call completes them (MPI 4.1, 12.3).

Reading a buffer that is being sent is allowed, also by another send (MPI 3.1, 3.7.2). mpiexec --check compares the
contents of the buffer at the start of the operation with those at its completion.
)"},
    {"T11", "a buffer was used while a message might come into it", R"(
Between MPI_Irecv and MPI_Wait, or a successful MPI_Test, the buffer belongs to MPI: a message may be stored in it at
any time. Another receive into the same memory, a send from it, or a store to it races with the message. The same
holds for a receive into memory that is still being sent.

Wrong: both messages are received into the same variable.

    MPI_Irecv(&x, 1, MPI_INT, left, 0, comm, &requests[0]);
    MPI_Irecv(&x, 1, MPI_INT, right, 0, comm, &requests[1]);

Right: each has a variable of its own.

    MPI_Irecv(&x[0], 1, MPI_INT, left, 0, comm, &requests[0]);
    MPI_Irecv(&x[1], 1, MPI_INT, right, 0, comm, &requests[1]);

The same holds for the receive buffers of nonblocking and persistent collectives, for buffers used with MPI_IN_PLACE,
and for the results of MPI_Get and similar calls until a flush, an unlock, a fence or another call completes them. Two
gets into the same memory are only a warning, because the program may use neither result.

mpiexec --check stores a message or a result elsewhere until it is complete. If the buffer has changed by then, or
changes between then and the end of the operation, the program has changed it (MPI 3.1, 3.7.2; MPI 4.1, 6.12).
)"},
    {"T12", "messages of two senders could have matched the same receive from any source", R"(
A receive with MPI_ANY_SOURCE has received the message of one sender, but could have received that of another one in
another run or under another load. mpiexec --check detects this whichever message arrives first: each message carries
what its sender knew when it was sent, and a message whose sender did not know that the receive was complete could
have matched it. A pause does not order messages; a message, a blocking collective or a synchronous send does. The
report names the receive, both sends, and the receive that matched the other message.

Wrong: the program assumes that the results arrive in the order of the ranks.

    for (i = 1; i < size; i++)
        MPI_Recv(&result[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);

Right: use the source in the status, or receive from a named source.

    for (i = 1; i < size; i++) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
        result[status.MPI_SOURCE] = x;
    }

This is a warning, printed once for each receive in the program. If the receive that matched the other message cannot
receive the first one ("cannot receive that of rank 2"), because it names its source or another tag, it waits
indefinitely in another run. Otherwise the program is correct if it treats all messages alike. No warning is printed
if this is evident: if both receives use their status, which contains MPI_SOURCE; if the messages have no data, or the
same data in the same buffer; if both receives use MPI_ANY_TAG and the messages have the same tag; for receives with
MPI_ANY_TAG into one buffer that get equally many messages from each other rank of the communicator; and for a loop
that receives integers into one variable, equally many and more than one from each sender. Sums of floating point
numbers in the order of arrival differ from run to run.

Nonblocking, persistent and neighbourhood collectives and one-sided operations may order messages in ways that are not
tracked: after such a call nothing is reported until the next blocking collective of all ranks.
)"},
    {"T13", "an invalid handle was used", R"(
The program has used a communicator, datatype, group, operator or request that was never created, has been freed, or
(a request) has been completed. MPI sets the variable passed to the freeing call to the null handle; a copy of the
variable keeps the old value, which may later denote another object.

Wrong: the copy is used after the request was completed.

    MPI_Request copy = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);

Right: one variable per request, set to the null handle until the request exists.

    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

Waiting for a null request is allowed; it is always complete (MPI 3.1, 3.7.3). mpiexec --check reports where the
handle was freed.
)"},
    {"T14", "one-sided operations on the same memory conflict", R"(
Within an epoch (between two fences, between a lock and its unlock, between flushes) one-sided operations are not
ordered. If two of them access the same bytes of a window and one of them writes, the result is undefined (MPI 3.1,
11.7); only accumulates with the same operator and type may access the same bytes.

Wrong: both ranks put to the same location, and either value may remain.

    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);

Right: they add to it,

    MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);

or each has an element of its own, or a fence or MPI_Win_flush lies in between.

This is a warning, because the order does not matter if all ranks put the same value. Accumulates of one rank to the
same location are executed in program order unless the window was created with accumulate_ordering=none. mpiexec
--check compares the operations of all ranks between two fences, and those of one rank between locks, flushes and
unlocks.

Shared locks (MPI_Win_lock, MPI_Win_lock_all) do not order the operations of different ranks either. Operations of two
ranks are compared only if nothing can order them: since the last barrier of all ranks, each of the two has only
called one-sided operations, locks and flushes, has received nothing, and no other rank has written to its memory. If
a message or a flag may order them, nothing is reported.

A program must not store to its own part of a window where another rank puts, gets or accumulates in the same epoch
(MPI 4.1, 12.7). Between two fences, mpiexec --check detects this if other ranks get, and if one rank puts on the same
node or the program stores after the put. Loads of the program cannot be observed.
)"},
    {"T15", "the epochs of a window do not match", R"(
MPI_Win_fence is collective: all ranks of the window must call it equally often, whether they access the window or not
(MPI 3.1, 11.5.1). Likewise, each MPI_Win_start needs an MPI_Win_post on each rank of its group, whose own group
contains the starting rank. An additional fence is combined with the next fence or MPI_Win_free of the other ranks, so
that the epochs of the ranks no longer correspond.

Wrong: only rank 0 ends the epoch.

    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);

Right: all do.

    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);

Fences are always counted, and compared when a rank waits for long and in MPI_Win_free. mpiexec --check also detects
MPI_MODE_NOPRECEDE or MPI_MODE_NOSUCCEED on some ranks only, and a window that is freed before the fence that ends its
last epoch. Incompatible epochs of one rank are errors: mpiexec --explain MPI_ERR_RMA_SYNC.
)"},
    {"T16", "a communicator was disconnected or freed with incomplete operations", R"(
MPI_Comm_disconnect may only be called when all communication on the communicator is complete (MPI 3.1, 10.5.4).
MPI_Comm_free may be called earlier: pending operations continue and can be completed afterwards. If they are never
completed, mpiexec --check prints a warning in MPI_Finalize.

Wrong:

    MPI_Irecv(&x, 1, MPI_INT, 1, 0, comm, &request);
    MPI_Comm_disconnect(&comm);

Right:

    MPI_Irecv(&x, 1, MPI_INT, 1, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&comm);
)"},
    {"T17", "an argument is allowed, but probably wrong", R"(
The count of a receive is the capacity of its buffer: a message may be shorter, and a longer one is an error that MPI
detects. A count beyond the end of the buffer disables this check; the first long message then overwrites other memory
or crashes the program.

Wrong: the count exceeds the buffer of a thousand elements.

    double* x = malloc(1000 * sizeof *x);
    MPI_Recv(x, 100000000, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);

Right: the size of the buffer, or that of the message, determined before.

    MPI_Probe(0, 0, comm, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &n);
    x = malloc(n * sizeof *x);
    MPI_Recv(x, n, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);

This is a warning: mpiexec --check has found that no memory is mapped at the end of the buffer.
)"},
    {"T18", "threads call MPI contrary to the requested thread level", R"(
A program declares in MPI_Init_thread which threads will call MPI, and MPI may rely on this and take no locks.
MPI_Init is equivalent to MPI_THREAD_SINGLE: there is one thread. With MPI_THREAD_FUNNELED only the thread that called
MPI_Init_thread may call MPI; with MPI_THREAD_SERIALIZED any thread may, but only one at a time: while one waits in
MPI_Recv, no other thread may call MPI. Only MPI_THREAD_MULTIPLE allows concurrent calls (MPI 3.1, 12.4.3).

Wrong: an OpenMP loop in a program that has called MPI_Init.

    #pragma omp parallel for
    for (i = 0; i < n; i++) MPI_Send(&x[i], 1, MPI_INT, i, 0, comm);

Right:

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
)"},
};

}   // namespace

std::span<Explanation const> checks() { return pages_of_checks; }

}   // namespace tutti::launcher
