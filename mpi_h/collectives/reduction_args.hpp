// SPDX-License-Identifier: BSD-3-Clause
// Arguments of barrier, broadcast and the reductions, checked and converted to objects, for all three forms of the call
// (MPI 3.1, 5.3, 5.4, 5.9 to 5.12; MPI 4.0, 6.13).
#pragma once

#include <numeric>

#include "mpi_h/collectives/call_forms.hpp"
#include "mpi_h/collectives/inter_args.hpp"

namespace tutti {

/// Checks of every reduction. `result`: number of elements that this rank receives in `recvbuf`, or 0. `sendbuf` is
/// MPI_IN_PLACE also for a rank without an operand: the root of an intercommunicator's reduce.
inline coll::ReduceArgs reduction(Call& call, void const* sendbuf, void* recvbuf, std::int64_t count,
                                  MPI_Datatype datatype, MPI_Op op, std::int64_t result) {
    coll::ReduceArgs args{};
    args.type = &call.type(datatype);
    args.op = &call.op(op);
    args.count = count;
    call.count(count);
    args.op->check(*args.type);
    bool const in_place = is_in_place(sendbuf);
    args.in = in_place ? coll::in_place : sendbuf;
    args.out = own_address(recvbuf, "recvbuf");
    if (args.in) no_alias({args.in, count, args.type}, {args.out, count, args.type});
    else if (!in_place && count > 0 && args.type->size() > 0)   // a null pointer would mean in place below
        fail(ErrorClass::buffer, "sendbuf is a null pointer (or MPI_BOTTOM, which reductions do not support)");
    if (!in_place) call.buffer(sendbuf, count, *args.type, "sendbuf");
    if (result > 0) call.buffer(recvbuf, result, *args.type, "recvbuf");
    return args;
}

/// Throws Error(buffer) for MPI_IN_PLACE on an intercommunicator.
inline void check_not_in_place(Comm const& comm, void const* sendbuf) {
    if (comm.is_inter()) own_address(sendbuf, "sendbuf (on an intercommunicator)");
}

inline BoundCall<coll::BarrierArgs> barrier(Call& call, MPI_Comm comm) {
    return {call.comm(comm), coll::Collective::barrier, {}};
}

inline BoundCall<coll::BcastArgs> bcast(Call& call, void* buffer, int count, MPI_Datatype datatype, int root,
                                        MPI_Comm comm) {
    Comm& c = call.comm(comm);
    auto const data = [&] { return message(call, buffer, count, datatype); };
    if (c.is_inter()) return {c, coll::Collective::bcast, inter::bcast(c, root, data)};
    call.root(c, root);
    coll::BcastArgs args{};
    args.data = data();
    args.root = root;
    return {c, coll::Collective::bcast, args};
}

inline BoundCall<coll::ReduceArgs> reduce(Call& call, void const* sendbuf, void* recvbuf, int count,
                                          MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    auto const operand = [&] {
        own_address(sendbuf, "sendbuf (not at the root)");
        return reduction(call, sendbuf, nullptr, count, datatype, op, 0);
    };
    if (c.is_inter())
        return {c, coll::Collective::reduce, inter::reduce(c, root, operand, [&] {
                    return reduction(call, MPI_IN_PLACE, recvbuf, count, datatype, op, count);
                })};
    call.root(c, root);
    bool const at_root = c.rank() == root;
    coll::ReduceArgs args = at_root ? reduction(call, sendbuf, recvbuf, count, datatype, op, count) : operand();
    args.root = root;
    return {c, coll::Collective::reduce, args};
}

inline BoundCall<coll::ReduceArgs> allreduce(Call& call, void const* sendbuf, void* recvbuf, int count,
                                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    check_not_in_place(c, sendbuf);
    coll::ReduceArgs args = reduction(call, sendbuf, recvbuf, count, datatype, op, count);
    args.first_group_size = c.first_group_size();
    return {c, coll::Collective::allreduce, args};
}

/// `counts` must be valid until the call has completed.
inline BoundCall<coll::ReduceScatterArgs> reduce_scatter_by(Call& call, Comm& comm, void const* sendbuf, void* recvbuf,
                                                            std::span<int const> counts, MPI_Datatype datatype,
                                                            MPI_Op op) {
    check_not_in_place(comm, sendbuf);
    for (int n : counts) call.count(n, "recvcounts");
    std::int64_t const total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::int64_t const mine = is_in_place(sendbuf) ? total : counts[static_cast<std::size_t>(comm.rank())];
    coll::ReduceScatterArgs args{reduction(call, sendbuf, recvbuf, total, datatype, op, mine), counts};
    args.first_group_size = comm.first_group_size();
    return {comm, coll::Collective::reduce_scatter, args};
}

inline BoundCall<coll::ReduceScatterArgs> reduce_scatter(Call& call, void const* sendbuf, void* recvbuf,
                                                         int const recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                                         MPI_Comm comm) {
    Comm& c = call.comm(comm);
    call.pointer(recvcounts, "recvcounts");
    return reduce_scatter_by(call, c, sendbuf, recvbuf, {recvcounts, static_cast<std::size_t>(c.size())}, datatype, op);
}

inline BoundCall<coll::ReduceScatterArgs> reduce_scatter_block(Call& call, void const* sendbuf, void* recvbuf,
                                                               int recvcount, MPI_Datatype datatype, MPI_Op op,
                                                               MPI_Comm comm, coll::Lists& lists) {
    Comm& c = call.comm(comm);
    call.count(recvcount, "recvcount");
    lists.counts.assign(static_cast<std::size_t>(c.size()), recvcount);
    return reduce_scatter_by(call, c, sendbuf, recvbuf, lists.counts, datatype, op);
}

inline BoundCall<coll::ReduceArgs> scan(Call& call, void const* sendbuf, void* recvbuf, int count,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    Comm& c = call.intracomm(comm);
    return {c, coll::Collective::scan, reduction(call, sendbuf, recvbuf, count, datatype, op, count)};
}

inline BoundCall<coll::ReduceArgs> exscan(Call& call, void const* sendbuf, void* recvbuf, int count,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    Comm& c = call.intracomm(comm);
    bool const gets_nothing = c.rank() == 0 && !is_in_place(sendbuf);   // recvbuf is not significant at rank 0
    return {c, coll::Collective::exscan,
            reduction(call, sendbuf, recvbuf, count, datatype, op, gets_nothing ? 0 : count)};
}

}   // namespace tutti
