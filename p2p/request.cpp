// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent sends and receives, MPI_Isendrecv and MPI_Buffer_iflush as requests.
#include "p2p/request.hpp"

#include <utility>

#include "p2p/message_diagnostics.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p {
namespace {

/// Keeps a datatype of the program alive, which the program may free during the operation. Predefined ones need no
/// reference.
Ref<Datatype> retain_type(Data const& data) {
    bool const may_be_freed = data.element && data.element->recipe();
    return Ref<Datatype>::share(may_be_freed ? const_cast<Datatype*>(data.element) : nullptr);
}

template <class R, class... Arguments>
Ref<Request> make_started(Comm& comm, Arguments&&... arguments) {
    auto* request = new (comm.process) R(comm, std::forward<Arguments>(arguments)...);
    auto owned = Ref<Request>::adopt(request);   // start may throw
    request->start();
    return owned;
}

template <class R, class... Arguments>
Ref<Request> make_persistent(Comm& comm, Arguments&&... arguments) {
    auto* request = new (comm.process) R(comm, std::forward<Arguments>(arguments)...);
    request->persistent = true;
    request->active = false;
    auto made = Ref<Request>::adopt(request);
    engine(comm.process).unstarted.add(*request);
    return made;
}

/// Notifies the checks that a request is destroyed, unless MPI has been finalized.
void notify_destroyed(Request const& request) {
    if (request.comm->process.p2p) engine(request.comm->process).checks()->on_request_destroyed(request);
}

void notify_cancel(Request const& request) { engine(request.comm->process).checks()->on_cancel(request); }

void unregister_persistent(Request const& request) {
    if (request.persistent && request.comm->process.p2p) engine(request.comm->process).unstarted.remove(request);
}

}   // namespace

SendRequest::SendRequest(Comm& c, Data const& data, int dest, int tag, Mode mode) {
    comm = Ref<Comm>::share(&c);
    op_.data = data;
    op_.digest = data.digest();
    op_.key = {c.context, c.rank(), tag};
    op_.peer = dest == proc_null ? proc_null : c.process.cluster.peer_id(c.peers().world_rank(dest));
    op_.mode = mode;
    op_.request = this;
    type_ = retain_type(op_.data);
}

void SendRequest::start() {
    detach_copy();
    op_.done = op_.cancelled = op_.cancelling = op_.eager = false;
    op_.failure = nullptr;
    op_.finished = nullptr;
    if (op_.mode == Mode::buffered && op_.peer != proc_null) return start_buffered();
    status = {};
    active = complete = true;
    if (op_.peer == proc_null) return;
    engine(comm->process).begin(op_);
    if (op_.done) return set_failure();
    set_pending();
    comm->process.waiter.announce_operation();
}

/// The request completes immediately; the copy is sent in the background.
void SendRequest::start_buffered() {
    Engine& e = engine(comm->process);
    copy_ = &e.copy_to_buffer(op_);   // may throw; then nothing has been started
    copy_->original = &op_;
    status = {};
    active = complete = true;
    e.begin(*copy_);
}

/// Detaches this request from the copy of an earlier start, which no longer reports its result.
void SendRequest::detach_copy() {
    if (copy_ && !op_.done) copy_->original = nullptr;
    copy_ = nullptr;
}

void SendRequest::set_pending() {
    complete = false;
    op_.finished = finished;
    ++references;   // held by the engine until `finished`
    ++engine(comm->process).requests;
}

void SendRequest::cancel() {
    if (needs_finalize) notify_cancel(*this);
    if (!active || op_.cancelled || op_.failure || op_.peer == proc_null) return;
    bool const kept = copy_ && !op_.done;   // buffered, and the copy is not sent yet
    if (complete) {
        if (!kept && (!op_.eager || op_.mode == Mode::synchronous)) return;   // the receiver has it
        set_pending();   // an eager send: incomplete again until the receiver answers
    }
    engine(comm->process).cancel(kept ? static_cast<Send&>(*copy_) : op_);
}

void SendRequest::finished(Send& op) { static_cast<SendRequest*>(op.request)->on_complete(); }

void SendRequest::set_failure() {
    if (!op_.failure) [[likely]]
        return;
    status.error = ErrorClass::other;
    // Without memory only the error class is set.
    unless_out_of_memory([this] { return error_text = *op_.failure, true; });
}

void SendRequest::on_complete() {
    complete = true;
    status.cancelled = op_.cancelled;
    set_failure();
    op_.finished = nullptr;
    notify_parent();
    --engine(comm->process).requests;
    Ref<Request>::release(this);
}

void FlushRequest::begin() {
    ++references;   // held by the buffer until `flushed`
    ++engine(process_).requests;
}

void FlushRequest::flushed() {
    complete = true;
    --engine(process_).requests;
    Ref<Request>::release(this);
}

RecvRequest::RecvRequest(Comm& c, void* buffer, std::int64_t count, Datatype const& type, int source, int tag) {
    comm = Ref<Comm>::share(&c);
    op_.data = Data::of(buffer, count, type);
    op_.key = {c.context, source, tag};
    op_.finished = finished;
    op_.request = this;
    type_ = retain_type(op_.data);
    source_peer_ = source < 0 ? -1 : c.process.cluster.peer_id(c.peers().world_rank(source));
}

void RecvRequest::activate() {
    active = true;
    complete = false;
    op_.done = op_.posted = false;
    op_.peer = source_peer_;
    op_.failure = nullptr;
    op_.mismatched_types = {};
    op_.status = {};
    op_.message_bytes = op_.arrived_bytes = 0;
    ++references;   // held by the engine until `finished`
    ++engine(comm->process).requests;
}

/// Undoes activate() after a failed start.
void RecvRequest::deactivate() {
    active = false;
    complete = true;
    --engine(comm->process).requests;
    Ref<Request>::release(this);   // the caller holds another reference
}

void RecvRequest::start() {
    if (op_.key.source == proc_null) {
        active = complete = true;
        status = {};
        status.source = proc_null;
        return;
    }
    begin([this](Engine& e) { e.begin(op_); });
}

void RecvRequest::start_matched(Unexpected* message) {
    begin([&](Engine& e) { e.begin(op_, message); });
}

template <class Act>
void RecvRequest::begin(Act const& act) {
    activate();
    try {
        act(engine(comm->process));
    } catch (...) {
        deactivate();
        throw;
    }
    if (!complete) comm->process.waiter.announce_operation();
}

void RecvRequest::cancel() {
    if (needs_finalize) notify_cancel(*this);
    if (active && !complete) engine(comm->process).cancel(op_);
}

SendRequest::~SendRequest() {
    detach_copy();
    if (needs_finalize) notify_destroyed(*this);
    unregister_persistent(*this);
}

void SendRequest::finalize() { engine(comm->process).checks()->before_completion(*this); }

void SendRequest::abandon() { engine(comm->process).checks()->on_request_free(*this); }

RecvRequest::~RecvRequest() {
    if (needs_finalize) notify_destroyed(*this);
    unregister_persistent(*this);
}

void RecvRequest::finalize() { engine(comm->process).checks()->before_completion(*this); }

void RecvRequest::abandon() { engine(comm->process).checks()->on_request_free(*this); }

void SendRequest::describe(BlockedCall& blocked) const {
    blocked.call = "send of " + describe_operation(*comm, op_);
    blocked.kind = kind_of(op_);
    p2p::add_awaited_ranks(*comm, op_, blocked);
}

void RecvRequest::describe(BlockedCall& blocked) const {
    blocked.call = "receive of " + describe_operation(*comm, op_);
    blocked.kind = kind_of(op_);
    if (active) p2p::add_awaited_ranks(*comm, op_, blocked);
    else if (op_.key.source >= 0) blocked.await(comm->peers().world_rank(op_.key.source));   // not started
}

void RecvRequest::finished(Receive& op) { static_cast<RecvRequest*>(op.request)->on_complete(); }

void RecvRequest::finished_checked(Receive& op) {
    engine(op.request->comm->process).checks()->on_arrived(*op.request, op);
    finished(op);
}

void RecvRequest::on_complete() {
    complete = true;
    status = op_.status;
    // Without memory the request completes without the report or the error text.
    if (op_.mismatched_types != TypeDigest()) [[unlikely]]
        unless_out_of_memory(
            [this] { return report_type_mismatch(*comm, op_, comm->process.call_function.name()), true; });
    if (op_.failed()) unless_out_of_memory([this] { return error_text = describe_failure(op_), true; });
    notify_parent();
    --engine(comm->process).requests;
    Ref<Request>::release(this);
}

Ref<Request> isend(Comm& comm, void const* buffer, std::int64_t count, Datatype const& type, int dest, int tag,
                   Mode mode) {
    return make_started<SendRequest>(comm, Data::of(buffer, count, type), dest, tag, mode);
}

Ref<Request> irecv(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag) {
    return make_started<RecvRequest>(comm, buffer, count, type, source, tag);
}

Ref<Request> iflush(Process& process, SendBuffer& buffer) {
    auto* request = new FlushRequest(process);
    auto owned = Ref<Request>::adopt(request);
    buffer.add_flush(*request);
    if (!request->complete) process.waiter.announce_operation();
    return owned;
}

Ref<Request> imrecv(Message& message, void* buffer, std::int64_t count, Datatype const& type) {
    Unexpected* const content = message.content;
    int source = content ? message.status.source : proc_null;
    auto* request =
        new (message.comm->process) RecvRequest(*message.comm, buffer, count, type, source, message.status.tag);
    auto result = Ref<Request>::adopt(request);
    // MPI_Imrecv does not show whether the program reads the status: assume that it does.
    if (content && content->piggyback) [[unlikely]]
        engine(message.comm->process).checks()->on_mrecv(&message, *message.comm, true);
    if (content) request->start_matched(content);
    else request->start();
    message.content = nullptr;
    return result;
}

Ref<Request> send_init(Comm& comm, void const* buffer, std::int64_t count, Datatype const& type, int dest, int tag,
                       Mode mode) {
    return make_persistent<SendRequest>(comm, Data::of(buffer, count, type), dest, tag, mode);
}

Ref<Request> recv_init(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int source, int tag) {
    return make_persistent<RecvRequest>(comm, buffer, count, type, source, tag);
}

// A send and a receive combined in one request (MPI 4.1, 3.2.7 and 3.7.2).

namespace {

template <class Half, class... Arguments>
Ref<Half> make_half(Comm& comm, Arguments&&... arguments) {
    return Ref<Half>::adopt(new (comm.process) Half(comm, std::forward<Arguments>(arguments)...));
}

Ref<Request> make_sendrecv(Ref<SendRequest> send, Ref<RecvRequest> receive, std::vector<std::byte> copy) {
    auto request = Ref<SendrecvRequest>::adopt(new SendrecvRequest(std::move(send), std::move(receive)));
    request->begin(std::move(copy));
    return Ref<Request>::adopt(request.detach());
}

}   // namespace

void HalfRequest::notify_parent() {
    if (parent) [[unlikely]]
        parent->on_half_complete();
}

SendrecvRequest::SendrecvRequest(Ref<SendRequest> send, Ref<RecvRequest> receive)
    : send_(std::move(send)), receive_(std::move(receive)) {
    comm = send_->comm;
}

void SendrecvRequest::begin(std::vector<std::byte> copy) {
    copy_ = std::move(copy);
    receive_->start();
    try {
        send_->start();
    } catch (...) {
        receive_->cancel();   // the buffer belongs to the caller again
        throw;
    }
    send_->parent = receive_->parent = this;
    needs_finalize = send_->needs_finalize || receive_->needs_finalize;
    ++references;   // held by the halves until both are complete
    on_half_complete();
}

void SendrecvRequest::on_half_complete() {
    if (complete || !send_->complete || !receive_->complete) return;
    complete = true;
    status = receive_->status;
    HalfRequest& half = status.error == ErrorClass::success ? static_cast<HalfRequest&>(*send_) : *receive_;
    status.error = half.status.error;
    error_text = std::move(half.error_text);
    Ref<Request>::release(this);
}

void SendrecvRequest::finalize() {
    if (send_->needs_finalize) send_->finalize();
    receive_->status.ignored = status.ignored;
    if (receive_->needs_finalize) receive_->finalize();
}

void SendrecvRequest::abandon() {
    if (send_->needs_finalize) send_->abandon();
    if (receive_->needs_finalize) receive_->abandon();
}

void SendrecvRequest::describe(BlockedCall& blocked) const {
    receive_->complete ? send_->describe(blocked) : receive_->describe(blocked);
}

Ref<Request> isendrecv(Comm& comm, void const* out, std::int64_t out_count, Datatype const& out_type, int dest,
                       int send_tag, void* in, std::int64_t in_count, Datatype const& in_type, int source,
                       int recv_tag) {
    return make_sendrecv(
        make_half<SendRequest>(comm, Data::of(out, out_count, out_type), dest, send_tag, Mode::standard),
        make_half<RecvRequest>(comm, in, in_count, in_type, source, recv_tag), {});
}

Ref<Request> isendrecv_replace(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int dest,
                               int send_tag, int source, int recv_tag) {
    Data const data = Data::of(buffer, count, type);
    std::vector<std::byte> copy(dest == proc_null ? 0 : data.bytes);
    data.pack(0, copy.data(), copy.size());
    Data out = Data::of_bytes(copy.data(), copy.size());
    out.count = data.count;
    out.element = data.element;
    auto send = make_half<SendRequest>(comm, out, dest, send_tag, Mode::standard);
    auto receive = make_half<RecvRequest>(comm, buffer, count, type, source, recv_tag);
    return make_sendrecv(std::move(send), std::move(receive), std::move(copy));
}

}   // namespace tutti::p2p
