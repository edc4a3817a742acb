// SPDX-License-Identifier: BSD-3-Clause
// Requests of nonblocking and persistent point-to-point calls. While one is under way the engine holds a reference to
// it, so that MPI_Request_free only forgets its handle.
#pragma once

#include "p2p/diagnosis/blockage.hpp"
#include "p2p/p2p.hpp"

namespace tutti::p2p {

class SendrecvRequest;

/// A request that may be half of a combined one, which then hears of its completion.
class HalfRequest : public Request {
public:
    SendrecvRequest* whole = nullptr;

protected:
    void tell_whole();
};

class SendRequest final : public HalfRequest {
public:
    ~SendRequest() override;
    /// `dest` may be proc_null. Not started.
    SendRequest(Comm& comm, Data const& data, int dest, int tag, Mode mode);

    void start() override;
    void advance() override { engine(comm->process).poll(); }
    void cancel() override;
    void settle() override;
    void forget() override;
    void tell(Blockage& blockage) const override;

    // Requests come and go with every message: their memory is pooled per process.
    static void* operator new(std::size_t bytes, Process& process) { return process.frames.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, Process&) { FramePool::put(memory); }

private:
    static void finished(Send& op);
    void start_buffered();
    void leave_copy();
    void under_way();
    void tell_failure();
    void completed();

    Send op_;
    SendBuffer::Copy* copy_ = nullptr;   ///< buffered: what is on its way, valid until op_ is done
    Ref<Datatype> type_;                 ///< while the layout is needed
};

class RecvRequest final : public HalfRequest {
public:
    /// `source` may be proc_null or any_source, `tag` any_tag. Not started.
    RecvRequest(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag);
    ~RecvRequest() override;

    void start() override;
    /// Looks where its message comes from.
    void advance() override { engine(comm->process).poll_from(from_); }
    void cancel() override;
    void settle() override;
    void forget() override;
    void tell(Blockage& blockage) const override;
    /// Instead of start(): receives a message that mprobe took, which is used up unless this throws.
    void start_with(Unexpected* message);
    /// From now on the checks hear of the message's end before anybody else.
    static void watch(Receive& op) { op.finished = arrived; }

    static void* operator new(std::size_t bytes, Process& process) { return process.frames.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, Process&) { FramePool::put(memory); }

private:
    static void finished(Receive& op);
    static void arrived(Receive& op);
    template <class Act>
    void begin(Act const& act);
    void arm();
    void disarm();
    void completed();

    Receive op_;
    int from_;   ///< the peer, −1: any
    Ref<Datatype> type_;
};

/// MPI_Buffer_iflush: complete when all that was in the buffer when it began has left it.
class FlushRequest final : public Request {
public:
    explicit FlushRequest(Process& process) : process_(process) {}

    void advance() override { engine(process_).poll(); }
    // The buffer's calls, one each: from the first to the second it holds a reference.
    void begin();
    void flushed();

private:
    Process& process_;
};

/// MPI_Isendrecv: complete when both halves are, with the receive's status.
class SendrecvRequest final : public Request {
public:
    SendrecvRequest(Ref<SendRequest> send, Ref<RecvRequest> receive);

    /// `copy`: what is sent, where the receive overwrites it; kept until the end.
    void begin(std::vector<std::byte> copy);
    void settle() override;
    void forget() override;
    void tell(Blockage& blockage) const override;
    void half_complete();

private:
    Ref<SendRequest> send_;
    Ref<RecvRequest> receive_;
    std::vector<std::byte> copy_;
};

Ref<Request> isend(Comm& comm, void const* buffer, std::int64_t count, Datatype const& type, int dest, int tag,
                   Mode mode);
Ref<Request> irecv(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag);
Ref<Request> isendrecv(Comm& comm, void const* out, std::int64_t out_count, Datatype const& out_type, int dest,
                       int send_tag, void* in, std::int64_t in_count, Datatype const& in_type, int source,
                       int recv_tag);
/// The same into the memory that it sends from.
Ref<Request> isendrecv_replace(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int dest,
                               int send_tag, int source, int recv_tag);
Ref<Request> iflush(Process& process, SendBuffer& buffer);
Ref<Request> imrecv(Message& message, void* buffer, std::int64_t count, Datatype const& type);
/// Persistent ones: inactive until start().
Ref<Request> send_init(Comm& comm, void const* buffer, std::int64_t count, Datatype const& type, int dest, int tag,
                       Mode mode);
Ref<Request> recv_init(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag);

/// The sentence of a failed receive.
std::string describe_failure(Receive const& op);

}   // namespace tutti::p2p
