// SPDX-License-Identifier: BSD-3-Clause
// Requests of nonblocking and persistent point-to-point calls. The engine holds a reference to a request while its
// operation is in progress, so MPI_Request_free only drops the handle.
//
// SendRequest and RecvRequest contain one operation. SendrecvRequest combines one of each under one request (MPI 4.1,
// 3.2.7 and 3.7.2). FlushRequest waits for a buffer of buffered sends.
#pragma once

#include "p2p/message_diagnostics.hpp"
#include "p2p/p2p.hpp"

namespace tutti::p2p {

class SendrecvRequest;

/// A request that may be one half of a SendrecvRequest, which is notified when the half completes.
class HalfRequest : public Request {
public:
    SendrecvRequest* parent = nullptr;   ///< null: this request is not a half

protected:
    void notify_parent();
};

class SendRequest final : public HalfRequest {
public:
    ~SendRequest() override;
    /// `dest` may be proc_null. The request is not started.
    SendRequest(Comm& comm, Data const& data, int dest, int tag, Mode mode);

    void start() override;
    void advance() override { engine(comm->process).poll(); }
    void cancel() override;
    void finalize() override;
    void abandon() override;
    void describe(BlockedCall& blocked) const override;

    // Requests are created and destroyed with every message, so their memory is pooled per process.
    static void* operator new(std::size_t bytes, Process& process) { return process.frames.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, Process&) { FramePool::put(memory); }

private:
    static void finished(Send& op);
    void start_buffered();
    void detach_copy();
    void set_pending();
    void set_failure();
    void on_complete();

    Send op_;
    SendBuffer::Copy* copy_ = nullptr;   ///< buffered: the send of the copy; valid until op_ is done
    Ref<Datatype> type_;                 ///< keeps the datatype alive while its layout is needed
};

class RecvRequest final : public HalfRequest {
public:
    /// `source` may be proc_null or any_source, `tag` any_tag. The request is not started.
    RecvRequest(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag);
    ~RecvRequest() override;

    void start() override;
    /// Polls for messages of the sender; of all peers if the receive is from any source.
    void advance() override { engine(comm->process).poll_from(source_peer_); }
    void cancel() override;
    void finalize() override;
    void abandon() override;
    void describe(BlockedCall& blocked) const override;
    /// Replaces start(): receives a message that mprobe returned. Consumes the message unless it throws.
    void start_matched(Unexpected* message);
    /// From now on the checks are notified of the completion of this receive before the request is.
    static void enable_arrival_check(Receive& op) { op.finished = finished_checked; }

    static void* operator new(std::size_t bytes, Process& process) { return process.frames.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, Process&) { FramePool::put(memory); }

private:
    static void finished(Receive& op);
    static void finished_checked(Receive& op);
    template <class Act>
    void begin(Act const& act);
    void activate();
    void deactivate();
    void on_complete();

    Receive op_;
    int source_peer_;   ///< the peer that may send the message; −1: any
    Ref<Datatype> type_;
};

/// MPI_Buffer_iflush: complete when all messages that were in the buffer at its start have left it.
class FlushRequest final : public Request {
public:
    explicit FlushRequest(Process& process) : process_(process) {}

    void advance() override { engine(process_).poll(); }
    // Called by the buffer, once each. The buffer holds a reference from begin() until flushed().
    void begin();
    void flushed();

private:
    Process& process_;
};

/// MPI_Isendrecv: complete when both halves are complete; has the status of the receive.
class SendrecvRequest final : public Request {
public:
    SendrecvRequest(Ref<SendRequest> send, Ref<RecvRequest> receive);

    /// `copy`: the data to send, if the receive overwrites it; kept until the operation ends.
    void begin(std::vector<std::byte> copy);
    void finalize() override;
    void abandon() override;
    void describe(BlockedCall& blocked) const override;
    /// Called by each half when it is complete.
    void on_half_complete();

private:
    Ref<SendRequest> send_;
    Ref<RecvRequest> receive_;
    std::vector<std::byte> copy_;
};

// The following functions return a request that has been started.

Ref<Request> isend(Comm& comm, void const* buffer, std::int64_t count, Datatype const& type, int dest, int tag,
                   Mode mode);
Ref<Request> irecv(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag);
Ref<Request> isendrecv(Comm& comm, void const* out, std::int64_t out_count, Datatype const& out_type, int dest,
                       int send_tag, void* in, std::int64_t in_count, Datatype const& in_type, int source,
                       int recv_tag);
/// Like isendrecv, but receives into the send buffer.
Ref<Request> isendrecv_replace(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int dest,
                               int send_tag, int source, int recv_tag);
Ref<Request> iflush(Process& process, SendBuffer& buffer);
/// Receives the message that improbe or mprobe returned. Consumes it unless the call throws.
Ref<Request> imrecv(Message& message, void* buffer, std::int64_t count, Datatype const& type);
/// Persistent requests: inactive until start().
Ref<Request> send_init(Comm& comm, void const* buffer, std::int64_t count, Datatype const& type, int dest, int tag,
                       Mode mode);
Ref<Request> recv_init(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag);

/// Returns the error message for a failed receive.
std::string describe_failure(Receive const& op);

}   // namespace tutti::p2p
