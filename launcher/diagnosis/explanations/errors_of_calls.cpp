// SPDX-License-Identifier: BSD-3-Clause
// The pages of MPI error classes of calls that send, receive, or act on a whole communicator.
#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation call_pages[] = {
    {"MPI_ERR_RANK", "there is no such rank", R"(
A message is sent to or received from a rank that the communicator does not have. Ranks of a communicator are numbered
from 0 to its size - 1, independently of the ranks in MPI_COMM_WORLD.

Wrong: the last rank has no right neighbour.

    MPI_Send(&x, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);

Right: a ring, or MPI_PROC_NULL beyond the end: a send to it returns immediately and sends nothing.

    int right = (rank + 1) % size;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
)",
     "ranks are numbered from 0 to size - 1; use MPI_PROC_NULL for a neighbour that does not exist"},
    {"MPI_ERR_ROOT", "there is no such root", R"(
The root of a collective is a rank of the communicator passed to it, from 0 to its size - 1, whatever the rank of this
process in MPI_COMM_WORLD.

Wrong: rank 3 of the world is rank 1 among two odd ranks.

    MPI_Bcast(&x, 1, MPI_INT, 3, odd);

Right:

    MPI_Bcast(&x, 1, MPI_INT, 1, odd);

MPI_Group_translate_ranks converts a rank of one communicator to that of another.
)",
     "the root must be a rank of the call's communicator, from 0 to its size - 1"},
    {"MPI_ERR_TAG", "the tag is not usable", R"(
Tags are numbers from 0 to MPI_TAG_UB, an attribute of MPI_COMM_WORLD. Receives and probes may use MPI_ANY_TAG, which
is negative; sends may not.

Wrong:

    MPI_Send(&x, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD);

Right: the sender passes a tag; the receiver may accept any.

    MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
)",
     "tags must be at least 0; only receives and probes may use MPI_ANY_TAG"},
    {"MPI_ERR_COUNT", "the count is not usable", R"(
A count is a number of elements of the datatype, not of bytes, and at least 0. A negative count is usually caused by
integer overflow or an uninitialised variable.

Wrong: n * n * n does not fit into an int from n = 1291 on.

    int n = 2000, count = n * n * n;
    MPI_Send(a, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);

Right: fewer elements of a larger type.

    MPI_Type_contiguous(n * n, MPI_DOUBLE, &plane);
    MPI_Type_commit(&plane);
    MPI_Send(a, n, plane, 1, 0, MPI_COMM_WORLD);
)",
     "a count is a number of elements, at least 0: check how it is computed"},
    {"MPI_ERR_BUFFER", "the buffer's address is not usable", R"(
Data is to be sent or received, but the buffer is invalid: its address is null, two arguments that must not overlap
are the same memory, or MPI_IN_PLACE is used where it is not allowed.

Wrong: result and operand are one variable.

    MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

Right:

    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

In MPI_Reduce, MPI_Gather and MPI_Scatter only the root may use MPI_IN_PLACE. MPI_Bsend returns this error if no
attached buffer has enough space (MPI_Buffer_attach).
)",
     "allocate the memory before the call, and pass different memory for each buffer"},
    {"MPI_ERR_TYPE", "the datatype is not usable", R"(
The datatype is MPI_DATATYPE_NULL, has been freed, was never created, or was not committed. A derived datatype must be
committed once before it is used in communication.

Wrong:

    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Send(a, 1, column, 1, 0, MPI_COMM_WORLD);

Right:

    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Send(a, 1, column, 1, 0, MPI_COMM_WORLD);
)",
     "create the type, call MPI_Type_commit, and call MPI_Type_free only after its last use"},
    {"MPI_ERR_TRUNCATE", "the message is longer than the buffer that receives it", R"(
The buffer of a receive may be larger than the message, but not smaller. Messages are never truncated silently.

Wrong:

    if (rank == 0) MPI_Send(a, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(a, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: both sides use the same count; or the receiver determines the length first.

    MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &n);

The receive may also have matched another message than intended, with the same tag or from another sender. MPI_Pack
and MPI_Unpack return this error if the buffer of packed data is too small. Mismatched amounts in a collective are
reported as T04.
)",
     "make the receive buffer as large as the message, or get its size by MPI_Probe and MPI_Get_count"},
    {"MPI_ERR_COMM", "the communicator is not usable", R"(
The communicator is MPI_COMM_NULL, has been freed, was never created, or is of the wrong kind. Functions that create a
communicator return MPI_COMM_NULL on ranks that are not in it.

Wrong: half of the ranks have no such communicator.

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 0 : MPI_UNDEFINED, rank, &odd);
    MPI_Barrier(odd);

Right:

    if (odd != MPI_COMM_NULL) MPI_Barrier(odd);
)",
     "use a communicator only between its creation and MPI_Comm_free; ranks outside it get MPI_COMM_NULL"},
    {"MPI_ERR_GROUP", "the group is not usable", R"(
The group is MPI_GROUP_NULL, was freed, or is not valid for the call: the group of MPI_Comm_create must consist of
ranks of its communicator, and ranges must contain existing ranks only. The group without ranks is MPI_GROUP_EMPTY.

Wrong:

    MPI_Group_free(&two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &comm);

Right:

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, (int[]){0, 1}, &two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &comm);
    MPI_Group_free(&two);
)",
     "create the group by MPI_Comm_group or from other groups, and do not use it after MPI_Group_free"},
    {"MPI_ERR_OP", "the operation is not usable", R"(
The operator of a reduction is not defined for the datatype: MPI_BAND is for integers, MPI_MAXLOC for pairs such as
MPI_DOUBLE_INT, MPI_SUM for numbers. No predefined operator is defined for derived datatypes.

Wrong:

    MPI_Allreduce(&x, &result, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);

Right: an operator for that type, or a user-defined one.

    MPI_Op_create(add_points, 1, &add);
    MPI_Allreduce(points, sums, n, point_type, add, MPI_COMM_WORLD);
)",
     "predefined operators work on predefined types only; MPI_Op_create creates others"},
    {"MPI_ERR_REQUEST", "the request is not usable", R"(
The request was never created or has already been completed and freed. An uninitialised variable has an arbitrary
value; waiting for MPI_REQUEST_NULL is always allowed.

Wrong: only one rank starts an operation, but all wait.

    MPI_Request request;
    if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

Right:

    MPI_Request request = MPI_REQUEST_NULL;

MPI_Start requires a persistent request (MPI_Send_init, MPI_Recv_init) that is inactive.
)",
     "initialise requests to MPI_REQUEST_NULL, and do not copy them"},
    {"MPI_ERR_TOPOLOGY", "the topology is not usable", R"(
The communicator has no topology, or one of another kind: MPI_Cart_shift requires a communicator from MPI_Cart_create;
neighbourhood collectives require a grid or a graph. Ranks that are not part of a grid get MPI_COMM_NULL.

Wrong:

    MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &before, &after);

Right:

    int dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &before, &after);
)",
     "pass the communicator that MPI_Cart_create or MPI_Dist_graph_create returned"},
    {"MPI_ERR_DIMS", "the dimensions are not usable", R"(
The dimensions of a grid are invalid: one is negative, or the dimensions passed to MPI_Dims_create do not divide the
number of ranks.

Wrong: three columns for eight ranks.

    int dims[2] = {0, 3};
    MPI_Dims_create(8, 2, dims);

Right: 0 for each dimension that MPI chooses.

    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
)",
     "let MPI_Dims_create choose: pass the number of ranks, and 0 for each free dimension"},
    {"MPI_ERR_IN_STATUS", "the error codes are in the statuses", R"(
Some of the requests completed by one call have failed. MPI_ERROR of each status shows which ones; without statuses
this cannot be determined.

Wrong:

    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);   /* which one has failed? */

Right:

    MPI_Status statuses[2];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS)
        for (int i = 0; i < 2; ++i) show(statuses[i].MPI_ERROR);
)",
     "check MPI_ERROR of each status; the usual cause is a message that is longer than its receive buffer"},
    {"MPI_ERR_PENDING", "the request is neither complete nor failed", R"(
A value of MPI_ERROR in a status: another request of the same call has failed, and this one is still pending. The
program can wait for it again.
)",
     "this request has not failed: check which other request of the call has"},
};

}   // namespace

std::span<Explanation const> errors_of_calls() { return call_pages; }

}   // namespace tutti::launcher
