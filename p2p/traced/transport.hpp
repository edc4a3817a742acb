// SPDX-License-Identifier: BSD-3-Clause
// A transport whose messages are traced, and that does everything as the one that it is put around.
#pragma once

#include "p2p/transport.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

class TracedTransport final : public Transport {
public:
    /// Both outlive it; the process has a tracer.
    TracedTransport(Transport& real, Process& process) : real_(real), process_(process) {}

    bool reaches(int peer) const override { return real_.reaches(peer); }
    bool send_small(int peer, Key const& key, Data const& data) override {
        std::int64_t const when = process_.tracer->time_of_begin();   // it may be received before this returns
        bool const sent = real_.send_small(peer, key, data);
        if (sent) trace(when, peer, key, data.bytes);
        return sent;
    }
    First take_small(int peer, Key const& key, Data const& data, Status& status, int polls) override {
        First const first = real_.take_small(peer, key, data, status, polls);
        if (first == First::taken && key.of_program())
            process_.tracer->received(key.context, status.source, status.tag, status.bytes, false);
        return first;
    }
    void begin(Send& op) override {
        trace(process_.tracer->time_of_begin(), op.peer, op.key, op.data.bytes);
        real_.begin(op);
    }
    void cancel(Send& op) override { real_.cancel(op); }
    void reserve(Unexpected const& message) override { real_.reserve(message); }
    void take(Receive& op, Unexpected& message) override { real_.take(op, message); }
    void announce(Receive& op) noexcept override { real_.announce(op); }
    bool withdraw(Receive& op) noexcept override { return real_.withdraw(op); }

    bool polled() const override { return real_.polled(); }
    bool poll() override { return real_.poll(); }
    bool poll_from(int peer) override { return real_.poll_from(peer); }
    int polls_in_a_row() const override { return real_.polls_in_a_row(); }
    bool idle() const override { return real_.idle(); }

private:
    void trace(std::int64_t when, int peer, Key const& key, std::size_t bytes) {
        if (key.of_program())
            process_.tracer->sent(when, key.context, key.source, key.tag, process_.cluster.rank_of_peer(peer), bytes);
    }

    Transport& real_;
    Process& process_;
};

}   // namespace tutti::p2p
