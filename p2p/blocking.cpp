// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls: the operation is on the stack of the call, which waits in the one wait.
#include "p2p/p2p.hpp"

#include <vector>

#include "p2p/message_diagnostics.hpp"
#include "p2p/request.hpp"

namespace tutti::p2p {
namespace {

/// Returns the peer number of a rank in the communicator.
int peer_of_rank(Comm const& comm, int rank) { return comm.process.cluster.peer_id(comm.peers().world_rank(rank)); }

/// Waits for `op`; polls `peer` first (−1: all peers).
template <class Op>
void wait(Engine& engine, Op const& op, int peer, Comm const& comm, char const* call) {
    if (op.done) return;
    AwaitedOperation const why{comm, op, call};
    int const polls = engine.polls_in_a_row(peer);
    engine.process().waiter.wait_until(
        [&] {
            for (int i = 0; i < polls; ++i) {
                if (op.done) return true;
                engine.poll_from(peer);
            }
            return op.done;
        },
        why.reason());
}

/// Guards an operation on the stack of a call: if the call ends by an exception, the operation is ended first.
template <class Op>
class OperationGuard {
public:
    OperationGuard(Engine& engine, Op& op) : engine_(engine), op_(op) {}
    ~OperationGuard() {
        if (!op_.done) [[unlikely]]
            engine_.abandon(op_);
    }
    OperationGuard(OperationGuard const&) = delete;
    OperationGuard& operator=(OperationGuard const&) = delete;

private:
    Engine& engine_;
    Op& op_;
};

int peer_of_source(Comm const& comm, int source) { return source == any_source ? -1 : peer_of_rank(comm, source); }

Send make_send(int peer, Key const& key, Data const& data, Mode mode) {
    Send op;
    op.data = data;
    op.digest = data.digest();
    op.key = key;
    op.peer = peer;
    op.mode = mode;
    return op;
}

Receive make_receive(Comm const& comm, Data const& data, int source, int tag, Flavour flavour) {
    Receive op;
    op.data = data;
    op.key = {context_of(comm, flavour), source, tag};
    op.peer = peer_of_source(comm, source);
    return op;
}

void throw_if_failed(Send const& op) {
    if (op.failure) [[unlikely]]
        throw Error(ErrorClass::other, *op.failure);
}

/// Throws if the connection to `peer` is lost.
void throw_if_lost(Engine const& e, int peer) {
    if (std::string const* lost = e.loss_reason(peer)) throw Error(ErrorClass::other, *lost);
}

Status proc_null_status() {
    Status s;
    s.source = proc_null;
    return s;
}

Status status_of(Engine const& e, Unexpected const& message) {
    if (message.piggyback) [[unlikely]]
        e.checks()->on_probe(message);
    Status s;
    s.source = message.key.source;
    s.tag = message.key.tag;
    s.bytes = message.bytes;
    return s;
}

/// Completes a receive: reports errors and type mismatches, and sets `status`.
void complete_receive(Comm const& comm, Receive const& op, Status& status, char const* call) {
    if (op.mismatched_types != TypeDigest()) [[unlikely]]
        report_type_mismatch(comm, op, call);
    bool const ignored = status.ignored;
    status = op.status;
    status.ignored = ignored;
    if (op.piggyback) [[unlikely]]
        engine(comm.process).checks()->on_blocking_receive(op, comm, !ignored);
    if (op.failed()) [[unlikely]]
        throw Error(op.status.error, describe_failure(op));
}

/// Receives a message that try_receive_small could not receive.
void recv_posted(Engine& e, Comm& comm, Data const& data, int source, int tag, Status& status, char const* call,
                 Flavour flavour) {
    Receive op = make_receive(comm, data, source, tag, flavour);
    int const peer = op.peer;
    e.begin(op);
    OperationGuard const scope(e, op);
    wait(e, op, peer, comm, call);
    complete_receive(comm, op, status, call);
}

}   // namespace

std::string describe_failure(Receive const& op) {
    if (op.failure) return *op.failure;
    if (op.status.error != ErrorClass::truncate)
        return join("the message from rank ", op.status.source, " with tag ", op.status.tag, " (", op.message_bytes,
                    " bytes) cannot be copied: the send buffer or the receive buffer is not mapped memory");
    return join("the message from rank ", op.status.source, " with tag ", op.status.tag, " has ", op.message_bytes,
                " bytes but the receive has room for ", op.data.bytes);
}

void send(Comm& comm, Data const& data, int dest, int tag, Mode mode, char const* call, Flavour flavour) {
    if (dest == proc_null) return;
    Engine& e = engine(comm.process);
    int const peer = peer_of_rank(comm, dest);
    Key const key{context_of(comm, flavour), comm.rank(), tag};
    if (mode == Mode::standard || mode == Mode::ready) [[likely]]
        if (e.try_send_small(peer, key, data)) return;
    Send op = make_send(peer, key, data, mode);
    if (mode == Mode::buffered) {
        Send& copy = e.copy_to_buffer(op);
        return e.begin(copy);
    }
    e.begin(op);
    OperationGuard const scope(e, op);
    if (!op.done) {
        if (op.peer == e.local_rank() && !comm.process.thread_multiple) {
            e.cancel(op);
            report_self_send(comm, op, call);
        }
        wait(e, op, -1, comm, call);
    }
    throw_if_failed(op);
}

void recv(Comm& comm, Data const& data, int source, int tag, Status& status, char const* call, Flavour flavour) {
    if (source == proc_null) {
        status = proc_null_status();
        return;
    }
    Engine& e = engine(comm.process);
    if (source != any_source && data.dense()) [[likely]]
        if (e.try_receive_small(peer_of_rank(comm, source), {context_of(comm, flavour), source, tag}, data, status) ==
            Transport::SmallReceive::received)
            return;
    recv_posted(e, comm, data, source, tag, status, call, flavour);
}

void sendrecv(Comm& comm, Data const& out, int dest, int send_tag, Data const& in, int source, int recv_tag,
              Status& status, char const* call, Flavour flavour) {
    if (source == proc_null) {
        status = proc_null_status();
        return send(comm, out, dest, send_tag, Mode::standard, call, flavour);
    }
    Engine& e = engine(comm.process);
    int const receiver = dest == proc_null ? -1 : peer_of_rank(comm, dest);
    Key const sent{context_of(comm, flavour), comm.rank(), send_tag};
    if (dest != proc_null && e.try_send_small(receiver, sent, out))
        return recv(comm, in, source, recv_tag, status, call, flavour);
    Receive receive = make_receive(comm, in, source, recv_tag, flavour);
    int const peer = receive.peer;
    e.begin(receive);
    OperationGuard const scope(e, receive);
    if (dest != proc_null) {
        Send op = make_send(receiver, sent, out, Mode::standard);
        e.begin(op);
        OperationGuard const scope_of_send(e, op);
        wait(e, receive, op.done ? peer : -1, comm, call);
        wait(e, op, -1, comm, call);
        throw_if_failed(op);
    } else {
        wait(e, receive, peer, comm, call);
    }
    complete_receive(comm, receive, status, call);
}

void sendrecv_replace(Comm& comm, Data const& data, int dest, int send_tag, int source, int recv_tag, Status& status,
                      char const* call) {
    // The receive overwrites the send buffer at a time that the other ranks determine, so the data must be copied.
    std::vector<std::byte> copy(dest == proc_null ? 0 : data.bytes);
    data.pack(0, copy.data(), copy.size());
    Data out = Data::of_bytes(copy.data(), copy.size());
    out.count = data.count;
    out.element = data.element;
    sendrecv(comm, out, dest, send_tag, data, source, recv_tag, status, call);
}

void send_bytes(Comm& comm, void const* data, std::size_t bytes, int dest, int tag, char const* call) {
    send(comm, Data::of_bytes(data, bytes), dest, tag, Mode::standard, call, Flavour::internal);
}

void recv_bytes(Comm& comm, void* data, std::size_t bytes, int source, int tag, char const* call) {
    Status status;
    recv(comm, Data::of_bytes(data, bytes), source, tag, status, call, Flavour::internal);
}

void sendrecv_bytes(Comm& comm, void const* out, std::size_t out_bytes, int dest, void* in, std::size_t in_bytes,
                    int source, int tag, char const* call) {
    Status status;
    sendrecv(comm, Data::of_bytes(out, out_bytes), dest, tag, Data::of_bytes(in, in_bytes), source, tag, status, call,
             Flavour::internal);
}

bool iprobe(Comm& comm, int source, int tag, Status& status) {
    if (source == proc_null) {
        status = proc_null_status();
        return true;
    }
    Engine& e = engine(comm.process);
    Key key{comm.context, source, tag};
    Unexpected* m = nullptr;
    auto const call = [&] { return join(comm.process.call_function.name(), "(", describe_operation(comm, key), ")"); };
    comm.process.waiter.test([&] { return (m = e.find(key)) != nullptr; }, CallText(call));
    if (m) status = status_of(e, *m);
    else throw_if_lost(e, peer_of_source(comm, source));
    return m != nullptr;
}

void probe(Comm& comm, int source, int tag, Status& status, char const* call) {
    if (source == proc_null) {
        status = proc_null_status();
        return;
    }
    Engine& e = engine(comm.process);
    Unexpected* m = nullptr;
    int const peer = peer_of_source(comm, source);
    Key const key{comm.context, source, tag};
    AwaitedOperation const why{comm, key, call};
    comm.process.waiter.wait_until(
        [&] {
            e.poll_from(-1);
            return (m = e.find(key)) != nullptr || e.loss_reason(peer);
        },
        why.reason());
    if (!m) throw_if_lost(e, peer);
    status = status_of(e, *m);
}

Ref<Message> improbe(Comm& comm, int source, int tag, Status& status) {
    bool const ignored = status.ignored;
    if (!iprobe(comm, source, tag, status)) return {};
    auto message = Ref<Message>::adopt(new Message);
    message->comm = Ref<Comm>::share(&comm);
    message->status = status;
    if (source == proc_null) return message;
    Engine& e = engine(comm.process);
    Key const wanted{comm.context, source, tag};
    message->content = e.dequeue(e.find(wanted));
    if (message->content->piggyback) [[unlikely]]
        e.checks()->on_mprobe(message.get(), wanted, *message->content, !ignored);
    return message;
}

Ref<Message> mprobe(Comm& comm, int source, int tag, Status& status, char const* call) {
    bool const ignored = status.ignored;
    probe(comm, source, tag, status, call);
    status.ignored = ignored;
    return improbe(comm, source, tag, status);
}

void mrecv(Message& message, Data const& data, Status& status, char const* call) {
    if (!message.content) {
        status = proc_null_status();
        return;
    }
    Comm& comm = *message.comm;
    Engine& e = engine(comm.process);
    Receive op = make_receive(comm, data, message.status.source, message.status.tag, Flavour::user);
    e.begin(op, message.content);
    message.content = nullptr;
    OperationGuard const scope(e, op);
    wait(e, op, op.peer, comm, call);
    if (op.piggyback) [[unlikely]] {   // the checks processed it when the message was claimed
        e.checks()->on_mrecv(&message, comm, !status.ignored);
        op.piggyback.reset();
    }
    complete_receive(comm, op, status, call);
}

SendBuffer& buffer_of(Process& process) { return engine(process).buffers.process_buffer(); }

SendBuffer& buffer_of(Comm& comm) { return engine(comm.process).buffers.comm_buffer(comm.context); }

void release_buffer(Comm& comm) { engine(comm.process).buffers.release(comm.context); }

void flush(Process& process, SendBuffer& buffer, char const* call) {
    process.waiter.wait_until([&] { return buffer.idle(); }, {call});
}

void drain_sends(Process& process, char const* call) {
    Engine& e = engine(process);
    while (e.poll()) {}   // grants that have arrived belong to sends that must finish
    process.waiter.wait_until([&] { return e.idle(); }, {call});
}

void shut_down(Process& process, char const* call) { engine(process).shut_down(call); }

}   // namespace tutti::p2p
