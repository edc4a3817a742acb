// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/mail.hpp"

#include "p2p/p2p.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {

Mail::~Mail() {
    for (Arriving& op : arriving_)
        if (!op.done) p2p::engine(process_).abandon(op);
    for (Leaving& op : leaving_)
        if (!op.done) p2p::engine(process_).abandon(op);
}

void Mail::send(std::vector<std::byte> bytes, int to) {
    while (!leaving_.empty() && leaving_.front().done) leaving_.pop_front();
    Leaving& op = leaving_.emplace_back();
    op.bytes = std::move(bytes);
    op.data = p2p::Data::of_bytes(op.bytes.data(), op.bytes.size());
    op.key = {p2p::context_of(*process_.world, p2p::Flavour::internal), process_.rank(), tag_};
    op.peer = process_.cluster.peer_of(to);
    p2p::engine(process_).begin(op);
}

std::optional<std::vector<std::byte>> Mail::next() {
    p2p::Engine& engine = p2p::engine(process_);
    p2p::Key const key{p2p::context_of(*process_.world, p2p::Flavour::internal), any_source, tag_};
    while (p2p::Unexpected* const message = engine.find(key)) {
        Arriving& op = arriving_.emplace_back();
        op.bytes.resize(message->bytes);
        op.data = p2p::Data::of_bytes(op.bytes.data(), op.bytes.size());
        op.key = message->key;
        op.peer = message->peer;
        engine.begin(op, engine.claim(message));
    }
    while (!arriving_.empty() && arriving_.front().done) {
        std::vector<std::byte> bytes = std::move(arriving_.front().bytes);
        bool const failed = arriving_.front().failed();
        arriving_.pop_front();
        if (!failed) return bytes;
    }
    return std::nullopt;
}

}   // namespace tutti::coll
