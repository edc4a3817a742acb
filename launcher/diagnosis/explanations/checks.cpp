// SPDX-License-Identifier: BSD-3-Clause
// The pages of errors that are only detected by mpiexec --check.
#include "launcher/diagnosis/explanations/pages.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation pages_of_checks[] = {
    {"T10", "the buffer of a send was changed before the send was complete", R"(
A nonblocking send may read its buffer until MPI_Wait or MPI_Test says that it is complete. If the
program changes the buffer before that, or frees it, the receiver gets the old value in one run and the new one
in the next.

Wrong: the loop's counter has counted on when the message leaves.

    for (i = 0; i < n; i++) MPI_Isend(&i, 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);

Right: each send has a value of its own, which stays until all are complete.

    for (i = 0; i < n; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);

The same holds for what a nonblocking or persistent collective sends, such as the operand of MPI_Iallreduce or the
root's buffer of MPI_Ibcast (MPI 4.1, 6.12), and for the origin buffers of MPI_Put, MPI_Accumulate and their like until
MPI_Win_flush_local, MPI_Win_unlock, MPI_Win_fence or another call completes them (MPI 4.1, 12.3).

Reading a buffer that is being sent is allowed, also by another send (MPI 3.1, 3.7.2). mpiexec --check compares what is
in the buffer when the operation begins and when the program finds that it is complete.
)"},
    {"T11", "a buffer was used while a message might come into it", R"(
Between MPI_Irecv and MPI_Wait, or a successful MPI_Test, the buffer belongs to MPI: a message may come into it at
any time. Another receive into the same memory, a send from it, or a value that is stored there meets the message
or does not, as it happens. The same holds for a receive into memory that is still being sent.

Wrong: both messages go to the same place.

    MPI_Irecv(&x, 1, MPI_INT, left, 0, comm, &requests[0]);
    MPI_Irecv(&x, 1, MPI_INT, right, 0, comm, &requests[1]);

Right: each has a place of its own.

    MPI_Irecv(&x[0], 1, MPI_INT, left, 0, comm, &requests[0]);
    MPI_Irecv(&x[1], 1, MPI_INT, right, 0, comm, &requests[1]);

The same holds for what a nonblocking or persistent collective receives, for a buffer given with MPI_IN_PLACE, and for
the results of MPI_Get and its like until a flush, an unlock, a fence or another call completes them. Two gets into the
same memory are a warning: it does not matter where neither result is looked at.

Under mpiexec --check a message or a result is laid aside until all of it is there: a buffer that has changed by then,
or between then and the end of the operation, was changed by the program (MPI 3.1, 3.7.2; MPI 4.1, 6.12).
)"},
    {"T12", "messages of two senders could have met the same receive from any source", R"(
A receive with MPI_ANY_SOURCE has got the message of one sender, and could have got that of another one, in another run
or under another load. mpiexec --check finds that whichever comes first, also where the receive waits long before
anything is sent: each message says what its sender knew when it was sent, and one whose sender did not know that the
receive was complete could have come to it. A pause orders nothing; a message, a blocking collective or a synchronous
send does. The report names the receive, both sends, and the receive that has got the other message.

Wrong: the results are taken to come in the order of the ranks.

    for (i = 1; i < size; i++)
        MPI_Recv(&result[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);

Right: the source is named, or asked for.

    for (i = 1; i < size; i++) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
        result[status.MPI_SOURCE] = x;
    }

It is a warning, once for each receive in the program. If the receive that has got the other message could not have got
the first one ("cannot get that of rank 2"), because it names its source or another tag, then it waits without end in
another run. Otherwise nothing is wrong where the program treats all messages alike, and the warning does not come
where it says so: where both receives take their status, in which MPI_SOURCE is; where the messages have no data, or
the same data in the same buffer; where both receives have MPI_ANY_TAG and the messages the same tag; for receives with
MPI_ANY_TAG into one buffer that get equally many messages from each other rank of the communicator; and for a loop
that receives whole numbers into one variable, equally many and more than one from each of its senders. Sums of
floating point numbers in the order of arrival differ from run to run.

Nonblocking, persistent and neighbourhood collectives and one-sided operations may order messages in ways that are not
followed: behind them nothing is reported until the next blocking collective of all ranks.
)"},
    {"T13", "a handle was used that names nothing", R"(
A communicator, datatype, group, operator or request is used that was never made, or that was freed, or, for a
request, completed before. MPI sets the variable that it is given to the null handle then; a copy of it still has
the old number, which may even name something else after a while.

Wrong: the copy outlives the request.

    MPI_Request copy = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);

Right: one variable for each, and null handles for what is not there yet.

    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

Null requests may be waited for, and are always complete (MPI 3.1, 3.7.3). mpiexec --check remembers where
handles were freed.
)"},
    {"T14", "one-sided operations on the same memory conflict", R"(
Within an epoch (between two fences, between a lock and its unlock, between flushes) nothing orders one-sided
operations. Where two of them touch the same bytes of a window and one of them writes, what is there afterwards, or
what was got, is not defined (MPI 3.1, 11.7); only accumulates with the same operator and type may meet.

Wrong: both ranks put to the same place, and either value may remain.

    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);

Right: they add to it,

    MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);

or each has an element of its own, or a fence or MPI_Win_flush lies in between.

It is a warning, for where all put the same value it does not matter who comes last. Accumulates of one rank to
the same place are carried out in their order, unless the window was made with accumulate_ordering=none.
mpiexec --check compares what all ranks have done between two fences, and what one has done between locks,
flushes and unlocks.

Shared locks, of MPI_Win_lock or MPI_Win_lock_all, do not order the operations of different ranks either. Those of two
ranks are compared if nothing can order them: each rank has called nothing since the last barrier of all ranks but
one-sided operations, locks and flushes, has got nothing, and has been written to by no other rank. Where a message or a
flag may order them mpiexec --check says nothing.

A program must not store in its own part of a window where another rank puts, gets or accumulates in the same epoch
(MPI 4.1, 12.7). Between two fences mpiexec --check finds that where others get, and where one rank puts on the same
node, or the program stores behind the put. What the program loads cannot be seen.
)"},
    {"T15", "the epochs of a window do not match", R"(
A fence is a call of all ranks of the window together: each of them calls MPI_Win_fence equally often, whether it
puts something or not (MPI 3.1, 11.5.1), and so does each MPI_Win_start need an MPI_Win_post at each rank of its group,
whose group has the rank that starts. A fence too many meets the next fence of the others, or their MPI_Win_free, and
the epochs of the ranks are shifted against each other from then on.

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

Fences are counted always, and compared when a rank waits for long and by MPI_Win_free. mpiexec --check looks also
for MPI_MODE_NOPRECEDE or MPI_MODE_NOSUCCEED from some ranks only, and for a window that is freed before the fence
that ends its last epoch. Epochs of one rank that exclude each other are errors: mpiexec --explain MPI_ERR_RMA_SYNC.
)"},
    {"T16", "a communicator was given up while operations on it were not complete", R"(
MPI_Comm_disconnect may only be called when all communication on the communicator is complete (MPI 3.1, 10.5.4).
MPI_Comm_free may be called earlier: what is under way goes on, and can be completed afterwards. Of what never is,
mpiexec --check warns in MPI_Finalize.

Wrong:

    MPI_Irecv(&x, 1, MPI_INT, 1, 0, comm, &request);
    MPI_Comm_disconnect(&comm);

Right:

    MPI_Irecv(&x, 1, MPI_INT, 1, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&comm);
)"},
    {"T17", "an argument is allowed, but hardly meant", R"(
The count of a receive says for how many elements there is room: a message may be shorter, and a longer one is an
error that MPI finds. A count beyond the memory behind the buffer turns that off; the first long message writes over
something else, or ends the program.

Wrong: room for a thousand, and a count to be on the safe side.

    double* x = malloc(1000 * sizeof *x);
    MPI_Recv(x, 100000000, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);

Right: the count of the buffer, or the message's own, asked for before.

    MPI_Probe(0, 0, comm, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &n);
    x = malloc(n * sizeof *x);
    MPI_Recv(x, n, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);

It is a warning: mpiexec --check has seen that there is no memory at the end of the buffer.
)"},
    {"T18", "threads call MPI that have not been promised", R"(
A program says in MPI_Init_thread which threads will call MPI, and MPI may rely on that: it then takes no locks.
MPI_Init is the same as MPI_THREAD_SINGLE: there is one thread. With MPI_THREAD_FUNNELED the thread of
MPI_Init_thread alone calls, with MPI_THREAD_SERIALIZED any thread, but one at a time: while one waits in
MPI_Recv, no other one may call. Only MPI_THREAD_MULTIPLE allows everything (MPI 3.1, 12.4.3).

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
