// SPDX-License-Identifier: BSD-3-Clause
// Messages of a rank to itself. A send copies its data directly into a posted receive. If there is none, messages up to
// the eager size are stored as unexpected messages, and larger ones stay in the send buffer until a receive matches.
// This transport is not polled.
#pragma once

#include <utility>

#include "p2p/matching/matching.hpp"
#include "p2p/matching/transport.hpp"

namespace tutti::p2p {

class SelfTransport final : public Transport {
public:
    explicit SelfTransport(Matching& matching);

    bool reaches(int peer) const override { return peer == me_; }
    bool try_send_small(int, Key const&, Data const&) override { return false; }
    void begin(Send& op) override;
    void cancel(Send& op) override;
    void receive_unexpected(Receive& op, Unexpected& message) override;

    bool needs_polling() const override { return false; }
    bool poll() override { return false; }
    bool poll_from(int) override { return false; }
    bool idle() const override { return true; }

private:
    Matching& matching_;
    int const me_;
    std::size_t const eager_limit_;
    std::uint64_t next_number_ = 0;   ///< number of the next send
};

SelfTransport::SelfTransport(Matching& matching)
    : matching_(matching), me_(static_cast<int>(matching.process().local_rank())),
      eager_limit_(matching.process().variables.eager) {}

inline void SelfTransport::begin(Send& op) {
    if (Receive* receive = matching_.match(op.key, op.data.bytes, op.digest)) {
        transfer(receive->data, op.data);
        receive->piggyback = std::move(op.piggyback);
        matching_.finish(*receive);
        matching_.mark_sent(op);
        return matching_.notify_progress();
    }
    op.eager = op.mode != Mode::synchronous && op.data.bytes <= eager_limit_;
    Unexpected* m = Unexpected::create(matching_.process().frames, op.eager ? op.data.bytes : 0);
    m->key = op.key;
    m->peer = me_;
    m->number = op.number = next_number_++;
    m->bytes = op.data.bytes;
    m->digest = op.digest;
    m->kind = op.eager ? Unexpected::Kind::eager : Unexpected::Kind::offered;
    m->local_send = &op;
    m->piggyback = std::move(op.piggyback);
    Process& process = matching_.process();
    if (op.key.is_user_message())
        process.rank_state().recent_sends.record(process.local_rank(), m->number, process.call_site,
                                                 process.call_function);
    if (op.eager) op.data.pack(0, m->content(), op.data.bytes);
    matching_.add(*m);
    op.stage = SendStage::offered;
    if (op.eager) matching_.mark_sent(op);
    matching_.notify_progress();
}

inline void SelfTransport::receive_unexpected(Receive& op, Unexpected& m) {
    matching_.match(op, m.key, m.bytes, m.digest);
    if (m.kind == Unexpected::Kind::eager) return matching_.deliver(op, m.content());
    transfer(op.data, m.local_send->data);
    matching_.mark_sent(*m.local_send);
    matching_.finish(op);
    matching_.notify_progress();
}

inline void SelfTransport::cancel(Send& op) {
    op.done = false;
    if (Unexpected* m = matching_.find(me_, op.number)) {
        matching_.remove(*m);
        Unexpected::destroy(m);
        op.cancelled = true;
    }
    if (op.cancelled || op.stage == SendStage::sent) matching_.finish(op);
    matching_.notify_progress();
}

}   // namespace tutti::p2p
