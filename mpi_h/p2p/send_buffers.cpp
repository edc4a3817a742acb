// SPDX-License-Identifier: BSD-3-Clause
// The buffers of buffered sends: the process's (MPI 3.1, 3.6), one for each communicator that wants its own, automatic
// ones, and waiting until they are empty (MPI 4.1, 3.6). A communicator that is freed with a buffer needs it until the
// messages in it have left; MPI_Comm_disconnect waits for that.
#include "mpi_h/entry/entry.hpp"
#include "p2p/request.hpp"

namespace tutti {
namespace {

static_assert(p2p::SendBuffer::overhead == MPI_BSEND_OVERHEAD);

/// The process's buffer where `comm` is none.
struct Which {
    bool of_process;
    MPI_Comm comm;
};
constexpr Which of_process{true, MPI_COMM_NULL};

p2p::SendBuffer& buffer_in(Call& call, Which which) {
    if (which.of_process) return p2p::buffer_of(*library().process);
    return p2p::buffer_of(call.comm(which.comm));
}

[[gnu::always_inline]] inline int attach(char const* name, Which which, void* memory, int size) {
    return enter(name, [&](Call& call) {
        p2p::SendBuffer& buffer = buffer_in(call, which);
        if (memory == MPI_BUFFER_AUTOMATIC) return buffer.attach_automatic();   // whatever the size
        if (size < 0) fail(ErrorClass::arg, "size is ", size, " but must be at least 0");
        call.pointer(memory, "buffer");
        buffer.attach(memory, static_cast<std::size_t>(size));
    });
}

[[gnu::always_inline]] inline int detach(char const* name, Which which, void* buffer_addr, int* size) {
    return enter(name, [&](Call& call) {
        p2p::SendBuffer& buffer = buffer_in(call, which);
        call.pointer(buffer_addr, "buffer_addr");
        call.pointer(size, "size");
        p2p::flush(*library().process, buffer, call.name);
        bool const automatic = buffer.automatic();
        auto const [memory, bytes] = buffer.detach();
        *static_cast<void**>(buffer_addr) = automatic ? MPI_BUFFER_AUTOMATIC : memory;
        *size = static_cast<int>(bytes);
    });
}

[[gnu::always_inline]] inline int flush(char const* name, Which which) {
    return enter(name, [&](Call& call) { p2p::flush(*library().process, buffer_in(call, which), call.name); });
}

[[gnu::always_inline]] inline int iflush(char const* name, Which which, MPI_Request* request) {
    return enter(name, [&](Call& call) {
        p2p::SendBuffer& buffer = buffer_in(call, which);
        call.pointer(request, "request");
        *request = library().tables.requests.add(p2p::iflush(*library().process, buffer).detach());
    });
}

}   // namespace
}   // namespace tutti

using tutti::of_process;

TUTTI_FUNCTION(Buffer_attach)
int PMPI_Buffer_attach(void* buffer, int size) { return tutti::attach("MPI_Buffer_attach", of_process, buffer, size); }

TUTTI_FUNCTION(Buffer_detach)
int PMPI_Buffer_detach(void* buffer_addr, int* size) {
    return tutti::detach("MPI_Buffer_detach", of_process, buffer_addr, size);
}

TUTTI_FUNCTION(Buffer_flush)
int PMPI_Buffer_flush() { return tutti::flush("MPI_Buffer_flush", of_process); }

TUTTI_FUNCTION(Buffer_iflush)
int PMPI_Buffer_iflush(MPI_Request* request) { return tutti::iflush("MPI_Buffer_iflush", of_process, request); }

TUTTI_FUNCTION(Comm_attach_buffer)
int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
    return tutti::attach("MPI_Comm_attach_buffer", {false, comm}, buffer, size);
}

TUTTI_FUNCTION(Comm_detach_buffer)
int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
    return tutti::detach("MPI_Comm_detach_buffer", {false, comm}, buffer_addr, size);
}

TUTTI_FUNCTION(Comm_flush_buffer)
int PMPI_Comm_flush_buffer(MPI_Comm comm) { return tutti::flush("MPI_Comm_flush_buffer", {false, comm}); }

TUTTI_FUNCTION(Comm_iflush_buffer)
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
    return tutti::iflush("MPI_Comm_iflush_buffer", {false, comm}, request);
}
