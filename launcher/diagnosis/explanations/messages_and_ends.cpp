// SPDX-License-Identifier: BSD-3-Clause
// Pages T06 to T09: message types, and requests, messages, objects and ranks at the end of a program.
#include "launcher/diagnosis/explanations/pages.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation pages_of_messages[] = {
    {"T06", "a message is received as another type than it was sent", R"(
MPI moves numbers, not bytes: a message of ints is received as ints, and one of doubles as doubles (MPI 3.1,
3.3.1). Where the types differ, the receiver finds numbers that no rank has sent.

Wrong: the sender's variable is an int.

    int n = 42;
    if (rank == 0) MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    double x;
    if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: both sides name the type of the variable, which is the same.

    double x = 42;
    if (rank == 0) MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Datatypes of the program match when they hold the same numbers in the same order, however they are laid out:
ten MPI_INT match one element of a vector of ten. Signed and unsigned integers are different types: MPI_INT
does not match MPI_UNSIGNED. What was sent as MPI_PACKED may be received as anything. Types are not compared
where one side gives MPI_BYTE or MPI_UNSIGNED_CHAR, and types of C and Fortran that are the same in memory match.

Messages are compared always; the place of the send is known only while it is the sender's last call.
)"},
    {"T07", "requests or messages are left over in MPI_Finalize", R"(
A rank has called MPI_Finalize with a request that it never completed, or a message was sent to it that it
never received. The program has ended all the same, but what it meant to communicate it has not: each send
needs its receive, and each nonblocking call its MPI_Wait or MPI_Test (MPI 3.1, 3.7.3 and 8.7).

Wrong: the program cannot know when x may be used, or whether it ever arrives.

    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Finalize();

Right:

    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();

A request that is not needed any more is given up by MPI_Cancel and MPI_Wait (receives), or by
MPI_Request_free (sends). It is a warning, printed once behind the program's output: this run may have been
right by luck. A message left over often means that a loop sends once more than the other side receives. The
line of its send is shown where it is known: of the last 64 messages that a rank has sent to ranks of its node,
of all from other nodes, and of all under mpiexec --check.

MPI_Request_free does not complete anything. Under mpiexec --check it is reported where it stands for a
completion: of a receive always, since nothing says when its data is there (MPI 4.1, 3.7.3); of a send if the
program has kept the request, has received something meanwhile, and until MPI_Finalize nothing that it receives
comes from a rank that has heard of it since, so that its buffer could never be used again. A send whose request
is freed as soon as it has begun is not reported: MPI_Finalize completes it.
)"},
    {"T08", "objects are not freed before MPI_Finalize", R"(
Reported with mpiexec --check; without it, mpiexec on a terminal ends with one line that says how many
objects of each kind were left: per rank, the most of any rank where ranks differ. Communicators,
datatypes, groups, operators, windows, info objects and persistent requests that a program makes take
memory, and communicators a number of which there are not endlessly many. Each is freed by the program;
MPI_Finalize does not have to.

Wrong: in a loop, until there are no more.

    for (int step = 0; step < steps; ++step) {
        MPI_Comm_split(MPI_COMM_WORLD, step % 2 == rank % 2, 0, &half);
        work(half);
    }

Right:

        MPI_Comm_split(MPI_COMM_WORLD, step % 2 == rank % 2, 0, &half);
        work(half);
        MPI_Comm_free(&half);

An object made once that is needed until the end does no harm; free it all the same, so that the next
report shows only what grows.
)"},
    {"T09", "a rank has ended without MPI_Finalize", R"(
A rank's process was killed, by a signal such as that of a null pointer (11, segmentation fault) or of a
failed assertion (6, aborted), or it has left by exit() or the end of main without MPI_Finalize. The others
would wait for it without end, so the job is ended. After a crash the report has the line of the program where
it happened, apart from the rank's last call of MPI; a crash in that call mostly has its cause in the call's
arguments, such as a buffer that is too small. A rank that has left was last seen in its last call of MPI: look
for exit(), return or an exception behind it.

Wrong: one rank leaves alone.

    if (!file) exit(1);

Right: the whole job ends, and with a code that says so,

    if (!file) MPI_Abort(MPI_COMM_WORLD, 1);

or all ranks agree beforehand, by an MPI_Allreduce of whether each has found its file, and call MPI_Finalize
(MPI 3.1, 8.7).
)"},
};

}   // namespace

std::span<Explanation const> messages_and_ends() { return pages_of_messages; }

}   // namespace tutti::launcher
