// SPDX-License-Identifier: BSD-3-Clause
// Transports that wrap another one. CheckedTransport exists only under `mpiexec --check`, TracedTransport only if the
// rank is traced, so messages pay nothing for them otherwise.
#pragma once

#include <memory>

#include "p2p/check/checks.hpp"
#include "p2p/matching/transport.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

/// The checks are notified when a message of the program begins, so every such message begins as an operation. Standard
/// sends wait for their receives, as MPI permits (MPI 3.1, 3.4): deadlock detection then finds programs that work only
/// while their messages are small.
class CheckedTransport final : public Transport {
public:
    CheckedTransport(std::unique_ptr<Transport> inner, Checks& checks) : inner_(std::move(inner)), checks_(checks) {}

    bool reaches(int peer) const override { return inner_->reaches(peer); }
    bool send_small(int peer, Key const& key, Data const& data) override {
        return !of_program(key) && inner_->send_small(peer, key, data);
    }
    First take_small(int peer, Key const& key, Data const& data, Status& status, int polls) override {
        return of_program(key) ? First::other : inner_->take_small(peer, key, data, status, polls);
    }
    void begin(Send& op) override {
        if (of_program(op.key)) {
            checks_.sends(op);
            if (op.mode == Mode::standard) op.mode = Mode::synchronous;
        }
        inner_->begin(op);
    }
    void cancel(Send& op) override { inner_->cancel(op); }
    void take(Receive& op, Unexpected& message) override { inner_->take(op, message); }
    void announce(Receive& op) noexcept override { inner_->announce(op); }
    bool withdraw(Receive& op) noexcept override { return inner_->withdraw(op); }
    bool polled() const override { return inner_->polled(); }
    bool poll() override { return inner_->poll(); }
    bool poll_from(int peer) override { return inner_->poll_from(peer); }
    int polls_in_a_row() const override { return inner_->polls_in_a_row(); }
    bool idle() const override { return inner_->idle(); }
    void say_goodbye() override { inner_->say_goodbye(); }
    bool parted() const override { return inner_->parted(); }
    void add_staying(std::vector<int>& ranks) const override { inner_->add_staying(ranks); }
    void close() override { inner_->close(); }
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const override {
        inner_->count_bytes(segment, bytes);
    }

private:
    std::unique_ptr<Transport> const inner_;
    Checks& checks_;
};

/// Records the messages of the program in the trace and forwards the calls. Shutdown and byte counts are not forwarded:
/// the engine calls the traced transport directly for them.
class TracedTransport final : public Transport {
public:
    /// Both arguments must outlive the object. The process must have a tracer.
    TracedTransport(Transport& real, Process& process) : real_(real), process_(process) {}

    bool reaches(int peer) const override { return real_.reaches(peer); }
    bool send_small(int peer, Key const& key, Data const& data) override {
        // Taken before the send, because the message may be received before the send returns.
        std::int64_t const when = process_.tracer->time_of_begin();
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
