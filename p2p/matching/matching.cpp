// SPDX-License-Identifier: BSD-3-Clause
// Copies between two operations, the memory of unexpected messages, and the rare cases of matching: comparison of types
// whose digests differ, failures, lost peers.
#include "p2p/matching/matching.hpp"

#include <new>

#include "p2p/matching/operation.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p {

void Matching::compare_types(Receive& op, TypeDigest digest) {
    // The receive is matched already. Without memory the type mismatch is not reported.
    unless_out_of_memory([&] {
        if (!digest.fits(op.message_bytes, *op.data.element, op.data.count)) op.mismatched_types = digest;
        return true;
    });
}

void Matching::fail(Receive& op, std::string const& message) {
    op.status.error = ErrorClass::other;
    op.failure = &message;
    finish(op);
}

void Matching::fail(Send& op, std::string const& message) {
    op.failure = &message;
    op.cancelling = false;
    op.stage = SendStage::sent;
    finish(op);
}

std::string const* Matching::find_loss_reason(int peer) const {
    auto const found = losses_.find(peer);
    return found == losses_.end() ? nullptr : found->second;
}

std::vector<Receive*> Matching::mark_lost(int peer, std::string const& message) {
    std::vector<Receive*> waiting;
    posted_.find_if([&](Receive const& op) { return op.peer < 0 || op.peer == peer; }, waiting);
    posted_services_.find_if([&](Receive const& op) { return op.peer == peer; }, waiting);
    losses_.insert_or_assign(peer, &message);
    last_loss_ = &message;
    for (Receive* op : waiting) withdraw(*op);
    return waiting;
}

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
