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
struct Incoming {
    void* buf;
    int count;
    MPI_Datatype datatype;
    int source, tag;
    MPI_Comm comm;
};

template <class Body>
[[gnu::always_inline]] inline int with(char const* name, Incoming const& a, Body&& body) {
    return enter(name, given(a.buf, a.count, a.datatype, a.source, a.tag, a.comm), [&](Call& call) {
        Comm& comm = call.comm(a.comm);
        // MPI_PROC_NULL ignores the datatype.
        bool nobody = a.source == MPI_PROC_NULL && a.datatype == MPI_DATATYPE_NULL;
        Datatype& type = call.type(nobody ? MPI_BYTE : a.datatype);
        call.count(a.count);
        call.rank(comm, a.source, "source", true);
        call.tag(a.tag, true);
        call.buffer(a.buf, a.count, type);
        body(call, comm, type, abi::rank_in(a.source), abi::tag_in(a.tag));
    });
}

/// Checks the communicator, source and tag of a probe; calls `body(call, comm, source, tag)`.
template <class Body>
[[gnu::always_inline]] inline int with_probe(char const* name, int source, int tag, MPI_Comm handle, Body&& body) {
    return enter(name, given(source, tag, handle), [&](Call& call) {
        Comm& comm = call.comm(handle);
        call.rank(comm, source, "source", true);
        call.tag(tag, true);
        body(call, comm, abi::rank_in(source), abi::tag_in(tag));
    });
}

/// Returns a handle for a message that a matched probe has removed from matching.
MPI_Message hand_out(Ref<p2p::Message> message) {
    if (!message->content) return MPI_MESSAGE_NO_PROC;
    // Reported if the program passes it as a request: both are in the same table.
    message->status.error = ErrorClass::request;
    return library().tables.requests.add(message.detach());
}

/// Returns the message of a handle; later errors are reported to its communicator's error handler.
p2p::Message& message_in(Call& call, MPI_Message const* handle) {
    if (*handle == MPI_MESSAGE_NULL) fail(ErrorClass::request, "message is MPI_MESSAGE_NULL");
    auto* message = dynamic_cast<p2p::Message*>(library().tables.requests.find(*handle));
    if (!message) fail(ErrorClass::request, "message is no message of MPI_Mprobe, or was received already");
    call.on = message->comm.get();
    return *message;
}

void use_up(MPI_Message* handle) {
    library().tables.requests.remove(*handle);
    *handle = MPI_MESSAGE_NULL;
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Recv)
int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return with("MPI_Recv", {buf, count, datatype, source, tag, comm},
                [&](Call& call, Comm& c, Datatype& type, int from, int wanted) {
                    call.status(status);
                    StatusOut answer(status);
                    p2p::recv(c, Data::of(buf, count, type), from, wanted, answer.status, call.name);
                });
}

TUTTI_FUNCTION(Irecv)
int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    return with("MPI_Irecv", {buf, count, datatype, source, tag, comm},
                [&](Call& call, Comm& c, Datatype& type, int from, int wanted) {
                    call.pointer(request, "request");
                    auto made = p2p::irecv(c, buf, count, type, from, wanted);
                    *request = library().tables.requests.add(made.detach());
                });
}

TUTTI_FUNCTION(Recv_init)
int PMPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    return with("MPI_Recv_init", {buf, count, datatype, source, tag, comm},
                [&](Call& call, Comm& c, Datatype& type, int from, int wanted) {
                    call.pointer(request, "request");
                    auto made = p2p::recv_init(c, buf, count, type, from, wanted);
                    *request = library().tables.requests.add(made.detach());
                });
}

TUTTI_FUNCTION(Probe)
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return with_probe("MPI_Probe", source, tag, comm, [&](Call& call, Comm& c, int from, int wanted) {
        call.status(status);
        Status s;
        p2p::probe(c, from, wanted, s, call.name);
        abi::store(status, s);
    });
}

TUTTI_FUNCTION(Iprobe)
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    return with_probe("MPI_Iprobe", source, tag, comm, [&](Call& call, Comm& c, int from, int wanted) {
        call.pointer(flag, "flag");
        call.status(status);
        Status s;
        *flag = p2p::iprobe(c, from, wanted, s);
        if (*flag) abi::store(status, s);
    });
}

TUTTI_FUNCTION(Mprobe)
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    return with_probe("MPI_Mprobe", source, tag, comm, [&](Call& call, Comm& c, int from, int wanted) {
        call.pointer(message, "message");
        call.status(status);
        Status s;
        s.ignored = status == MPI_STATUS_IGNORE;
        *message = hand_out(p2p::mprobe(c, from, wanted, s, call.name));
        abi::store(status, s);
    });
}

TUTTI_FUNCTION(Improbe)
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    return with_probe("MPI_Improbe", source, tag, comm, [&](Call& call, Comm& c, int from, int wanted) {
        call.pointer(flag, "flag");
        call.pointer(message, "message");
        call.status(status);
        Status s;
        s.ignored = status == MPI_STATUS_IGNORE;
        auto found = p2p::improbe(c, from, wanted, s);
        *flag = found ? 1 : 0;
        *message = found ? hand_out(std::move(found)) : MPI_MESSAGE_NULL;
        if (*flag) abi::store(status, s);
    });
}

TUTTI_FUNCTION(Mrecv)
int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
    return enter("MPI_Mrecv", given(buf, count, datatype, message, status), [&](Call& call) {
        call.pointer(message, "message");
        call.status(status);
        if (*message == MPI_MESSAGE_NO_PROC) {
            StatusOut answer(status);
            answer.status.source = proc_null;
            *message = MPI_MESSAGE_NULL;
            return;
        }
        auto held = Ref<p2p::Message>::share(&message_in(call, message));
        Datatype& type = call.type(datatype);
        call.count(count);
        call.buffer(buf, count, type);
        use_up(message);
        StatusOut answer(status);
        try {
            p2p::mrecv(*held, Data::of(buf, count, type), answer.status, call.name);
        } catch (Error const& error) { throw RequestError(call, error, held->comm); }
    });
}

TUTTI_FUNCTION(Imrecv)
int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
    return enter("MPI_Imrecv", given(buf, count, datatype, message, request), [&](Call& call) {
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
            use_up(message);
        }
        *request = library().tables.requests.add(made.detach());
    });
}
