// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and the blocking reductions (MPI 3.1, 5.3, 5.4, 5.9 to 5.11).
#include <numeric>

#include "coll/collectives.hpp"
#include "mpi_h/buffers.hpp"

namespace tutti {
namespace {

/// What every reduction checks at a rank that gives an operand and, unless `recvbuf` is null, gets a result.
coll::ReduceArgs reduction(Call& call, void const* sendbuf, void* recvbuf, std::int64_t count, MPI_Datatype datatype,
                           MPI_Op op) {
    Datatype& type = call.type(datatype);
    Op& operation = call.op(op);
    call.count(count);
    operation.check(type);
    coll::ReduceArgs args{};
    args.in = is_in_place(sendbuf) ? coll::in_place : sendbuf;
    args.out = own_address(recvbuf, "recvbuf");
    args.count = count;
    args.type = &type;
    args.op = &operation;
    if (args.in) no_alias({args.in, count, &type}, {args.out, count, &type});
    else if (!is_in_place(sendbuf) && count > 0 && type.size() > 0)   // below, a null pointer means in place
        fail(ErrorClass::buffer, "sendbuf is a null pointer (or MPI_BOTTOM, which reductions cannot start from)");
    return args;
}

/// The same at a rank that certainly gets a result.
coll::ReduceArgs reduction_for_all(Call& call, void const* sendbuf, void* recvbuf, std::int64_t count,
                                   MPI_Datatype datatype, MPI_Op op) {
    coll::ReduceArgs args = reduction(call, sendbuf, recvbuf, count, datatype, op);
    call.buffer(recvbuf, count, *args.type, "recvbuf");
    return args;
}

void reduce_scatter(Call& call, Comm& comm, void const* sendbuf, void* recvbuf, std::span<int const> counts,
                    MPI_Datatype datatype, MPI_Op op) {
    for (int n : counts) call.count(n, "recvcounts");
    std::int64_t const total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    coll::ReduceScatterArgs args{reduction(call, sendbuf, recvbuf, total, datatype, op), counts};
    call.buffer(recvbuf, args.in ? counts[static_cast<std::size_t>(comm.rank())] : total, *args.type, "recvbuf");
    coll::reduce_scatter(comm, args);
}

}  // namespace
}  // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Barrier)
int PMPI_Barrier(MPI_Comm comm) {
    return enter("MPI_Barrier", [&](Call& call) { coll::barrier(call.comm(comm)); });
}

TUTTI_FUNCTION(Bcast)
int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return enter("MPI_Bcast", [&](Call& call) {
        Comm& c = call.comm(comm);
        call.root(c, root);
        coll::BcastArgs args{};
        args.data = message(call, buffer, count, datatype);
        args.root = root;
        coll::bcast(c, args);
    });
}

TUTTI_FUNCTION(Reduce)
int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm) {
    return enter("MPI_Reduce", [&](Call& call) {
        Comm& c = call.comm(comm);
        call.root(c, root);
        bool const at_root = c.rank() == root;
        if (!at_root) own_address(sendbuf, "sendbuf (not at the root)");
        coll::ReduceArgs args = at_root ? reduction_for_all(call, sendbuf, recvbuf, count, datatype, op)
                                        : reduction(call, sendbuf, nullptr, count, datatype, op);
        args.root = root;
        coll::reduce(c, args);
    });
}

TUTTI_FUNCTION(Allreduce)
int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter("MPI_Allreduce", [&](Call& call) {
        Comm& c = call.comm(comm);
        coll::ReduceArgs args = reduction_for_all(call, sendbuf, recvbuf, count, datatype, op);
        coll::allreduce(c, args);
    });
}

TUTTI_FUNCTION(Reduce_scatter)
int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm) {
    return enter("MPI_Reduce_scatter", [&](Call& call) {
        Comm& c = call.comm(comm);
        call.pointer(recvcounts, "recvcounts");
        reduce_scatter(call, c, sendbuf, recvbuf, {recvcounts, static_cast<std::size_t>(c.size())}, datatype, op);
    });
}

TUTTI_FUNCTION(Reduce_scatter_block)
int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    return enter("MPI_Reduce_scatter_block", [&](Call& call) {
        Comm& c = call.comm(comm);
        call.count(recvcount, "recvcount");
        std::vector<int> const counts(static_cast<std::size_t>(c.size()), recvcount);
        reduce_scatter(call, c, sendbuf, recvbuf, counts, datatype, op);
    });
}

TUTTI_FUNCTION(Scan)
int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter("MPI_Scan", [&](Call& call) {
        Comm& c = call.comm(comm);
        coll::ReduceArgs args = reduction_for_all(call, sendbuf, recvbuf, count, datatype, op);
        coll::scan(c, args);
    });
}

TUTTI_FUNCTION(Exscan)
int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter("MPI_Exscan", [&](Call& call) {
        Comm& c = call.comm(comm);
        bool const gets_nothing = c.rank() == 0 && !is_in_place(sendbuf);   // recvbuf is not significant at rank 0
        coll::ReduceArgs args = gets_nothing ? reduction(call, sendbuf, recvbuf, count, datatype, op)
                                             : reduction_for_all(call, sendbuf, recvbuf, count, datatype, op);
        coll::exscan(c, args);
    });
}
