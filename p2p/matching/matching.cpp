// SPDX-License-Identifier: BSD-3-Clause
// The rare cases of matching: comparison of types whose digests differ, failures, lost peers.
#include "p2p/matching/matching.hpp"

#include "runtime/base/error.hpp"

namespace tutti::p2p {

void Matching::compare_types(Receive& op, TypeDigest digest) {
    // The receive is matched already. Without memory the type mismatch is not reported.
    unless_out_of_memory([&] {
        if (!digest.fits(op.sent, *op.data.element, op.data.count)) op.other_types = digest;
        return true;
    });
}

void Matching::fail(Receive& op, std::string const& sentence) {
    op.status.error = ErrorClass::other;
    op.failure = &sentence;
    finish(op);
}

void Matching::fail(Send& op, std::string const& sentence) {
    op.failure = &sentence;
    op.cancelling = false;
    op.stage = SendStage::sent;
    finish(op);
}

std::string const* Matching::loss_of(int peer) const {
    auto const found = losses_.find(peer);
    return found == losses_.end() ? nullptr : found->second;
}

std::vector<Receive*> Matching::lose(int peer, std::string const& sentence) {
    std::vector<Receive*> waiting;
    posted_.find_if([&](Receive const& op) { return op.peer < 0 || op.peer == peer; }, waiting);
    services_.find_if([&](Receive const& op) { return op.peer == peer; }, waiting);
    losses_.insert_or_assign(peer, &sentence);
    any_loss_ = &sentence;
    for (Receive* op : waiting) withdraw(*op);
    return waiting;
}

}   // namespace tutti::p2p
