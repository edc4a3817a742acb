// SPDX-License-Identifier: BSD-3-Clause
// Messages of commands in and out.
#include "rma/messages/service.hpp"

#include <algorithm>
#include <cstring>

#include "rma/messages/messages.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

Service& service_of(Process& process) {
    if (!process.one_sided) process.one_sided = std::make_unique<Service>(process);
    return static_cast<Service&>(*process.one_sided);
}

Service::Service(Process& process)
    : process_(process), context_(process.world->context | p2p::service_context),
      sent_(static_cast<std::size_t>(process.size())), looked_at_(static_cast<std::size_t>(process.size())) {
    process.waiter.attach(this);
    for (std::size_t i = 0; i < receives; ++i) {
        incoming_.push_back(std::make_unique<Incoming>());
        incoming_.back()->service = this;
        post(*incoming_.back());
    }
}

Service::~Service() { process_.waiter.detach(this); }

void Service::post(Incoming& receive) {
    static_cast<p2p::Receive&>(receive) = {};
    receive.data = p2p::Data::of_bytes(receive.content, sizeof receive.content);
    receive.key = key(any_source, tag_of_commands);
    receive.finished = arrived;
    p2p::engine(process_).begin(receive);
}

/// What comes while another one is looked at waits for its turn.
void Service::arrived(p2p::Receive& receive) {
    auto& mine = static_cast<Incoming&>(receive);
    Service& s = *mine.service;
    s.arrived_.push_back(&mine);
    if (s.inside_) return;
    s.inside_ = true;
    while (!s.arrived_.empty()) {
        Incoming& next = *s.arrived_.front();
        s.arrived_.pop_front();
        if (!next.failed()) s.take(next);
        s.post(next);
    }
    s.inside_ = false;
}

void Service::take(Incoming const& receive) {
    int const from = receive.status.source;
    MessageHead head;
    std::memcpy(&head, receive.content, sizeof head);
    std::uint32_t& expected = looked_at_[static_cast<std::size_t>(from)];
    if (head.number != expected) {
        ahead_[{from, head.number}].assign(receive.content, receive.content + receive.status.bytes);
        return;
    }
    ++expected;
    look_at(from, receive.content, receive.status.bytes);
    for (auto next = ahead_.find({from, expected}); next != ahead_.end(); next = ahead_.find({from, expected})) {
        std::vector<std::byte> const message = std::move(next->second);
        ahead_.erase(next);
        ++expected;
        look_at(from, message.data(), message.size());
    }
}

void Service::look_at(int, std::byte const* message, std::size_t bytes) {
    MessageHead head;
    std::memcpy(&head, message, sizeof head);
    auto const window = windows_.find(head.window);
    if (window == windows_.end()) return;
    for (std::size_t at = sizeof head; at < bytes;) {
        Command command;
        std::memcpy(&command, message + at, sizeof command);
        at += sizeof command;
        window->second->asked(head.origin, command, message + at);
        at += filled_up(command.length);
    }
}

Outgoing& Service::make() {
    if (unused_.empty()) {
        all_outgoing_.push_back(std::make_unique<Outgoing>());
        unused_.push_back(all_outgoing_.back().get());
    }
    Outgoing& made = *unused_.back();
    unused_.pop_back();
    static_cast<p2p::Send&>(made) = {};
    made.service = this;
    made.used = sizeof(MessageHead);
    return made;
}

void Service::send(Outgoing& message, int world_rank) {
    std::uint32_t const number = sent_[static_cast<std::size_t>(world_rank)]++;
    std::memcpy(message.content + offsetof(MessageHead, number), &number, sizeof number);
    message.data = p2p::Data::of_bytes(message.content, message.used);
    message.key = key(me(), tag_of_commands);
    message.peer = peer(world_rank);
    message.finished = [](p2p::Send& done) {
        auto& mine = static_cast<Outgoing&>(done);
        mine.service->unused_.push_back(&mine);
    };
    ++messages_sent;
    p2p::engine(process_).begin(message);
}

void Service::add(Messages& window, std::uint64_t name) { windows_[name] = &window; }

void Service::remove(Messages&, std::uint64_t name) { windows_.erase(name); }

void Service::hold_locks(char const* call) {
    for (auto const& [name, window] : windows_) window->take_locks(call);
}

bool Service::poll() {
    bool moved = false;
    for (auto const& [name, window] : windows_) moved |= window->poll();
    return moved;
}

bool Service::at_rest() const {
    return std::ranges::all_of(windows_, [](auto const& one) { return one.second->at_rest(); });
}

}   // namespace tutti::rma
