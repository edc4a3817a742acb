// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends: space in the attached buffer (first fit), completion of copies, flushes.
#include "p2p/send_buffer.hpp"

#include <algorithm>

#include "p2p/request.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p {
namespace {

template <class... Texts>
[[noreturn]] void fail_no_space(Texts const&... texts) {
    throw Error(ErrorClass::buffer, join(texts...))
        .with_help(
            "attach a larger buffer (MPI_Buffer_attach): each pending message needs as many bytes as MPI_Pack_size "
            "returns, and MPI_BSEND_OVERHEAD more; or send with MPI_Isend");
}

}   // namespace

void SendBuffer::attach(void* memory, std::size_t bytes) {
    if (automatic_)
        fail(ErrorClass::buffer, "an automatic buffer is already attached; detach it first (MPI_Buffer_detach)");
    if (memory_)
        fail(ErrorClass::buffer, "a buffer of ", bytes_,
             " bytes is already attached; detach it first (MPI_Buffer_detach)");
    memory_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
}

void SendBuffer::attach_automatic() {
    attach(nullptr, 0);
    automatic_ = true;
}

std::pair<void*, std::size_t> SendBuffer::detach() {
    if (!attached()) fail(ErrorClass::buffer, "no buffer is attached");
    automatic_ = false;
    return {std::exchange(memory_, nullptr), std::exchange(bytes_, 0)};
}

SendBuffer::Copy& SendBuffer::copy(Send const& from) {
    constexpr std::size_t align = 16;
    if (automatic_) {
        std::unique_ptr<std::byte[]> data(new std::byte[from.data.bytes]);   // not zeroed
        Copy& made = insert(from, next_number_, next_number_, data.get());
        made.storage_ = std::move(data);
        return made;
    }
    std::size_t need = (from.data.bytes + align - 1) / align * align + overhead;
    if (!memory_)
        throw Error(ErrorClass::buffer, "no buffer is attached")
            .with_help("attach a buffer before the first buffered send (MPI_Buffer_attach), or send with MPI_Isend");
    if (from.data.bytes + overhead > bytes_)
        fail_no_space("the message of ", from.data.bytes, " bytes and ", overhead,
                      " bytes of overhead do not fit into the attached buffer of ", bytes_, " bytes");
    std::size_t begin = 0;
    for (auto const& [at, send] : sends_) {
        if (begin + need <= at) break;
        begin = send->end_;
    }
    // The size of the last message in the buffer need not be rounded up.
    need = std::min(need, bytes_ - std::min(begin, bytes_));
    if (std::size_t const left = sends_.size(); need < from.data.bytes + overhead)
        fail_no_space("the attached buffer of ", bytes_, " bytes has no space for a message of ", from.data.bytes,
                      " bytes and ", overhead, " bytes of overhead; ", left,
                      left == 1 ? " message in it has not been sent yet" : " messages in it have not been sent yet");
    return insert(from, begin, begin + need, memory_ + begin);
}

SendBuffer::Copy& SendBuffer::insert(Send const& from, std::size_t begin, std::size_t end, std::byte* data) {
    auto send = std::make_unique<Copy>();
    static_cast<Send&>(*send) = from;
    send->owner_ = this;
    send->begin_ = begin;
    send->end_ = end;
    send->number_ = next_number_++;
    send->finished = finished;
    send->data = Data::of_bytes(data, from.data.bytes);
    from.data.pack(0, data, from.data.bytes);
    return *(sends_[begin] = std::move(send));
}

void SendBuffer::finished(Send& op) {
    auto& copy = static_cast<Copy&>(op);
    SendBuffer& owner = *copy.owner_;
    Send* const original = copy.original;
    if (original) {
        // The request needs these to ask the receiver to cancel the message.
        original->number = copy.number;
        original->eager = copy.eager;
        original->stage = copy.stage;
        original->cancelled = copy.cancelled;
        original->failure = copy.failure;
        original->done = true;
    }
    owner.sends_.erase(copy.begin_);
    owner.notify_flushes();
    if (original && original->finished) original->finished(*original);
}

void SendBuffer::add_flush(FlushRequest& flush) {
    flushes_.emplace_back(next_number_, &flush);
    flush.begin();
    notify_flushes();
}

void SendBuffer::notify_flushes() {
    if (flushes_.empty()) return;
    std::uint64_t oldest = next_number_;
    for (auto const& [at, send] : sends_) oldest = std::min(oldest, send->number_);
    std::erase_if(flushes_, [&](auto const& waiting) {
        if (waiting.first > oldest) return false;
        waiting.second->flushed();
        return true;
    });
}

SendBuffer& SendBuffers::comm_buffer(std::uint64_t context) {
    auto& found = comm_buffers_[context];
    if (!found) found = std::make_unique<SendBuffer>();
    return *found;
}

void SendBuffers::release(std::uint64_t context) {
    std::erase_if(draining_, [](auto const& buffer) { return buffer->idle(); });
    auto const found = comm_buffers_.find(context);
    if (found == comm_buffers_.end()) return;
    draining_.push_back(std::move(found->second));
    comm_buffers_.erase(found);
}

bool SendBuffers::idle() const {
    return process_buffer_.idle() &&
           std::ranges::all_of(comm_buffers_, [](auto const& one) { return one.second->idle(); }) &&
           std::ranges::all_of(draining_, [](auto const& buffer) { return buffer->idle(); });
}

}   // namespace tutti::p2p
