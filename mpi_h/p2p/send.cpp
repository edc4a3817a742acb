// SPDX-License-Identifier: BSD-3-Clause
// Blocking, nonblocking and persistent sends in all modes (MPI 3.1, 3.4 to 3.9).
#include "mpi_h/entry/entry.hpp"
#include "p2p/request.hpp"

namespace tutti {
namespace {

using p2p::Data;
using p2p::Mode;

/// The arguments that all sends share, as passed by the program.
struct SendArgs {
    void const* buf;
    int count;
    MPI_Datatype datatype;
    int dest, tag;
    MPI_Comm comm;
};

/// Checks the arguments and calls `body(comm, type)`.
template <class Body>
[[gnu::always_inline]] inline int with(Function function, SendArgs const& a, Body&& body) {
    return enter(function, args(a.buf, a.count, a.datatype, a.dest, a.tag, a.comm), [&](Call& call) {
        Comm& comm = call.comm(a.comm);
        // MPI_PROC_NULL ignores the datatype.
        bool null_peer = a.dest == MPI_PROC_NULL && a.datatype == MPI_DATATYPE_NULL;
        Datatype& type = call.type(null_peer ? MPI_BYTE : a.datatype);
        call.count(a.count);
        call.rank(comm, a.dest, "dest");
        call.tag(a.tag);
        call.buffer(a.buf, a.count, type);
        body(call, comm, type);
    });
}

[[gnu::always_inline]] inline int send(SendArgs const& a, Mode mode, Function function = __builtin_FUNCTION()) {
    return with(function, a, [&](Call& call, Comm& comm, Datatype& type) {
        p2p::send(comm, Data::of(a.buf, a.count, type), abi::rank_in(a.dest), a.tag, mode, call.name());
    });
}

[[gnu::always_inline]] inline int isend(SendArgs const& a, Mode mode, MPI_Request* request,
                                        Function function = __builtin_FUNCTION()) {
    return with(function, a, [&](Call& call, Comm& comm, Datatype& type) {
        call.pointer(request, "request");
        auto made = p2p::isend(comm, a.buf, a.count, type, abi::rank_in(a.dest), a.tag, mode);
        *request = library().tables.requests.add(made.detach());
    });
}

[[gnu::always_inline]] inline int send_init(SendArgs const& a, Mode mode, MPI_Request* request,
                                            Function function = __builtin_FUNCTION()) {
    return with(function, a, [&](Call& call, Comm& comm, Datatype& type) {
        call.pointer(request, "request");
        auto made = p2p::send_init(comm, a.buf, a.count, type, abi::rank_in(a.dest), a.tag, mode);
        *request = library().tables.requests.add(made.detach());
    });
}

}   // namespace
}   // namespace tutti

using tutti::p2p::Mode;

TUTTI_FUNCTION(Send);
int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return tutti::send({buf, count, datatype, dest, tag, comm}, Mode::standard);
}

TUTTI_FUNCTION(Bsend);
int PMPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return tutti::send({buf, count, datatype, dest, tag, comm}, Mode::buffered);
}

TUTTI_FUNCTION(Ssend);
int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return tutti::send({buf, count, datatype, dest, tag, comm}, Mode::synchronous);
}

TUTTI_FUNCTION(Rsend);
int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return tutti::send({buf, count, datatype, dest, tag, comm}, Mode::ready);
}

TUTTI_FUNCTION(Isend);
int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
    return tutti::isend({buf, count, datatype, dest, tag, comm}, Mode::standard, request);
}

TUTTI_FUNCTION(Ibsend);
int PMPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
    return tutti::isend({buf, count, datatype, dest, tag, comm}, Mode::buffered, request);
}

TUTTI_FUNCTION(Issend);
int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
    return tutti::isend({buf, count, datatype, dest, tag, comm}, Mode::synchronous, request);
}

TUTTI_FUNCTION(Irsend);
int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
    return tutti::isend({buf, count, datatype, dest, tag, comm}, Mode::ready, request);
}

TUTTI_FUNCTION(Send_init);
int PMPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    return tutti::send_init({buf, count, datatype, dest, tag, comm}, Mode::standard, request);
}

TUTTI_FUNCTION(Bsend_init);
int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
    return tutti::send_init({buf, count, datatype, dest, tag, comm}, Mode::buffered, request);
}

TUTTI_FUNCTION(Ssend_init);
int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
    return tutti::send_init({buf, count, datatype, dest, tag, comm}, Mode::synchronous, request);
}

TUTTI_FUNCTION(Rsend_init);
int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
    return tutti::send_init({buf, count, datatype, dest, tag, comm}, Mode::ready, request);
}
