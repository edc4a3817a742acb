// SPDX-License-Identifier: BSD-3-Clause
// Transports that wrap another one. CheckedTransport exists only under `mpiexec --check`, TracedTransport only if the
// rank is traced, so messages pay nothing for them otherwise.
#pragma once

#include <memory>

#include "p2p/check/checks.hpp"
#include "p2p/matching/transport.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

/// Forwards every call to the transport that it owns. The transports below override the calls that they observe.
class ForwardingTransport : public Transport {
public:
    explicit ForwardingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

    bool reaches(int peer) const override { return inner_->reaches(peer); }
    bool try_send_small(int peer, Key const& key, Data const& data) override {
        return inner_->try_send_small(peer, key, data);
    }
    SmallReceive try_receive_small(int peer, Key const& key, Data const& data, Status& status, int polls) override {
        return inner_->try_receive_small(peer, key, data, status, polls);
    }
    void begin(Send& op) override { inner_->begin(op); }
    void cancel(Send& op) override { inner_->cancel(op); }
    void reserve(Unexpected const& message) override { inner_->reserve(message); }
    void receive_unexpected(Receive& op, Unexpected& message) override { inner_->receive_unexpected(op, message); }
    void announce(Receive& op) noexcept override { inner_->announce(op); }
    bool withdraw(Receive& op) noexcept override { return inner_->withdraw(op); }
    bool needs_polling() const override { return inner_->needs_polling(); }
    bool poll() override { return inner_->poll(); }
    bool poll_from(int peer) override { return inner_->poll_from(peer); }
    int polls_in_a_row() const override { return inner_->polls_in_a_row(); }
    bool idle() const override { return inner_->idle(); }
    void start_shutdown() override { inner_->start_shutdown(); }
    bool is_shut_down() const override { return inner_->is_shut_down(); }
    void add_open_peers(std::vector<int>& ranks) const override { inner_->add_open_peers(ranks); }
    void close() override { inner_->close(); }
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const override {
        inner_->count_bytes(segment, bytes);
    }

private:
    std::unique_ptr<Transport> const inner_;
};

/// The checks are notified when a message of the program begins, so every such message begins as an operation. Standard
/// sends wait for their receives, as MPI permits (MPI 3.1, 3.4): deadlock detection then finds programs that work only
/// while their messages are small.
class CheckedTransport final : public ForwardingTransport {
public:
    CheckedTransport(std::unique_ptr<Transport> inner, Checks& checks)
        : ForwardingTransport(std::move(inner)), checks_(checks) {}

    bool try_send_small(int peer, Key const& key, Data const& data) override {
        return !is_user_point_to_point(key) && ForwardingTransport::try_send_small(peer, key, data);
    }
    SmallReceive try_receive_small(int peer, Key const& key, Data const& data, Status& status, int polls) override {
        return is_user_point_to_point(key) ? SmallReceive::needs_operation
                                           : ForwardingTransport::try_receive_small(peer, key, data, status, polls);
    }
    void begin(Send& op) override {
        if (is_user_point_to_point(op.key)) {
            checks_.on_send(op);
            if (op.mode == Mode::standard) {
                op.mode = Mode::synchronous;
                op.made_synchronous = true;
            }
        }
        ForwardingTransport::begin(op);
    }

private:
    Checks& checks_;
};

/// Records the messages of the program in the trace.
class TracedTransport final : public ForwardingTransport {
public:
    /// The process must have a tracer, and must stay valid as long as the object.
    TracedTransport(std::unique_ptr<Transport> inner, Process& process)
        : ForwardingTransport(std::move(inner)), process_(process) {}

    bool try_send_small(int peer, Key const& key, Data const& data) override {
        // Taken before the send, because the message may be received before the send returns.
        std::int64_t const when = process_.tracer->begin_time();
        bool const sent = ForwardingTransport::try_send_small(peer, key, data);
        if (sent) trace(when, peer, key, data.bytes);
        return sent;
    }
    SmallReceive try_receive_small(int peer, Key const& key, Data const& data, Status& status, int polls) override {
        SmallReceive const result = ForwardingTransport::try_receive_small(peer, key, data, status, polls);
        if (result == SmallReceive::received && key.is_user_message())
            process_.tracer->received(key.context, status.source, status.tag, status.bytes, false);
        return result;
    }
    void begin(Send& op) override {
        trace(process_.tracer->begin_time(), op.peer, op.key, op.data.bytes);
        ForwardingTransport::begin(op);
    }

private:
    void trace(std::int64_t when, int peer, Key const& key, std::size_t bytes) {
        if (key.is_user_message())
            process_.tracer->sent(when, key.context, key.source, key.tag, process_.cluster.world_rank_of_peer(peer),
                                  bytes);
    }

    Process& process_;
};

}   // namespace tutti::p2p
