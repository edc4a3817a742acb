// SPDX-License-Identifier: BSD-3-Clause
// Sending and receiving messages of commands.
#include "rma/am_service.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "rma/am_messages.hpp"
#include "runtime/base/mark.hpp"

namespace tutti::rma {

Service& service_of(Process& process) {
    if (!process.one_sided) process.one_sided = std::make_unique<Service>(process);
    return static_cast<Service&>(*process.one_sided);
}

Service::Service(Process& process)
    : process_(process), context_(process.world->context | p2p::service_context),
      sent_(static_cast<std::size_t>(process.size())), looked_at_(static_cast<std::size_t>(process.size())) {
    process.waiter.attach(this);
    arrived_.reserve(receives);
    for (std::size_t i = 0; i < receives; ++i) {
        incoming_.push_back(std::make_unique<Incoming>());
        incoming_.back()->service = this;
        post(*incoming_.back());
    }
}

Service::~Service() { process_.waiter.detach(this); }

void Service::post(Incoming& receive) {
    static_cast<p2p::Receive&>(receive) = {};
    receive.done = 0;
    receive.taken = false;
    receive.data = p2p::Data::of_bytes(receive.content, sizeof receive.content);
    receive.key = key(any_source, tag_of_commands);
    receive.finished = arrived;
    p2p::engine(process_).begin(receive);
}

void Service::arrived(p2p::Receive& receive) {
    auto& mine = static_cast<Incoming&>(receive);
    mine.service->arrived_.push_back(&mine);
    mine.service->take_arrived();
}

/// A message that arrives while another one is processed is queued.
void Service::take_arrived() {
    if (inside_) return;
    Mark const inside(inside_);
    Incoming* next = nullptr;
    try {
        while (!arrived_.empty()) {
            next = arrived_.front();
            if (!next->failed() && !next->taken) take(*next);
            next->taken = true;
            arrived_.erase(arrived_.begin());
            post(*next);
        }
    } catch (std::bad_alloc const&) {
        short_of_memory_ = true;
        if (!arrived_.empty() && arrived_.front() == next) return;
        next->taken = true;   // processed, but not posted again
        arrived_.insert(arrived_.begin(), next);
    }
}

void Service::take(Incoming& receive) {
    int const from = receive.status.source;
    MessageHead head;
    std::memcpy(&head, receive.content, sizeof head);
    std::uint32_t& expected = looked_at_[static_cast<std::size_t>(from)];
    if (head.number != expected) {
        Early early{{receive.content, receive.content + receive.status.bytes}};
        ahead_.emplace(std::pair{from, head.number}, std::move(early));
        return;
    }
    carry_out(receive.content, receive.status.bytes, receive.done);
    receive.taken = true;
    ++expected;
    take_early(from);
}

/// Processes early messages of the rank that are next in order.
void Service::take_early(int from) {
    std::uint32_t& expected = looked_at_[static_cast<std::size_t>(from)];
    for (auto next = ahead_.find({from, expected}); next != ahead_.end(); next = ahead_.find({from, expected})) {
        carry_out(next->second.content.data(), next->second.content.size(), next->second.done);
        ahead_.erase(next);
        ++expected;
    }
}

/// Executes the commands of a message from offset `done` on, and keeps `done` up to date, also when this throws
/// std::bad_alloc.
void Service::carry_out(std::byte const* message, std::size_t bytes, std::size_t& done) {
    MessageHead head;
    std::memcpy(&head, message, sizeof head);
    auto const window = windows_.find(head.window);
    if (window == windows_.end()) return;
    for (std::size_t at = std::max(done, sizeof head); at < bytes; done = at) {
        Command command;
        std::memcpy(&command, message + at, sizeof command);
        window->second->asked(head.origin, command, message + at + sizeof command);
        at += sizeof command + filled_up(command.length);
    }
}

/// Retries everything for which memory was missing. Ranks are few and this is rare, so all of them are searched.
void Service::try_again() {
    short_of_memory_ = false;
    begin_unsent();
    try {
        for (std::size_t from = 0; from < looked_at_.size() && !ahead_.empty(); ++from)
            take_early(static_cast<int>(from));
    } catch (std::bad_alloc const&) { short_of_memory_ = true; }
    take_arrived();
}

Outgoing& Service::make() {
    if (unused_.empty()) {
        unused_.reserve(all_outgoing_.size() + 1);
        all_outgoing_.push_back(std::make_unique<Outgoing>());
        give_back(*all_outgoing_.back());
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
        mine.service->give_back(mine);
    };
    ++messages_sent;
    begin(message);
}

void Service::begin(Sending& op) {
    op.next_unsent = nullptr;
    (last_unsent_ ? last_unsent_->next_unsent : first_unsent_) = &op;
    last_unsent_ = &op;
    begin_unsent();
}

/// An operation that has begun may delete itself.
void Service::begin_unsent() {
    while (Sending* const op = first_unsent_) {
        Sending* const next = op->next_unsent;
        first_unsent_ = next;
        if (!next) last_unsent_ = nullptr;
        try {
            p2p::engine(process_).begin(*op);
        } catch (std::bad_alloc const&) {
            op->next_unsent = first_unsent_;
            first_unsent_ = op;
            if (!last_unsent_) last_unsent_ = op;
            short_of_memory_ = true;
            return;
        }
    }
}

void Service::add(Messages& window, std::uint64_t name) { windows_[name] = &window; }

void Service::remove(Messages&, std::uint64_t name) { windows_.erase(name); }

void Service::hold_locks(char const* call) {
    for (auto const& [name, window] : windows_) window->take_locks(call);
}

bool Service::poll() {
    bool moved = false;
    if (short_of_memory_ && !inside_) [[unlikely]]
        try_again(), moved = !short_of_memory_;
    for (auto const& [name, window] : windows_) moved |= window->poll();
    return moved;
}

void Service::tell(Blockage& blockage) const {
    if (short_of_memory_) return blockage.await_unknown();
    for (auto const& [name, window] : windows_) window->tell(blockage);
}

bool Service::at_rest() const {
    return !short_of_memory_ && std::ranges::all_of(windows_, [](auto const& one) { return one.second->at_rest(); });
}

}   // namespace tutti::rma
