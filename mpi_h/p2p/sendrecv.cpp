// SPDX-License-Identifier: BSD-3-Clause
// Sending and receiving in one call, blocking and nonblocking (MPI 4.1, 3.2.7 and 3.7.2).
#include "mpi_h/abi/abi.hpp"
#include "mpi_h/entry/entry.hpp"
#include "p2p/request.hpp"

namespace tutti {
namespace {

using p2p::Data;

/// Envelopes of both halves, as passed by the program.
struct Envelopes {
    int dest, sendtag, source, recvtag;
    MPI_Comm comm;
};

/// Checks the ranks and tags, converts them to the library's values, and returns the communicator.
Comm& check(Call& call, Envelopes& w) {
    Comm& comm = call.comm(w.comm);
    call.rank(comm, w.dest, "dest");
    call.rank(comm, w.source, "source", true);
    call.tag(w.sendtag);
    call.tag(w.recvtag, true);
    w.dest = abi::rank_in(w.dest);
    w.source = abi::rank_in(w.source);
    w.recvtag = abi::tag_in(w.recvtag);
    return comm;
}

struct SendPart {
    void const* buf;
    int count;
    MPI_Datatype datatype;
};
struct ReceivePart {
    void* buf;
    int count;
    MPI_Datatype datatype;
};

/// Checks the arguments and calls `body(call, comm, envelopes, type sent, type received)`.
template <class Body>
[[gnu::always_inline]] inline int with(SendPart const& out, ReceivePart const& in, Envelopes envelopes, Body&& body,
                                       Function function = __builtin_FUNCTION()) {
    return enter(function,
                 args(out.buf, out.count, out.datatype, envelopes.dest, envelopes.sendtag, in.buf, in.count,
                      in.datatype, envelopes.source, envelopes.recvtag, envelopes.comm),
                 [&](Call& call) {
                     Comm& comm = check(call, envelopes);
                     Datatype& sent = call.type(out.datatype, "sendtype");
                     Datatype& received = call.type(in.datatype, "recvtype");
                     call.count(out.count, "sendcount");
                     call.count(in.count, "recvcount");
                     call.buffer(out.buf, out.count, sent, "sendbuf");
                     call.buffer(in.buf, in.count, received, "recvbuf");
                     body(call, comm, envelopes, sent, received);
                 });
}

/// As above for one buffer: calls `body(call, comm, envelopes, type)`.
template <class Body>
[[gnu::always_inline]] inline int with_one(ReceivePart const& both, Envelopes envelopes, Body&& body,
                                           Function function = __builtin_FUNCTION()) {
    return enter(function,
                 args(both.buf, both.count, both.datatype, envelopes.dest, envelopes.sendtag, envelopes.source,
                      envelopes.recvtag, envelopes.comm),
                 [&](Call& call) {
                     Comm& comm = check(call, envelopes);
                     Datatype& type = call.type(both.datatype);
                     call.count(both.count);
                     call.buffer(both.buf, both.count, type);
                     body(call, comm, envelopes, type);
                 });
}

MPI_Request handle_of(Ref<Request> made) { return library().tables.requests.add(made.detach()); }

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Sendrecv);
int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
    return with({sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}, {dest, sendtag, source, recvtag, comm},
                [&](Call& call, Comm& c, Envelopes const& w, Datatype& sent, Datatype& received) {
                    call.status(status);
                    StatusOut answer(status);
                    p2p::sendrecv(c, Data::of(sendbuf, sendcount, sent), w.dest, w.sendtag,
                                  Data::of(recvbuf, recvcount, received), w.source, w.recvtag, answer.status,
                                  call.name());
                });
}

TUTTI_FUNCTION(Sendrecv_replace);
int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Status* status) {
    return with_one({buf, count, datatype}, {dest, sendtag, source, recvtag, comm},
                    [&](Call& call, Comm& c, Envelopes const& w, Datatype& type) {
                        call.status(status);
                        StatusOut answer(status);
                        p2p::sendrecv_replace(c, Data::of(buf, count, type), w.dest, w.sendtag, w.source, w.recvtag,
                                              answer.status, call.name());
                    });
}

TUTTI_FUNCTION(Isendrecv);
int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
    return with({sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}, {dest, sendtag, source, recvtag, comm},
                [&](Call& call, Comm& c, Envelopes const& w, Datatype& sent, Datatype& received) {
                    call.pointer(request, "request");
                    *request = handle_of(p2p::isendrecv(c, sendbuf, sendcount, sent, w.dest, w.sendtag, recvbuf,
                                                        recvcount, received, w.source, w.recvtag));
                });
}

TUTTI_FUNCTION(Isendrecv_replace);
int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                           MPI_Comm comm, MPI_Request* request) {
    return with_one(
        {buf, count, datatype}, {dest, sendtag, source, recvtag, comm},
        [&](Call& call, Comm& c, Envelopes const& w, Datatype& type) {
            call.pointer(request, "request");
            *request = handle_of(p2p::isendrecv_replace(c, buf, count, type, w.dest, w.sendtag, w.source, w.recvtag));
        });
}
