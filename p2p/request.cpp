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
Ref<Datatype> keep_type(Data const& data) {
    bool const may_go = data.element && data.element->recipe();
    return Ref<Datatype>::share(may_go ? const_cast<Datatype*>(data.element) : nullptr);
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
void left(Request const& request) {
    if (request.comm->process.p2p) engine(request.comm->process).checks()->gone(request);
}

void cancels(Request const& request) { engine(request.comm->process).checks()->cancels(request); }

void forget_persistent(Request const& request) {
    if (request.persistent && request.comm->process.p2p) engine(request.comm->process).unstarted.remove(request);
}

}   // namespace

SendRequest::SendRequest(Comm& c, Data const& data, int dest, int tag, Mode mode) {
    comm = Ref<Comm>::share(&c);
    op_.data = data;
    op_.digest = data.digest();
    op_.key = {c.context, c.rank(), tag};
    op_.peer = dest == proc_null ? proc_null : c.process.cluster.peer_of(c.peers().world_rank(dest));
    op_.mode = mode;
    op_.request = this;
    type_ = keep_type(op_.data);
}

void SendRequest::start() {
    leave_copy();
    op_.done = op_.cancelled = op_.cancelling = op_.eager = false;
    op_.failure = nullptr;
    op_.finished = nullptr;
    if (op_.mode == Mode::buffered && op_.peer != proc_null) return start_buffered();
    status = {};
    active = complete = true;
    if (op_.peer == proc_null) return;
    engine(comm->process).begin(op_);
    if (op_.done) return tell_failure();
    under_way();
    comm->process.waiter.started();
}

/// The request completes immediately; the copy is sent in the background.
void SendRequest::start_buffered() {
    Engine& e = engine(comm->process);
    copy_ = &e.keep(op_);   // may throw; then nothing has been started
    copy_->original = &op_;
    status = {};
    active = complete = true;
    e.begin(*copy_);
}

/// Detaches this request from the copy of an earlier start, which no longer reports its result.
void SendRequest::leave_copy() {
    if (copy_ && !op_.done) copy_->original = nullptr;
    copy_ = nullptr;
}

void SendRequest::under_way() {
    complete = false;
    op_.finished = finished;
    ++references;   // held by the engine until `finished`
    ++engine(comm->process).requests;
}

void SendRequest::cancel() {
    if (special) cancels(*this);
    if (!active || op_.cancelled || op_.failure || op_.peer == proc_null) return;
    bool const kept = copy_ && !op_.done;   // buffered, and the copy is not sent yet
    if (complete) {
        if (!kept && (!op_.eager || op_.mode == Mode::synchronous)) return;   // the receiver has it
        under_way();   // an eager send: incomplete again until the receiver answers
    }
    engine(comm->process).cancel(kept ? static_cast<Send&>(*copy_) : op_);
}

void SendRequest::finished(Send& op) { static_cast<SendRequest*>(op.request)->completed(); }

void SendRequest::tell_failure() {
    if (!op_.failure) [[likely]]
        return;
    status.error = ErrorClass::other;
    // Without memory only the error class is set.
    unless_out_of_memory([this] { return error_text = *op_.failure, true; });
}

void SendRequest::completed() {
    complete = true;
    status.cancelled = op_.cancelled;
    tell_failure();
    op_.finished = nullptr;
    tell_whole();
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
    type_ = keep_type(op_.data);
    from_ = source < 0 ? -1 : c.process.cluster.peer_of(c.peers().world_rank(source));
}

void RecvRequest::arm() {
    active = true;
    complete = false;
    op_.done = op_.posted = false;
    op_.peer = from_;
    op_.failure = nullptr;
    op_.other_types = {};
    op_.status = {};
    op_.sent = op_.arrived = 0;
    ++references;   // held by the engine until `finished`
    ++engine(comm->process).requests;
}

/// Undoes arm() after a failed start.
void RecvRequest::disarm() {
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

void RecvRequest::start_with(Unexpected* message) {
    begin([&](Engine& e) { e.begin(op_, message); });
}

template <class Act>
void RecvRequest::begin(Act const& act) {
    arm();
    try {
        act(engine(comm->process));
    } catch (...) {
        disarm();
        throw;
    }
    if (!complete) comm->process.waiter.started();
}

void RecvRequest::cancel() {
    if (special) cancels(*this);
    if (active && !complete) engine(comm->process).cancel(op_);
}

SendRequest::~SendRequest() {
    leave_copy();
    if (special) left(*this);
    forget_persistent(*this);
}

void SendRequest::settle() { engine(comm->process).checks()->settle(*this); }

void SendRequest::forget() { engine(comm->process).checks()->forget(*this); }

RecvRequest::~RecvRequest() {
    if (special) left(*this);
    forget_persistent(*this);
}

void RecvRequest::settle() { engine(comm->process).checks()->settle(*this); }

void RecvRequest::forget() { engine(comm->process).checks()->forget(*this); }

void SendRequest::tell(Blockage& blockage) const {
    blockage.call = "send of " + words(*comm, op_);
    p2p::tell(*comm, op_, blockage);
}

void RecvRequest::tell(Blockage& blockage) const {
    blockage.call = "receive of " + words(*comm, op_);
    if (active) p2p::tell(*comm, op_, blockage);
    else if (op_.key.source >= 0) blockage.await(comm->peers().world_rank(op_.key.source));   // not started
}

void RecvRequest::finished(Receive& op) { static_cast<RecvRequest*>(op.request)->completed(); }

void RecvRequest::arrived(Receive& op) {
    engine(op.request->comm->process).checks()->arrives(*op.request, op);
    finished(op);
}

void RecvRequest::completed() {
    complete = true;
    status = op_.status;
    // Without memory the request completes without the report or the error text.
    if (op_.other_types != TypeDigest()) [[unlikely]]
        unless_out_of_memory([this] { return tell_types(*comm, op_, comm->process.call_name), true; });
    if (op_.failed()) unless_out_of_memory([this] { return error_text = describe_failure(op_), true; });
    tell_whole();
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
    buffer.tell(*request);
    if (!request->complete) process.waiter.started();
    return owned;
}

Ref<Request> imrecv(Message& message, void* buffer, std::int64_t count, Datatype const& type) {
    Unexpected* const content = message.content;
    int source = content ? message.status.source : proc_null;
    auto* request =
        new (message.comm->process) RecvRequest(*message.comm, buffer, count, type, source, message.status.tag);
    auto result = Ref<Request>::adopt(request);
    // MPI_Imrecv does not show whether the program reads the status: assume that it does.
    if (content && content->note) [[unlikely]]
        engine(message.comm->process).checks()->claimed_received(&message, *message.comm, true);
    if (content) request->start_with(content);
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

// A send and a receive combined in one request (MPI 4.0, 3.10).

namespace {

template <class Half, class... Arguments>
Ref<Half> make_half(Comm& comm, Arguments&&... arguments) {
    return Ref<Half>::adopt(new (comm.process) Half(comm, std::forward<Arguments>(arguments)...));
}

Ref<Request> make_both(Ref<SendRequest> send, Ref<RecvRequest> receive, std::vector<std::byte> copy) {
    auto both = Ref<SendrecvRequest>::adopt(new SendrecvRequest(std::move(send), std::move(receive)));
    both->begin(std::move(copy));
    return Ref<Request>::adopt(both.detach());
}

}   // namespace

void HalfRequest::tell_whole() {
    if (whole) [[unlikely]]
        whole->half_complete();
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
    send_->whole = receive_->whole = this;
    special = send_->special || receive_->special;
    ++references;   // held by the halves until both are complete
    half_complete();
}

void SendrecvRequest::half_complete() {
    if (complete || !send_->complete || !receive_->complete) return;
    complete = true;
    status = receive_->status;
    HalfRequest& half = status.error == ErrorClass::success ? static_cast<HalfRequest&>(*send_) : *receive_;
    status.error = half.status.error;
    error_text = std::move(half.error_text);
    Ref<Request>::release(this);
}

void SendrecvRequest::settle() {
    if (send_->special) send_->settle();
    receive_->status.ignored = status.ignored;
    if (receive_->special) receive_->settle();
}

void SendrecvRequest::forget() {
    if (send_->special) send_->forget();
    if (receive_->special) receive_->forget();
}

void SendrecvRequest::tell(Blockage& blockage) const {
    receive_->complete ? send_->tell(blockage) : receive_->tell(blockage);
}

Ref<Request> isendrecv(Comm& comm, void const* out, std::int64_t out_count, Datatype const& out_type, int dest,
                       int send_tag, void* in, std::int64_t in_count, Datatype const& in_type, int source,
                       int recv_tag) {
    return make_both(make_half<SendRequest>(comm, Data::of(out, out_count, out_type), dest, send_tag, Mode::standard),
                     make_half<RecvRequest>(comm, in, in_count, in_type, source, recv_tag), {});
}

Ref<Request> isendrecv_replace(Comm& comm, void* buffer, std::int64_t count, Datatype const& type, int dest,
                               int send_tag, int source, int recv_tag) {
    Data const data = Data::of(buffer, count, type);
    std::vector<std::byte> copy(dest == proc_null ? 0 : data.bytes);
    data.gather(0, copy.data(), copy.size());
    Data out = Data::of_bytes(copy.data(), copy.size());
    out.count = data.count;
    out.element = data.element;
    auto send = make_half<SendRequest>(comm, out, dest, send_tag, Mode::standard);
    auto receive = make_half<RecvRequest>(comm, buffer, count, type, source, recv_tag);
    return make_both(std::move(send), std::move(receive), std::move(copy));
}

}   // namespace tutti::p2p
