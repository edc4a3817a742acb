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
      transports_(make_transports(matching_, listeners, checks_.get())), polls_for_small_(process.waiter.first_polls()),
      announced_from_(checks_ ? 0 : process.variables.direct) {
    Cluster const& cluster = process.cluster;
    int const peers = cluster.ranks_here() + (cluster.alone() ? 0 : cluster.size());
    to_.resize(static_cast<std::size_t>(peers));
    for (auto const& one : transports_) {
        if (process.tracer) traced_.push_back(std::make_unique<TracedTransport>(*one, process));
        Transport* const reached = process.tracer ? traced_.back().get() : one.get();
        for (int peer = 0; peer < peers; ++peer)
            if (Transport*& way = to_[static_cast<std::size_t>(peer)]; !way && one->reaches(peer)) way = reached;
    }
    for (auto const& one : transports_)
        if (one->polled()) polled_.push_back(one.get());
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

std::vector<int> Engine::connected() const {
    std::vector<int> ranks;
    for (auto const& one : transports_) one->add_staying(ranks);
    return ranks;
}

void Engine::tell(Blockage& blockage) const {
    if (!*blockage.hint.code) unstarted.hint(blockage);
}

/// Adds the ranks whose shutdown is outstanding to the description, but awaits none of them: a rank that has already
/// exited has sent its shutdown, which may still be in transit.
void Engine::tell_staying(void const* engine, Blockage& blockage) {
    std::vector<int> const ranks = static_cast<Engine const*>(engine)->connected();
    if (ranks.empty()) return;
    blockage.call += join("(waits for the goodbye of rank ", ranks.front());
    blockage.call += ranks.size() == 1 ? ")" : join(" and ", ranks.size() - 1, " more)");
}

void Engine::leave(char const* call) {
    for (auto const& one : transports_) one->say_goodbye();
    auto const parted = [this] {
        return std::ranges::all_of(transports_, [](auto const& one) { return one->parted(); });
    };
    process().waiter.until(parted, {call, -1, -1, tell_staying, this});
    for (auto const& one : transports_) one->close();
}

SendBuffer::Copy& Engine::keep(Send const& op) {
    SendBuffer& buffer = buffers.of(op.key.context);
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
        if (checks_ && of_program(op.key)) check(op, m->what != Unexpected::What::offered);
        to(m->peer).reserve(*m);   // without memory the message stays in the queue
        return begin(op, claim(m));
    }
    if (std::string const* lost = loss(op.peer)) [[unlikely]]
        if (op.peer >= 0 || !op.key.of_service()) return matching_.fail(op, *lost);
    matching_.post(op);
    if (op.data.bytes >= announced_from_) announce(op);
}

/// Notifies the checks, if there are any, instead of the transport: a message must not be written to the buffer without
/// their knowledge.
void Engine::announce(Receive& op) {
    if (checks_) return of_program(op.key) ? check(op, false) : void();
    if (op.peer >= 0) to(op.peer).announce(op);
}

void Engine::begin(Receive& op, Unexpected* message) {
    to(message->peer).reserve(*message);
    op.note = std::move(message->note);
    to(message->peer).take(op, *message);
    Unexpected::discard(message);
}

void Engine::check(Receive& op, bool at_once) {
    checks_->receives(op, at_once);
    if (op.request) RecvRequest::watch(op);
}

void Engine::cancel(Receive& op) {
    if (!op.posted || !withdraw(op)) return;
    op.status.cancelled = true;
    matching_.finish(op);
    matching_.happened();
}

/// Removes a receive from the queue. Returns false if its message is already being written into the buffer.
bool Engine::withdraw(Receive& op) noexcept {
    if (op.peer >= 0 && !to(op.peer).withdraw(op)) return false;
    matching_.withdraw(op);
    return true;
}

void Engine::abandon(Receive& op) noexcept {
    if (!op.posted || !withdraw(op)) outlive(op.done);
}

void Engine::abandon(Send& op) noexcept {
    try {
        cancel(op);
    } catch (...) {   // the receiver could not be asked: the send continues
    }
    outlive(op.done);
}

void Engine::outlive(bool const& done) noexcept {
    for (;;) {
        try {
            return process().waiter.until([&] { return done; }, {"the rest of a call that has failed"});
        } catch (...) {   // an error of other progress
        }
    }
}

// The only place that names the transports. For each peer the engine uses the first one in this order that reaches it.

std::vector<std::unique_ptr<Transport>> make_transports(Matching& matching, std::vector<int> const& listeners,
                                                        Checks* checks) {
    std::vector<tcp::Socket> calls;
    for (int descriptor : listeners) calls.emplace_back(descriptor);
    std::vector<std::unique_ptr<Transport>> all;
    all.push_back(std::make_unique<SelfTransport>(matching));
    all.push_back(std::make_unique<ShmTransport>(matching));
    if (!matching.process().cluster.alone()) all.push_back(std::make_unique<TcpTransport>(matching, std::move(calls)));
    for (auto& one : all)
        if (checks) one = std::make_unique<CheckedTransport>(std::move(one), *checks);
    return all;
}

}   // namespace tutti::p2p
