// SPDX-License-Identifier: BSD-3-Clause
// Blocking, nonblocking and persistent sends in all modes (MPI 3.1, 3.4 to 3.9), and the buffers of buffered sends.
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

// Buffers of buffered sends: of the process (MPI 3.1, 3.6), of single communicators, automatic buffers, and flushing
// them (MPI 4.1, 3.6). A communicator that is freed with a buffer uses it until the messages in it have been sent;
// MPI_Comm_disconnect waits for that.

namespace tutti {
namespace {

static_assert(p2p::SendBuffer::overhead == MPI_BSEND_OVERHEAD);

/// Selects the process's buffer or that of `comm`.
struct BufferOwner {
    bool of_process;
    MPI_Comm comm;
};
constexpr BufferOwner of_process{true, MPI_COMM_NULL};

p2p::SendBuffer& buffer_in(Call& call, BufferOwner owner) {
    if (owner.of_process) return p2p::buffer_of(*library().process);
    return p2p::buffer_of(call.comm(owner.comm));
}

template <class... Arguments>
[[gnu::always_inline]] inline int attach(CallArguments<Arguments...> const& arguments, BufferOwner owner, void* memory,
                                         int size, Function function = __builtin_FUNCTION()) {
    return enter(function, arguments, [&](Call& call) {
        p2p::SendBuffer& buffer = buffer_in(call, owner);
        if (memory == MPI_BUFFER_AUTOMATIC) return buffer.attach_automatic();   // the size is ignored
        if (size < 0) fail(ErrorClass::arg, "size is ", size, " but must be at least 0");
        call.pointer(memory, "buffer");
        buffer.attach(memory, static_cast<std::size_t>(size));
    });
}

template <class... Arguments>
[[gnu::always_inline]] inline int detach(CallArguments<Arguments...> const& arguments, BufferOwner owner,
                                         void* buffer_addr, int* size, Function function = __builtin_FUNCTION()) {
    return enter(function, arguments, [&](Call& call) {
        p2p::SendBuffer& buffer = buffer_in(call, owner);
        call.pointer(buffer_addr, "buffer_addr");
        call.pointer(size, "size");
        p2p::flush(*library().process, buffer, call.name());
        bool const automatic = buffer.automatic();
        auto const [memory, bytes] = buffer.detach();
        *static_cast<void**>(buffer_addr) = automatic ? MPI_BUFFER_AUTOMATIC : memory;
        *size = static_cast<int>(bytes);
    });
}

template <class... Arguments>
[[gnu::always_inline]] inline int flush(CallArguments<Arguments...> const& arguments, BufferOwner owner,
                                        Function function = __builtin_FUNCTION()) {
    return enter(function, arguments,
                 [&](Call& call) { p2p::flush(*library().process, buffer_in(call, owner), call.name()); });
}

template <class... Arguments>
[[gnu::always_inline]] inline int iflush(CallArguments<Arguments...> const& arguments, BufferOwner owner,
                                         MPI_Request* request, Function function = __builtin_FUNCTION()) {
    return enter(function, arguments, [&](Call& call) {
        p2p::SendBuffer& buffer = buffer_in(call, owner);
        call.pointer(request, "request");
        *request = library().tables.requests.add(p2p::iflush(*library().process, buffer).detach());
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Buffer_attach);
int PMPI_Buffer_attach(void* buffer, int size) { return attach(args(buffer, size), of_process, buffer, size); }

TUTTI_FUNCTION(Buffer_detach);
int PMPI_Buffer_detach(void* buffer_addr, int* size) {
    return detach(args(buffer_addr, size), of_process, buffer_addr, size);
}

TUTTI_FUNCTION(Buffer_flush);
int PMPI_Buffer_flush() { return flush(args(), of_process); }

TUTTI_FUNCTION(Buffer_iflush);
int PMPI_Buffer_iflush(MPI_Request* request) { return iflush(args(request), of_process, request); }

TUTTI_FUNCTION(Comm_attach_buffer);
int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
    return attach(args(comm, buffer, size), {false, comm}, buffer, size);
}

TUTTI_FUNCTION(Comm_detach_buffer);
int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
    return detach(args(comm, buffer_addr, size), {false, comm}, buffer_addr, size);
}

TUTTI_FUNCTION(Comm_flush_buffer);
int PMPI_Comm_flush_buffer(MPI_Comm comm) { return flush(args(comm), {false, comm}); }

TUTTI_FUNCTION(Comm_iflush_buffer);
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
    return iflush(args(comm, request), {false, comm}, request);
}
