// SPDX-License-Identifier: BSD-3-Clause
// The point-to-point interface for mpi_h/ and the layers above p2p/. Ranks are ranks in the communicator; the caller
// has checked all arguments. `call` is the name of the MPI function, used in reports of what this rank waits for.
#pragma once

#include "p2p/engine.hpp"

namespace tutti::p2p {

/// Messages of the library itself use a separate context and never match receives of the program.
enum class Flavour { user, internal };

/// Returns the context of messages on `comm`. Bit 63 marks messages of the library itself.
inline std::uint64_t context_of(Comm const& comm, Flavour flavour) {
    return flavour == Flavour::user ? comm.context : comm.context | 1ULL << 63;
}

// Blocking calls. `dest` and `source` may be proc_null; `source` and `tag` of receives may be wildcards. A truncated
// message fills `status` and throws Error(truncate).
void send(Comm& comm, Data const& data, int dest, int tag, Mode mode, char const* call,
          Flavour flavour = Flavour::user);
void recv(Comm& comm, Data const& data, int source, int tag, Status& status, char const* call,
          Flavour flavour = Flavour::user);
void sendrecv(Comm& comm, Data const& out, int dest, int send_tag, Data const& in, int source, int recv_tag,
              Status& status, char const* call, Flavour flavour = Flavour::user);
/// Like sendrecv, but receives into the send buffer. The data to send is first copied to a temporary buffer.
void sendrecv_replace(Comm& comm, Data const& data, int dest, int send_tag, int source, int recv_tag, Status& status,
                      char const* call);

// These calls carry messages of the library itself, which consist of bytes and use the internal context.
void send_bytes(Comm& comm, void const* data, std::size_t bytes, int dest, int tag, char const* call);
void recv_bytes(Comm& comm, void* data, std::size_t bytes, int source, int tag, char const* call);
void sendrecv_bytes(Comm& comm, void const* out, std::size_t out_bytes, int dest, void* in, std::size_t in_bytes,
                    int source, int tag, char const* call);

/// A message that MPI_Mprobe has removed from the matching queues.
class Message final : public Request {
public:
    Message() { complete = true; }   // a wait for it returns immediately
    void describe(BlockedCall& blocked) const override { blocked.call = "message that MPI_Mprobe has found"; }

    Unexpected* content = nullptr;   ///< null: the message of MPI_PROC_NULL, which has no content
};

/// Find a message without receiving it; only messages of the program. iprobe returns false if no matching message has
/// arrived; probe waits for one. Both throw Error(other) if there is none and the connection to `source` is lost.
bool iprobe(Comm& comm, int source, int tag, Status& status);
void probe(Comm& comm, int source, int tag, Status& status, char const* call);
/// Like iprobe and probe, but also remove the message from the matching queues. improbe returns null if no matching
/// message has arrived.
Ref<Message> improbe(Comm& comm, int source, int tag, Status& status);
Ref<Message> mprobe(Comm& comm, int source, int tag, Status& status, char const* call);
/// Receives the message that improbe or mprobe returned and consumes it.
void mrecv(Message& message, Data const& data, Status& status, char const* call);

/// The buffers for buffered sends: the one shared by all communicators without a buffer of their own, and the one of a
/// communicator.
SendBuffer& buffer_of(Process& process);
SendBuffer& buffer_of(Comm& comm);
/// Called when a communicator is freed: its own buffer is destroyed once all sends in it are complete.
void release_buffer(Comm& comm);
/// Waits until the buffer holds no message.
void flush(Process& process, SendBuffer& buffer, char const* call);

/// Waits until everything that this rank can send now has been sent. MPI_Finalize calls it twice: before a first
/// barrier, and between that barrier and a second one, because until they reach the first barrier other ranks may
/// request messages that this rank has offered.
void drain_sends(Process& process, char const* call);
/// Called after the second barrier: connections to other nodes are shut down from both sides, so that no data is lost.
void shut_down(Process& process, char const* call);

}   // namespace tutti::p2p
