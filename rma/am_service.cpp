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
      sent_(static_cast<std::size_t>(process.size())), received_(static_cast<std::size_t>(process.size())) {
    process.waiter.attach(this);
    arrived_.reserve(receive_count);
    for (std::size_t i = 0; i < receive_count; ++i) {
        incoming_.push_back(std::make_unique<IncomingMessage>());
        incoming_.back()->service = this;
        post(*incoming_.back());
    }
}

Service::~Service() { process_.waiter.detach(this); }

void Service::post(IncomingMessage& receive) {
    static_cast<p2p::Receive&>(receive) = {};
    receive.done = 0;
    receive.processed = false;
    receive.data = p2p::Data::of_bytes(receive.content, sizeof receive.content);
    receive.key = key(any_source, command_tag);
    receive.finished = on_arrival;
    p2p::engine(process_).begin(receive);
}

void Service::on_arrival(p2p::Receive& receive) {
    auto& mine = static_cast<IncomingMessage&>(receive);
    mine.service->arrived_.push_back(&mine);
    mine.service->process_arrived();
}

/// A message that arrives while another one is processed is queued.
void Service::process_arrived() {
    if (is_processing_) return;
    ScopedFlag const processing(is_processing_);
    IncomingMessage* next = nullptr;
    try {
        while (!arrived_.empty()) {
            next = arrived_.front();
            if (!next->failed() && !next->processed) process(*next);
            next->processed = true;
            arrived_.erase(arrived_.begin());
            post(*next);
        }
    } catch (std::bad_alloc const&) {
        short_of_memory_ = true;
        if (!arrived_.empty() && arrived_.front() == next) return;
        next->processed = true;   // processed, but not posted again
        arrived_.insert(arrived_.begin(), next);
    }
}

void Service::process(IncomingMessage& receive) {
    int const from = receive.status.source;
    MessageHead head;
    std::memcpy(&head, receive.content, sizeof head);
    std::uint32_t& expected = received_[static_cast<std::size_t>(from)];
    if (head.number != expected) {
        EarlyMessage early{{receive.content, receive.content + receive.status.bytes}};
        early_.emplace(std::pair{from, head.number}, std::move(early));
        return;
    }
    execute(receive.content, receive.status.bytes, receive.done);
    receive.processed = true;
    ++expected;
    process_early(from);
}

/// Processes early messages of the rank that are next in order.
void Service::process_early(int from) {
    std::uint32_t& expected = received_[static_cast<std::size_t>(from)];
    for (auto next = early_.find({from, expected}); next != early_.end(); next = early_.find({from, expected})) {
        execute(next->second.content.data(), next->second.content.size(), next->second.done);
        early_.erase(next);
        ++expected;
    }
}

/// Executes the commands of a message from offset `done` on, and keeps `done` up to date, also when this throws
/// std::bad_alloc.
void Service::execute(std::byte const* message, std::size_t bytes, std::size_t& done) {
    MessageHead head;
    std::memcpy(&head, message, sizeof head);
    auto const window = windows_.find(head.window);
    if (window == windows_.end()) return;
    for (std::size_t at = std::max(done, sizeof head); at < bytes; done = at) {
        Command command;
        std::memcpy(&command, message + at, sizeof command);
        window->second->execute_or_queue(head.origin, command, message + at + sizeof command);
        at += sizeof command + padded(command.length);
    }
}

/// Retries everything for which memory was missing. Ranks are few and this is rare, so all of them are searched.
void Service::retry() {
    short_of_memory_ = false;
    begin_unsent();
    try {
        for (std::size_t from = 0; from < received_.size() && !early_.empty(); ++from)
            process_early(static_cast<int>(from));
    } catch (std::bad_alloc const&) { short_of_memory_ = true; }
    process_arrived();
}

OutgoingMessage& Service::acquire_message() {
    if (unused_.empty()) {
        unused_.reserve(all_outgoing_.size() + 1);
        all_outgoing_.push_back(std::make_unique<OutgoingMessage>());
        release_message(*all_outgoing_.back());
    }
    OutgoingMessage& made = *unused_.back();
    unused_.pop_back();
    static_cast<p2p::Send&>(made) = {};
    made.service = this;
    made.used = sizeof(MessageHead);
    return made;
}

void Service::send(OutgoingMessage& message, int world_rank) {
    std::uint32_t const number = sent_[static_cast<std::size_t>(world_rank)]++;
    std::memcpy(message.content + offsetof(MessageHead, number), &number, sizeof number);
    message.data = p2p::Data::of_bytes(message.content, message.used);
    message.key = key(me(), command_tag);
    message.peer = peer(world_rank);
    message.finished = [](p2p::Send& done) {
        auto& mine = static_cast<OutgoingMessage&>(done);
        mine.service->release_message(mine);
    };
    ++messages_sent;
    begin(message);
}

void Service::begin(PendingSend& op) {
    op.next_unsent = nullptr;
    (last_unsent_ ? last_unsent_->next_unsent : first_unsent_) = &op;
    last_unsent_ = &op;
    begin_unsent();
}

/// An operation that has begun may delete itself.
void Service::begin_unsent() {
    while (PendingSend* const op = first_unsent_) {
        PendingSend* const next = op->next_unsent;
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

void Service::add(ActiveMessages& window, std::uint64_t name) { windows_[name] = &window; }

void Service::remove(ActiveMessages&, std::uint64_t name) { windows_.erase(name); }

void Service::acquire_deferred_locks(char const* call) {
    for (auto const& [name, window] : windows_) window->acquire_deferred_locks(call);
}

bool Service::poll() {
    bool moved = false;
    if (short_of_memory_ && !is_processing_) [[unlikely]]
        retry(), moved = !short_of_memory_;
    for (auto const& [name, window] : windows_) moved |= window->poll();
    return moved;
}

void Service::describe(BlockedCall& blocked) const {
    if (short_of_memory_) return blocked.await_unknown();
    for (auto const& [name, window] : windows_) window->describe(blocked);
}

bool Service::is_quiescent() const {
    return !short_of_memory_ &&
           std::ranges::all_of(windows_, [](auto const& one) { return one.second->is_quiescent(); });
}

}   // namespace tutti::rma
