// SPDX-License-Identifier: BSD-3-Clause
// The pages of MPI error classes of calls that send, receive, or act on a whole communicator.
#include "launcher/diagnosis/explanations/pages.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation call_pages[] = {
    {"MPI_ERR_RANK", "there is no such rank", R"(
A message is sent to, or wanted from, a rank that the communicator does not have. Ranks of a communicator
are counted from 0 to its size - 1, and those of MPI_COMM_WORLD are not those of a communicator made from
it.

Wrong: the last rank has no right neighbour.

    MPI_Send(&x, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);

Right: a ring, or no rank behind the end. What goes to MPI_PROC_NULL goes nowhere, immediately.

    int right = (rank + 1) % size;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
)",
     "ranks go from 0 to size - 1; MPI_PROC_NULL stands for a neighbour that is not there"},
    {"MPI_ERR_ROOT", "there is no such root", R"(
The root of a collective is a rank of the communicator that is given to it, from 0 to its size - 1. That the
same process has another number in MPI_COMM_WORLD does not matter.

Wrong: rank 3 of the world is rank 1 among two odd ranks.

    MPI_Bcast(&x, 1, MPI_INT, 3, odd);

Right:

    MPI_Bcast(&x, 1, MPI_INT, 1, odd);

MPI_Group_translate_ranks says which number a rank of one communicator has in another.
)",
     "the root is a rank of the communicator in the call, from 0 to its size - 1"},
    {"MPI_ERR_TAG", "the tag is not usable", R"(
Tags are numbers from 0 to MPI_TAG_UB, an attribute of MPI_COMM_WORLD. Receives and probes may name
MPI_ANY_TAG, which is negative; sends may not.

Wrong:

    MPI_Send(&x, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD);

Right: the sender says which one, the receiver may take any.

    MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
)",
     "tags are numbers from 0; only receives and probes may name MPI_ANY_TAG"},
    {"MPI_ERR_COUNT", "the count is not usable", R"(
A count is a number of elements of the datatype, not of bytes, and at least 0. A negative one mostly comes
from arithmetic: an int that was too small, or a variable that was never set.

Wrong: n * n * n does not fit into an int from n = 1291 on.

    int n = 2000, count = n * n * n;
    MPI_Send(a, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);

Right: fewer elements of a larger type.

    MPI_Type_contiguous(n * n, MPI_DOUBLE, &plane);
    MPI_Type_commit(&plane);
    MPI_Send(a, n, plane, 1, 0, MPI_COMM_WORLD);
)",
     "a count is a number of elements, at least 0: see where it is computed"},
    {"MPI_ERR_BUFFER", "the buffer's address is not usable", R"(
There is data to be sent or received, and no memory for it: the address is null, the same memory is given
twice where MPI wants two, or MPI_IN_PLACE stands where it is not allowed.

Wrong: result and operand are one variable.

    MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

Right:

    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

Of MPI_Reduce, MPI_Gather and MPI_Scatter it is the root alone that may say MPI_IN_PLACE. MPI_Bsend gives
this error when no attached buffer has room (MPI_Buffer_attach).
)",
     "see that the memory is allocated before the call, and that no two arguments are the same memory"},
    {"MPI_ERR_TYPE", "the datatype is not usable", R"(
The datatype is MPI_DATATYPE_NULL, has been freed, was never made, or was not committed. A type that a
program makes must be committed once before data is moved with it.

Wrong:

    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Send(a, 1, column, 1, 0, MPI_COMM_WORLD);

Right:

    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Send(a, 1, column, 1, 0, MPI_COMM_WORLD);
)",
     "make the type, then MPI_Type_commit, and MPI_Type_free only after its last use"},
    {"MPI_ERR_TRUNCATE", "the message is longer than the buffer that receives it", R"(
A receive may have room for more than comes, never for less. Nothing is cut off silently.

Wrong:

    if (rank == 0) MPI_Send(a, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(a, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

Right: both count alike; or a receiver that does not know the length asks first.

    MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &n);

It may also be that another message has been taken than was meant: with the same tag, from any sender. MPI_Pack
and MPI_Unpack give this error when the buffer of packed data is too small. Where amounts in a collective do not
fit together it is T04.
)",
     "give the receive as much room as the sender sends, or ask by MPI_Probe and MPI_Get_count"},
    {"MPI_ERR_COMM", "the communicator is not usable", R"(
The communicator is MPI_COMM_NULL, has been freed, was never made, or is of the wrong kind. Calls that make
one give MPI_COMM_NULL to ranks that are not in it.

Wrong: half of the ranks have none.

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 0 : MPI_UNDEFINED, rank, &odd);
    MPI_Barrier(odd);

Right:

    if (odd != MPI_COMM_NULL) MPI_Barrier(odd);
)",
     "use a communicator from the call that makes it to MPI_Comm_free; ranks outside of it have MPI_COMM_NULL"},
    {"MPI_ERR_GROUP", "the group is not usable", R"(
The group is MPI_GROUP_NULL, was freed, or is not what the call needs: the group of MPI_Comm_create must be
of ranks of its communicator, and ranges must name ranks that there are. A group without ranks is
MPI_GROUP_EMPTY.

Wrong:

    MPI_Group_free(&two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &comm);

Right:

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, (int[]){0, 1}, &two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &comm);
    MPI_Group_free(&two);
)",
     "a group comes from MPI_Comm_group and the calls that take groups, and is used before MPI_Group_free"},
    {"MPI_ERR_OP", "the operation is not usable", R"(
The operator of a reduction is not defined on the datatype: MPI_BAND is for integers, MPI_MAXLOC for pairs
such as MPI_DOUBLE_INT, MPI_SUM for numbers. On types that a program makes no operator of MPI's is defined.

Wrong:

    MPI_Allreduce(&x, &result, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);

Right: an operator of that type, or one of the program's own.

    MPI_Op_create(add_points, 1, &add);
    MPI_Allreduce(points, sums, n, point_type, add, MPI_COMM_WORLD);
)",
     "MPI's operators are for MPI's types; MPI_Op_create makes others"},
    {"MPI_ERR_REQUEST", "the request is not usable", R"(
The request was never made or has been completed and freed already. A variable that no call has written
holds anything; MPI_REQUEST_NULL may be waited for at any time.

Wrong: one rank starts nothing, and all wait.

    MPI_Request request;
    if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

Right:

    MPI_Request request = MPI_REQUEST_NULL;

MPI_Start wants a persistent request (MPI_Send_init, MPI_Recv_init) that is not under way.
)",
     "set requests to MPI_REQUEST_NULL before any call writes them, and do not copy them"},
    {"MPI_ERR_TOPOLOGY", "the topology is not usable", R"(
The communicator has no topology, or one of another kind: MPI_Cart_shift wants what MPI_Cart_create has
made, the neighbourhood collectives want a grid or a graph. Ranks that a grid has no place for get
MPI_COMM_NULL.

Wrong:

    MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &before, &after);

Right:

    int dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &before, &after);
)",
     "give the communicator that MPI_Cart_create or MPI_Dist_graph_create has made"},
    {"MPI_ERR_DIMS", "the dimensions are not usable", R"(
The numbers of a grid do not fit: a dimension is negative, or those that are
given to MPI_Dims_create do not divide the number of ranks.

Wrong: three columns for eight ranks.

    int dims[2] = {0, 3};
    MPI_Dims_create(8, 2, dims);

Right: 0 where MPI is to choose.

    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
)",
     "let MPI_Dims_create find dimensions for as many ranks as there are: 0 where it may choose"},
    {"MPI_ERR_IN_STATUS", "the error codes are in the statuses", R"(
Of several requests that one call completes, some have failed. Which ones stands in MPI_ERROR of each
status; without statuses there is no way to know.

Wrong:

    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);   /* which one has failed? */

Right:

    MPI_Status statuses[2];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS)
        for (int i = 0; i < 2; ++i) show(statuses[i].MPI_ERROR);
)",
     "look at MPI_ERROR of each status; the usual cause is a message that is longer than its receive"},
    {"MPI_ERR_PENDING", "the request is neither complete nor failed", R"(
It stands in MPI_ERROR of a status: another request of the same call has failed, and this one is still under
way. It can be waited for again.
)",
     "this one is well: see which other request of the call has failed"},
};

}   // namespace

std::span<Explanation const> errors_of_calls() { return call_pages; }

}   // namespace tutti::launcher
