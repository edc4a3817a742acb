// SPDX-License-Identifier: BSD-3-Clause
// First fit in the attached buffer.
#include "p2p/buffer.hpp"

#include "runtime/error.hpp"

namespace tutti::p2p {

void SendBuffer::attach(void* memory, std::size_t bytes) {
    if (memory_) fail(ErrorClass::buffer, "a buffer of ", bytes_, " bytes is attached already; one at a time");
    memory_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
}

std::pair<void*, std::size_t> SendBuffer::detach() {
    if (!memory_) fail(ErrorClass::buffer, "no buffer is attached");
    std::pair<void*, std::size_t> was{memory_, bytes_};
    memory_ = nullptr;
    bytes_ = 0;
    return was;
}

Send& SendBuffer::copy(Send const& from) {
    constexpr std::size_t align = 16;
    std::size_t need = (from.data.bytes + align - 1) / align * align + overhead;
    if (from.data.bytes + overhead > bytes_)
        fail(ErrorClass::buffer, "the message of ", from.data.bytes, " bytes and ", overhead,
             " bytes of overhead do not fit into the attached buffer of ", bytes_, " bytes");
    std::size_t begin = 0;
    for (auto const& [at, send] : sends_) {
        if (begin + need <= at) break;
        begin = send->end;
    }
    need = std::min(need, bytes_ - std::min(begin, bytes_));   // the last one need not be rounded up
    if (need < from.data.bytes + overhead)
        fail(ErrorClass::buffer, "the attached buffer of ", bytes_, " bytes has no room for a message of ",
             from.data.bytes, " bytes and ", overhead,
             " bytes of overhead; ", sends_.size(), " messages in it are still on their way");
    auto send = std::make_unique<Copy>();
    static_cast<Send&>(*send) = from;
    send->owner = this;
    send->end = begin + need;
    send->finished = finished;
    send->data = Data::of_bytes(memory_ + begin, from.data.bytes);
    from.data.gather(0, memory_ + begin, from.data.bytes);
    return *(sends_[begin] = std::move(send));
}

void SendBuffer::finished(Send& op) {
    auto& copy = static_cast<Copy&>(op);
    SendBuffer& owner = *copy.owner;
    owner.sends_.erase(static_cast<std::size_t>(copy.data.base - owner.memory_));
}

}  // namespace tutti::p2p
