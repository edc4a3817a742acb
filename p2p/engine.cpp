// SPDX-License-Identifier: BSD-3-Clause
// The engine of a rank: its transports, the start and end of operations, and the shutdown.
#include "p2p/engine.hpp"

#include <algorithm>

#include "p2p/observed_transport.hpp"
#include "p2p/request.hpp"
#include "p2p/self_transport.hpp"
#include "p2p/shm/transport.hpp"
#include "p2p/tcp/transport.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p {

void start(Process& process, std::vector<int> const& listeners) {
    process.p2p = std::make_unique<Engine>(process, listeners);
}

Engine::Engine(Process& process, std::vector<int> const& listeners)
    : matching_(process),
      checks_(process.variables.diagnosis == "full" ? std::make_unique<Checks>(matching_) : nullptr),
      transports_(make_transports(matching_, listeners, checks_.get())),
      polls_for_small_(process.waiter.initial_polls()), min_announced_bytes_(checks_ ? 0 : process.variables.direct) {
    Cluster const& cluster = process.cluster;
    int const peers = cluster.local_size() + (cluster.is_single_node() ? 0 : cluster.size());
    transports_by_peer_.resize(static_cast<std::size_t>(peers));
    for (auto const& one : transports_)
        for (int peer = 0; peer < peers; ++peer)
            if (Transport*& transport = transports_by_peer_[static_cast<std::size_t>(peer)];
                !transport && one->reaches(peer))
                transport = one.get();
    for (auto const& one : transports_)
        if (one->needs_polling()) polled_.push_back(one.get());
    fewest_polls_ = (*std::ranges::min_element(transports_, {}, [](auto const& one) {
                        return one->polls_in_a_row();
                    }))->polls_in_a_row();
    process.waiter.attach(this);
}

Engine::~Engine() { process().waiter.detach(this); }

bool Engine::poll_all() {
    bool moved = false;
    for (Transport* one : polled_) moved |= one->poll();
    return moved;
}

bool Engine::idle() const {
    return std::ranges::all_of(transports_, [](auto const& one) { return one->idle(); });
}

std::vector<int> Engine::connected_ranks() const {
    std::vector<int> ranks;
    for (auto const& one : transports_) one->add_open_peers(ranks);
    return ranks;
}

void Engine::describe(BlockedCall& blocked) const {
    if (!*blocked.hint.code) unstarted.add_hint(blocked);
}

/// Adds the ranks whose shutdown is outstanding to the description, but awaits none of them: a rank that has already
/// exited has sent its shutdown, which may still be in transit.
void Engine::describe_open_connections(void const* engine, BlockedCall& blocked) {
    std::vector<int> const ranks = static_cast<Engine const*>(engine)->connected_ranks();
    if (ranks.empty()) return;
    std::string const others = ranks.size() == 1 ? "" : join(" and ", ranks.size() - 1, " other ranks");
    blocked.call += join("(waits for rank ", ranks.front(), others, " to shut down the connection)");
}

void Engine::shut_down(char const* call) {
    for (auto const& one : transports_) one->start_shutdown();
    auto const all_shut_down = [this] {
        return std::ranges::all_of(transports_, [](auto const& one) { return one->is_shut_down(); });
    };
    process().waiter.wait_until(all_shut_down, {call, -1, -1, describe_open_connections, this});
    for (auto const& one : transports_) one->close();
}

SendBuffer::Copy& Engine::copy_to_buffer(Send const& op) {
    SendBuffer& buffer = buffers.buffer_for(op.key.context);
    for (;;) {
        try {
            return buffer.copy(op);
        } catch (Error const&) {
            if (!poll()) throw;
        }
    }
}

void Engine::begin(Receive& op) {
    if (Unexpected* m = matching_.find(op.key)) [[unlikely]] {
        if (checks_ && is_user_point_to_point(op.key)) notify_checks(op, m->kind != Unexpected::Kind::offered);
        transport_of(m->peer).reserve(*m);   // without memory the message stays in the queue
        return begin(op, dequeue(m));
    }
    if (std::string const* lost = loss_reason(op.peer)) [[unlikely]]
        if (op.peer >= 0 || !op.key.is_service_message()) return matching_.fail(op, *lost);
    matching_.post(op);
    if (op.data.bytes >= min_announced_bytes_) announce(op);
}

/// Notifies the checks, if there are any, instead of the transport: a message must not be written to the buffer without
/// their knowledge.
void Engine::announce(Receive& op) {
    if (checks_) return is_user_point_to_point(op.key) ? notify_checks(op, false) : void();
    if (op.peer >= 0) transport_of(op.peer).announce(op);
}

void Engine::begin(Receive& op, Unexpected* message) {
    transport_of(message->peer).reserve(*message);
    op.piggyback = std::move(message->piggyback);
    transport_of(message->peer).receive_unexpected(op, *message);
    Unexpected::destroy(message);
}

void Engine::notify_checks(Receive& op, bool already_arrived) {
    checks_->on_receive(op, already_arrived);
    if (op.request) RecvRequest::enable_arrival_check(op);
}

void Engine::cancel(Receive& op) {
    if (!op.posted || !withdraw(op)) return;
    op.status.cancelled = true;
    matching_.finish(op);
    matching_.notify_progress();
}

/// Removes a receive from the queue. Returns false if its message is already being written into the buffer.
bool Engine::withdraw(Receive& op) noexcept {
    if (op.peer >= 0 && !transport_of(op.peer).withdraw(op)) return false;
    matching_.withdraw(op);
    return true;
}

void Engine::abandon(Receive& op) noexcept {
    if (!op.posted || !withdraw(op)) wait_until_done(op.done);
}

void Engine::abandon(Send& op) noexcept {
    try {
        cancel(op);
    } catch (...) {   // the receiver could not be asked: the send continues
    }
    wait_until_done(op.done);
}

void Engine::wait_until_done(bool const& done) noexcept {
    for (;;) {
        try {
            return process().waiter.wait_until([&] { return done; }, {"completion of a message of a failed call"});
        } catch (...) {   // an error of other progress
        }
    }
}

// The only place that names the transports. For each peer the engine uses the first one in this order that reaches it.

std::vector<std::unique_ptr<Transport>> make_transports(Matching& matching, std::vector<int> const& listeners,
                                                        Checks* checks) {
    Process& process = matching.process();
    std::vector<tcp::Socket> sockets;
    for (int descriptor : listeners) sockets.emplace_back(descriptor);
    std::vector<std::unique_ptr<Transport>> all;
    all.push_back(std::make_unique<SelfTransport>(matching));
    all.push_back(std::make_unique<ShmTransport>(matching));
    if (!process.cluster.is_single_node()) all.push_back(std::make_unique<TcpTransport>(matching, std::move(sockets)));
    for (auto& one : all) {
        if (checks) one = std::make_unique<CheckedTransport>(std::move(one), *checks);
        if (process.tracer) one = std::make_unique<TracedTransport>(std::move(one), process);
    }
    return all;
}

}   // namespace tutti::p2p
