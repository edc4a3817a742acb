// SPDX-License-Identifier: BSD-3-Clause
// The rare half of matching: types that are not the same at a glance, and failures.
#include "p2p/matching/matching.hpp"

namespace tutti::p2p {

void Matching::compare_types(Receive& op, TypeDigest digest) {
    if (!digest.fits(op.sent, *op.data.element, op.data.count)) op.other_types = digest;
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
    losses_[peer] = any_loss_ = &sentence;
    std::vector<Receive*> taken = posted_.take_if([&](Receive const& op) { return op.peer < 0 || op.peer == peer; });
    for (Receive* op : services_.take_if([&](Receive const& op) { return op.peer == peer; })) taken.push_back(op);
    return taken;
}

}   // namespace tutti::p2p
