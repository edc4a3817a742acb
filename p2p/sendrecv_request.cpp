// SPDX-License-Identifier: BSD-3-Clause
// A send and a receive under one request (MPI 4.0, 3.10).
#include <utility>

#include "p2p/request.hpp"

namespace tutti::p2p {
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
        receive_->cancel();   // the caller's buffer is its own again
        throw;
    }
    send_->whole = receive_->whole = this;
    special = send_->special || receive_->special;
    ++references;   // the halves', until both are complete
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
