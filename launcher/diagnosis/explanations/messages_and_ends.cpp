// SPDX-License-Identifier: BSD-3-Clause
// Pages T06 to T09: message types, and requests, messages, objects and ranks at the end of a program.
#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation pages_of_messages[] = {
    {"T06", "a message is received as another type than it was sent", R"(
Messages are typed: a message of ints must be received as ints, and one of doubles as doubles (MPI 3.1, 3.3.1). If the
types differ, the receiver gets values that no rank has sent.

Wrong: the sender's variable is an int.

    int n = 42;
    if (rank == 0) MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    double x;
    if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: both sides use variables of the same type, and pass this type.

    double x = 42;
    if (rank == 0) MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Derived datatypes match if they contain the same basic types in the same order, whatever their layout: ten MPI_INT
match one element of a vector of ten. Signed and unsigned integers are different types: MPI_INT does not match
MPI_UNSIGNED. Data sent as MPI_PACKED may be received as any type. Types are not compared if one side passes MPI_BYTE
or MPI_UNSIGNED_CHAR, and types of C and Fortran with the same representation match.

Messages are always compared; the position of the send is known only while it is the sender's last call.
)"},
    {"T07", "requests or messages are left over in MPI_Finalize", R"(
A rank has called MPI_Finalize with a request that it never completed, or has never received a message that was sent
to it. The program ended normally, but without the intended communication: each send needs its receive, and each
nonblocking call its MPI_Wait or MPI_Test (MPI 3.1, 3.7.3 and 8.7).

Wrong: the program cannot know when x may be used, or whether it ever arrives.

    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Finalize();

Right:

    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();

If a request is no longer needed, cancel it by MPI_Cancel and MPI_Wait (receives) or free it by MPI_Request_free
(sends). This is a warning, printed once after the program's output: the results of this run may be correct by chance.
A message that was not received often means that a loop sends once more than the other side receives. The line of its
send is shown if it is known: for the last 64 messages that a rank has sent to ranks of its node, for all messages
from other nodes, and for all messages under mpiexec --check.

MPI_Request_free does not complete the operation. mpiexec --check reports it where it replaces a completion: always
for a receive, because the program cannot know when its data has arrived (MPI 4.1, 3.7.3); for a send if the program
kept the request, received something meanwhile, and until MPI_Finalize receives nothing that depends on this send, so
that its buffer could never be reused. A send whose request is freed immediately is not reported: MPI_Finalize
completes it.
)"},
    {"T08", "objects are not freed before MPI_Finalize", R"(
Reported under mpiexec --check; without it, mpiexec on a terminal prints one line with the number of objects of each
kind that were left (the maximum over all ranks if ranks differ). Communicators, datatypes, groups, operators,
windows, info objects and persistent requests take memory, and the number of communicators is limited. The program
must free each of them; MPI_Finalize need not.

Wrong: a loop creates communicators until the limit is reached.

    for (int step = 0; step < steps; ++step) {
        MPI_Comm_split(MPI_COMM_WORLD, step % 2 == rank % 2, 0, &half);
        work(half);
    }

Right:

        MPI_Comm_split(MPI_COMM_WORLD, step % 2 == rank % 2, 0, &half);
        work(half);
        MPI_Comm_free(&half);

An object that is created once and needed until the end does no harm. Free it nevertheless, so that the next report
shows only leaks.
)"},
    {"T09", "a rank has ended without MPI_Finalize", R"(
A rank's process was killed by a signal, such as that of a null pointer (11, segmentation fault) or of a failed
assertion (6, aborted), or it ended by exit() or the end of main without calling MPI_Finalize. The other ranks would
wait for it indefinitely, so the job was ended. After a crash the report shows the line where it happened and the
rank's last MPI call; a crash in that call is usually caused by its arguments, such as a buffer that is too small. If
a rank exited, search for exit(), return or an exception after its last MPI call.

Wrong: one rank exits alone.

    if (!file) exit(1);

Right: the whole job ends with an exit code that shows the failure,

    if (!file) MPI_Abort(MPI_COMM_WORLD, 1);

or all ranks first agree, by an MPI_Allreduce of whether each has found its file, and then call MPI_Finalize (MPI 3.1,
8.7).
)"},
};

}   // namespace

std::span<Explanation const> messages_and_ends() { return pages_of_messages; }

}   // namespace tutti::launcher
