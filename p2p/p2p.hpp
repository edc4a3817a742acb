// SPDX-License-Identifier: BSD-3-Clause
// Point to point as mpi_h/ and the layers above call it. Ranks are those of the communicator; arguments are
// checked by the caller. `call` names the MPI function for whoever asks what this rank waits for.
#pragma once

#include "p2p/engine.hpp"

namespace tutti::p2p {

/// Messages of the library itself have a context of their own and never meet those of the program.
enum class Flavour { user, internal };

inline std::uint64_t context_of(Comm const& comm, Flavour flavour) {
    return flavour == Flavour::user ? comm.context : comm.context | 1ULL << 63;
}

// Blocking calls. `dest` and `source` may be proc_null, `source` and `tag` wildcards where messages are received.
// A truncated message fills `status` and throws Error(truncate).
void send(Comm& comm, Data const& data, int dest, int tag, Mode mode, char const* call,
          Flavour flavour = Flavour::user);
void recv(Comm& comm, Data const& data, int source, int tag, Status& status, char const* call,
          Flavour flavour = Flavour::user);
void sendrecv(Comm& comm, Data const& out, int dest, int send_tag, Data const& in, int source, int recv_tag,
              Status& status, char const* call, Flavour flavour = Flavour::user);
/// Receives into the memory that it sends from; what is on its way out is kept in a temporary where it must be.
void sendrecv_replace(Comm& comm, Data const& data, int dest, int send_tag, int source, int recv_tag, Status& status,
                      char const* call);

// The library's own messages: bytes, in the internal context.
void send_bytes(Comm& comm, void const* data, std::size_t bytes, int dest, int tag, char const* call);
void recv_bytes(Comm& comm, void* data, std::size_t bytes, int source, int tag, char const* call);
void sendrecv_bytes(Comm& comm, void const* out, std::size_t out_bytes, int dest, void* in, std::size_t in_bytes,
                    int source, int tag, char const* call);

/// A message that MPI_Mprobe took out of matching.
class Message final : public Request {
public:
    Message() { complete = true; }   // nothing to wait for, should somebody try
    void tell(Blockage& blockage) const override { blockage.call = "message that MPI_Mprobe has found"; }

    Unexpected* content = nullptr;   ///< null: none, from MPI_PROC_NULL
};

/// Looks for a message without receiving it; false when none is here.
bool iprobe(Comm& comm, int source, int tag, Status& status);
void probe(Comm& comm, int source, int tag, Status& status, char const* call);
/// The same, and takes it out of matching; null when none is here.
Ref<Message> improbe(Comm& comm, int source, int tag, Status& status);
Ref<Message> mprobe(Comm& comm, int source, int tag, Status& status, char const* call);
/// Receives what mprobe took; the message is used up.
void mrecv(Message& message, Data const& data, Status& status, char const* call);

/// Room for buffered sends: of all communicators that have none of their own, and of one.
SendBuffer& buffer_of(Process& process);
SendBuffer& buffer_of(Comm& comm);
/// A communicator is freed: its own buffer is gone when what is in it has left.
void forget_buffer(Comm& comm);
/// Waits until all that is in the buffer has left it.
void flush(Process& process, SendBuffer& buffer, char const* call);

/// Waits until everything that this rank has to send now has left it. For MPI_Finalize, before a barrier and, since
/// others may have asked for offered messages until they reached it, once more after it, before a second one.
void finish(Process& process, char const* call);
/// After all that: connections to other nodes end with a goodbye from both sides, so that nothing is lost.
void leave(Process& process, char const* call);

}   // namespace tutti::p2p
