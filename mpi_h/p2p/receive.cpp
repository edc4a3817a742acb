// SPDX-License-Identifier: BSD-3-Clause
// Blocking, nonblocking and persistent receives, and probes (MPI 3.1, 3.2, 3.7 to 3.9).
#include "mpi_h/abi/abi.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/p2p/request_handles.hpp"
#include "p2p/request.hpp"

namespace tutti {
namespace {

using p2p::Data;

/// The arguments that all receives share, as passed by the program.
struct ReceiveArgs {
    void* buf;
    int count;
    MPI_Datatype datatype;
    int source, tag;
    MPI_Comm comm;
};

template <class Body>
[[gnu::always_inline]] inline int with(ReceiveArgs const& a, Body&& body, Function function = __builtin_FUNCTION()) {
    return enter(function, args(a.buf, a.count, a.datatype, a.source, a.tag, a.comm), [&](Call& call) {
        Comm& comm = call.comm(a.comm);
        // MPI_PROC_NULL ignores the datatype.
        bool null_peer = a.source == MPI_PROC_NULL && a.datatype == MPI_DATATYPE_NULL;
        Datatype& type = call.type(null_peer ? MPI_BYTE : a.datatype);
        call.count(a.count);
        call.rank(comm, a.source, "source", true);
        call.tag(a.tag, true);
        call.buffer(a.buf, a.count, type);
        body(call, comm, type, abi::rank_in(a.source), abi::tag_in(a.tag));
    });
}

/// Checks the communicator, source and tag of a probe; calls `body(call, comm, source, tag)`.
template <class Body>
[[gnu::always_inline]] inline int with_probe(int source, int tag, MPI_Comm handle, Body&& body,
                                             Function function = __builtin_FUNCTION()) {
    return enter(function, args(source, tag, handle), [&](Call& call) {
        Comm& comm = call.comm(handle);
        call.rank(comm, source, "source", true);
        call.tag(tag, true);
        body(call, comm, abi::rank_in(source), abi::tag_in(tag));
    });
}

/// Returns a handle for a message that a matched probe has removed from matching.
MPI_Message message_handle(Ref<p2p::Message> message) {
    if (!message->content) return MPI_MESSAGE_NO_PROC;
    // Reported if the program passes it as a request: both are in the same table.
    message->status.error = ErrorClass::request;
    return library().tables.requests.add(message.detach());
}

/// Returns the message of a handle; later errors are reported to its communicator's error handler.
p2p::Message& message_in(Call& call, MPI_Message const* handle) {
    if (*handle == MPI_MESSAGE_NULL) fail(ErrorClass::request, "message is MPI_MESSAGE_NULL");
    auto* message = dynamic_cast<p2p::Message*>(library().tables.requests.find(*handle));
    if (!message)
        fail(ErrorClass::request, "message was not returned by MPI_Mprobe or MPI_Improbe, or was already received");
    call.error_object = message->comm.get();
    return *message;
}

void remove_message(MPI_Message* handle) {
    library().tables.requests.remove(*handle);
    *handle = MPI_MESSAGE_NULL;
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Recv);
int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return with({buf, count, datatype, source, tag, comm},
                [&](Call& call, Comm& c, Datatype& type, int source_rank, int match_tag) {
                    call.status(status);
                    StatusOut answer(status);
                    p2p::recv(c, Data::of(buf, count, type), source_rank, match_tag, answer.status, call.name());
                });
}

TUTTI_FUNCTION(Irecv);
int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    return with({buf, count, datatype, source, tag, comm},
                [&](Call& call, Comm& c, Datatype& type, int source_rank, int match_tag) {
                    call.pointer(request, "request");
                    auto made = p2p::irecv(c, buf, count, type, source_rank, match_tag);
                    *request = library().tables.requests.add(made.detach());
                });
}

TUTTI_FUNCTION(Recv_init);
int PMPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    return with({buf, count, datatype, source, tag, comm},
                [&](Call& call, Comm& c, Datatype& type, int source_rank, int match_tag) {
                    call.pointer(request, "request");
                    auto made = p2p::recv_init(c, buf, count, type, source_rank, match_tag);
                    *request = library().tables.requests.add(made.detach());
                });
}

TUTTI_FUNCTION(Probe);
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return with_probe(source, tag, comm, [&](Call& call, Comm& c, int source_rank, int match_tag) {
        call.status(status);
        Status s;
        p2p::probe(c, source_rank, match_tag, s, call.name());
        abi::store(status, s);
    });
}

TUTTI_FUNCTION(Iprobe);
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    return with_probe(source, tag, comm, [&](Call& call, Comm& c, int source_rank, int match_tag) {
        call.pointer(flag, "flag");
        call.status(status);
        Status s;
        *flag = p2p::iprobe(c, source_rank, match_tag, s);
        if (*flag) abi::store(status, s);
    });
}

TUTTI_FUNCTION(Mprobe);
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    return with_probe(source, tag, comm, [&](Call& call, Comm& c, int source_rank, int match_tag) {
        call.pointer(message, "message");
        call.status(status);
        Status s;
        s.ignored = status == MPI_STATUS_IGNORE;
        *message = message_handle(p2p::mprobe(c, source_rank, match_tag, s, call.name()));
        abi::store(status, s);
    });
}

TUTTI_FUNCTION(Improbe);
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    return with_probe(source, tag, comm, [&](Call& call, Comm& c, int source_rank, int match_tag) {
        call.pointer(flag, "flag");
        call.pointer(message, "message");
        call.status(status);
        Status s;
        s.ignored = status == MPI_STATUS_IGNORE;
        auto found = p2p::improbe(c, source_rank, match_tag, s);
        *flag = found ? 1 : 0;
        *message = found ? message_handle(std::move(found)) : MPI_MESSAGE_NULL;
        if (*flag) abi::store(status, s);
    });
}

TUTTI_FUNCTION(Mrecv);
int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
    return enter(args(buf, count, datatype, message, status), [&](Call& call) {
        call.pointer(message, "message");
        call.status(status);
        if (*message == MPI_MESSAGE_NO_PROC) {
            StatusOut answer(status);
            answer.status.source = proc_null;
            *message = MPI_MESSAGE_NULL;
            return;
        }
        auto message_ref = Ref<p2p::Message>::share(&message_in(call, message));
        Datatype& type = call.type(datatype);
        call.count(count);
        call.buffer(buf, count, type);
        remove_message(message);
        StatusOut answer(status);
        try {
            p2p::mrecv(*message_ref, Data::of(buf, count, type), answer.status, call.name());
        } catch (Error const& error) { throw RequestError(call, error, message_ref->comm); }
    });
}

TUTTI_FUNCTION(Imrecv);
int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
    return enter(args(buf, count, datatype, message, request), [&](Call& call) {
        call.pointer(message, "message");
        call.pointer(request, "request");
        Datatype& type = call.type(datatype);
        call.count(count);
        call.buffer(buf, count, type);
        Ref<Request> made;
        if (*message == MPI_MESSAGE_NO_PROC) {
            made = p2p::irecv(*library().process->self, buf, count, type, proc_null, any_tag);
            *message = MPI_MESSAGE_NULL;
        } else {
            made = p2p::imrecv(message_in(call, message), buf, count, type);
            remove_message(message);
        }
        *request = library().tables.requests.add(made.detach());
    });
}
