// SPDX-License-Identifier: BSD-3-Clause
// Copies between two layouts, and the memory of unexpected messages.
#include "p2p/matching/operation.hpp"

#include <new>

#include "runtime/base/error.hpp"

namespace tutti::p2p {

std::size_t transfer(Data const& to, Data const& from) {
    std::size_t n = std::min(to.bytes, from.bytes);
    if (from.dense()) to.unpack(0, from.base, n);
    else if (to.dense()) from.pack(0, to.base, n);
    else copy_typed(to.base, to.count, *to.type, from.base, from.count, *from.type);
    return n;
}

std::string Data::amount() const {
    if (!element) return join(bytes, bytes == 1 ? " byte" : " bytes");
    return join(count, " ", element->name.empty() ? "of a datatype of the program" : element->name);
}

Unexpected* Unexpected::create(FramePool& pool, std::size_t room) {
    return new (pool.get(sizeof(Unexpected) + room)) Unexpected;
}

void Unexpected::destroy(Unexpected* message) {
    message->~Unexpected();
    FramePool::put(message);
}

}   // namespace tutti::p2p
