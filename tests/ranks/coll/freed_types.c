// SPDX-License-Identifier: BSD-3-Clause
// The program frees datatype, operator and communicator of a pending reduction. The operator still gets the same
// datatype handle, which is valid only inside it (MPI 4.1, 5.1.9, 6.9.5).
// ranks: 1 2 3 5
#include "tests/ranks/check.h"

enum { largest = 20000 };

static MPI_Datatype given;
static int calls;

static void add_pairs(void *in, void *inout, int *n, MPI_Datatype *type) {
    int size = 0;
    MPI_Aint lb, extent;
    CHECK(*type == given, "the operator gets datatype %x instead of %x", (unsigned)*type, (unsigned)given);
    CHECK(MPI_Type_size(*type, &size) == MPI_SUCCESS && size == 8, "its size is %d", size);
    MPI_Type_get_extent(*type, &lb, &extent);
    CHECK(extent == 8, "its extent is %ld", (long)extent);
    for (int i = 0; i < 2 * *n; ++i) ((int *)inout)[i] += ((int *)in)[i];
    ++calls;
}

static int in[2 * largest], out[2 * largest], rank, size;

/// Returns element i of the sum over the first `ranks` ranks.
static int expected(int ranks, int i) {
    int sum = 0;
    for (int r = 0; r < ranks; ++r) sum += r + i;
    return sum;
}

enum form { iallreduce, ireduce, iscan, iexscan, ireduce_scatter_block, scan_init, allreduce_init, reduce_init, forms };

static MPI_Request begin(enum form form, int count, MPI_Op op, MPI_Comm comm) {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype type = given;
    switch (form) {
    case iallreduce: MPI_Iallreduce(in, out, count, type, op, comm, &r); break;
    case ireduce: MPI_Ireduce(in, out, count, type, op, size - 1, comm, &r); break;
    case iscan: MPI_Iscan(in, out, count, type, op, comm, &r); break;
    case iexscan: MPI_Iexscan(in, out, count, type, op, comm, &r); break;
    case ireduce_scatter_block: MPI_Ireduce_scatter_block(in, out, count, type, op, comm, &r); break;
    case scan_init: MPI_Scan_init(in, out, count, type, op, comm, MPI_INFO_NULL, &r); break;
    case allreduce_init: MPI_Allreduce_init(in, out, count, type, op, comm, MPI_INFO_NULL, &r); break;
    case reduce_init: MPI_Reduce_init(in, out, count, type, op, size - 1, comm, MPI_INFO_NULL, &r); break;
    case forms: break;
    }
    return r;
}

static void check(enum form form, int count) {
    int ranks = size, first = 0;
    if ((form == ireduce || form == reduce_init) && rank != size - 1) return;
    if (form == iscan || form == scan_init) ranks = rank + 1;
    if (form == iexscan) ranks = rank;
    if (form == ireduce_scatter_block) first = 2 * count * rank;
    if (ranks == 0) return;
    for (int i = 0; i < 2 * count; ++i)
        CHECK(out[i] == expected(ranks, first + i), "form %d, %d pairs: element %d is %d", form, count, i, out[i]);
}

static void reduce(enum form form, int count, int commutes) {
    MPI_Comm comm;
    MPI_Op op;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(add_pairs, commutes, &op);
    MPI_Type_contiguous(2, MPI_INT, &given);
    MPI_Type_commit(&given);
    MPI_Datatype type = given;
    for (int i = 0; i < 2 * count; ++i) out[i] = -1;
    MPI_Request request = begin(form, count, op, comm);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    MPI_Datatype later;   /* must get another handle */
    MPI_Type_contiguous(3, MPI_CHAR, &later);
    CHECK(later != given, "a new datatype has the handle %x of one in use", (unsigned)later);
    for (int start = 0; start < (form >= scan_init ? 3 : 1); ++start) {
        if (form >= scan_init) MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(form, count);
        for (int i = 0; i < 2 * count; ++i) out[i] = -1;
    }
    if (form >= scan_init) MPI_Request_free(&request);
    MPI_Type_free(&later);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2 * largest; ++i) in[i] = rank + i;
    for (enum form form = 0; form < forms; ++form)
        for (int count = 1; count <= largest; count *= 20) {
            if (form == ireduce_scatter_block && count * size > largest) continue;
            reduce(form, count, 1);
            reduce(form, count, 0);
        }
    CHECK(size == 1 || calls > 0, "the operator was never called by rank %d", rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int bytes;
    FAILS(MPI_ERR_TYPE, MPI_Type_size(given, &bytes));
    MPI_Finalize();
    return 0;
}
