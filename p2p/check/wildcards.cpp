// SPDX-License-Identifier: BSD-3-Clause
// Comparison of completed receives, and the report T12.
#include "p2p/check/wildcards.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "p2p/check/checks.hpp"
#include "runtime/base/error.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti::p2p {
namespace {

std::string tag_name(int tag) { return tag == any_tag ? "MPI_ANY_TAG" : join("tag ", tag); }

bool is_integer(Basic kind) { return kind >= Basic::int8 && kind <= Basic::uint64; }

void warn_of_race(Process& process, std::vector<UsageError::Call> const& parts) {
    warn(process, {"T12", "messages of two senders could have matched the same receive from any source",
                   "name the source, or read MPI_SOURCE from the status; this is harmless if the program treats all "
                   "messages alike, in any order",
                   parts});
}

}   // namespace

void Wildcards::on_begin(void const* receive, Key const& wanted, std::byte const* buffer) {
    TrackedReceive one;
    one.sequence = ++begun_;
    one.wanted = wanted;
    one.function = process_.call_function;
    one.site = program_site(process_.call_site);
    one.buffer = buffer;
    open_.insert_or_assign(receive, std::move(one));
}

void Wildcards::on_arrived(void const* receive, Key const& message, Piggyback const& piggyback, Data const& data) {
    auto const at = open_.find(receive);
    if (at == open_.end()) return;
    if (!piggyback) return void(open_.erase(at));
    TrackedReceive& one = at->second;
    one.message = message;
    one.sent = std::make_shared<SendPiggyback>(SendPiggyback::from_bytes(piggyback));
    one.is_empty = data.bytes == 0;
    one.is_integer_data = data.element && is_integer(data.element->basic());
    if (one.is_any()) one.content = digest_of(data);
}

void Wildcards::on_mprobe(void const* receive, Key const& wanted, Unexpected const& message, bool status_read) {
    if (!message.piggyback) return;
    on_begin(receive, wanted, nullptr);
    TrackedReceive& one = open_.find(receive)->second;
    one.message = message.key;
    one.sent = std::make_shared<SendPiggyback>(SendPiggyback::from_bytes(message.piggyback));
    one.is_empty = message.bytes == 0;
    one.content = one.sequence;   // the data may not have arrived: differs from all others
    clock_.merge(one.sent->clock, one.sent->uncertain);
    one.known_at = clock_.tick();
    one.status_read = status_read;
}

void Wildcards::on_complete(void const* receive, Comm const& comm, bool status_read) {
    auto const at = open_.find(receive);
    if (at == open_.end()) return;
    TrackedReceive one = std::move(at->second);
    open_.erase(at);
    if (!one.sent) return;
    one.status_read |= status_read;
    if (one.known_at == 0) {
        clock_.merge(one.sent->clock, one.sent->uncertain);
        one.known_at = clock_.tick();
    }
    if (one.is_any() && one.buffer && (one.wanted.tag == any_tag || one.is_integer_data)) {
        Loop& loop = loops_[loop_of(one)];
        loop.peers = static_cast<std::size_t>(comm.peers().size()) - (comm.is_inter() ? 0 : 1);
        if (one.sent->rank != process_.rank()) ++loop.messages[one.sent->rank];
    }
    std::uint32_t const known_to_sender =
        one.sent->clock.empty() ? one.known_at : one.sent->clock[static_cast<std::size_t>(process_.rank())];
    for (auto earlier = completed_.rbegin(); earlier != completed_.rend() && earlier->known_at > known_to_sender;
         ++earlier)
        compare(*earlier, one, comm);
    if (one.is_any())
        for (TrackedReceive const& later : later_) compare(one, later, comm);
    store_completed(std::move(one));
}

/// Keeps a completed receive: earlier receives from any source that are still open are compared with it when they
/// complete.
void Wildcards::store_completed(TrackedReceive&& receive) {
    auto const waits_for = [](TrackedReceive const& later) {
        return [&later](auto const& open) {
            return open.second.is_any() && open.second.sequence < later.sequence &&
                   open.second.wanted.matches(later.message);
        };
    };
    std::erase_if(later_, [&](TrackedReceive const& later) { return std::ranges::none_of(open_, waits_for(later)); });
    if (std::ranges::any_of(open_, waits_for(receive))) {
        if (later_.size() == max_completed) later_.pop_front();
        later_.push_back(receive);
    }
    if (!receive.is_any() || reported_.contains(receive.site)) return;
    if (completed_.size() == max_completed) completed_.pop_front();
    completed_.insert(std::ranges::upper_bound(completed_, receive.known_at, {}, &TrackedReceive::known_at),
                      std::move(receive));
}

void Wildcards::compare(TrackedReceive& receive, TrackedReceive const& later, Comm const& comm) {
    if (reported_.contains(receive.site) || !could_have_matched(receive, later)) return;
    if (is_benign(receive, later) || !is_first_of_its_sender(receive, later)) return;
    report(receive, later, comm);
}

bool Wildcards::could_have_matched(TrackedReceive& receive, TrackedReceive const& later) const {
    SendPiggyback const &received = *receive.sent, &other = *later.sent;
    if (receive.sequence >= later.sequence || received.rank == other.rank || !receive.wanted.matches(later.message))
        return false;
    if (other.uncertain || other.clock.empty()) return false;
    if (other.clock[static_cast<std::size_t>(process_.rank())] >= receive.known_at) return false;
    if (received.synchronous && other.clock[static_cast<std::size_t>(received.rank)] > received.number) return false;
    auto const [first, is_new] = receive.candidates.try_emplace(other.rank, other.number);
    if (!is_new && first->second <= other.number) return false;
    first->second = other.number;
    return true;
}

/// Messages of one sender do not overtake each other: only the first one that matches and is not for a receive before
/// `receive` could have matched it. could_have_matched has checked that for completed receives.
bool Wildcards::is_first_of_its_sender(TrackedReceive const& receive, TrackedReceive const& later) const {
    for (auto const& [name, open] : open_)
        if (open.sent && open.sequence > receive.sequence && open.sent->rank == later.sent->rank &&
            open.sent->number < later.sent->number && receive.wanted.matches(open.message))
            return false;
    bool is_first = true;
    matching_.visit_unexpected([&](Unexpected const& message) {
        bool const may_be = message.piggyback && message.key.source == later.message.source &&
                            receive.wanted.matches(message.key) &&
                            SendPiggyback::from_bytes(message.piggyback).number < later.sent->number;
        is_first = !may_be;
        return may_be;
    });
    return is_first;
}

bool Wildcards::is_benign(TrackedReceive const& receive, TrackedReceive const& later) const {
    if (!later.wanted.matches(receive.message)) return false;
    if (receive.status_read && later.status_read) return true;
    if (receive.status_read || later.status_read || receive.message.tag != later.message.tag) return false;
    if (receive.is_empty && later.is_empty) return true;
    if (receive.wanted.tag == any_tag && later.wanted.tag == any_tag) return true;
    return receive.buffer == later.buffer && receive.content == later.content;
}

bool Wildcards::may_be_loop(TrackedReceive const& receive, TrackedReceive const& later) {
    if (!receive.buffer || receive.buffer != later.buffer || !(later.wanted == receive.wanted)) return false;
    if (receive.wanted.tag == any_tag) return true;
    bool const is_overwritten = receive.is_integer_data && later.is_integer_data && receive.site == later.site;
    return is_overwritten && !receive.status_read && !later.status_read;
}

void Wildcards::report(TrackedReceive const& receive, TrackedReceive const& later, Comm const& comm) {
    auto const receiver = [&](TrackedReceive const& of) {
        return join(of.function.name(), "(from ",
                    of.is_any() ? std::string("MPI_ANY_SOURCE") : join("rank ", of.wanted.source), ", ",
                    tag_name(of.wanted.tag), ", ", comm.description(), ")");
    };
    auto const sender = [&](TrackedReceive const& of) {
        return join(of.sent->function.name(), "(to rank ", comm.rank(), ", tag ", of.message.tag, ", ",
                    comm.description(), ")");
    };
    int const me = process_.rank();
    int const received_from = receive.sent->rank, other = later.sent->rank;
    std::vector<UsageError::Call> parts{
        {me, receiver(receive), join("received the message of rank ", received_from, " in this run"), receive.site},
        {received_from, sender(receive), "sent the message that was received there", receive.sent->site},
        {other, sender(later), "sent one that could have been received instead", later.sent->site}};
    bool const fits = later.wanted.matches(receive.message);
    if (later.site != receive.site || !fits)
        parts.push_back({me, receiver(later),
                         join("received the message of rank ", other,
                              fits ? "" : join(", and cannot receive that of rank ", received_from)),
                         later.site});
    if (may_be_loop(receive, later)) {
        LoopKey const loop = loop_of(receive);
        auto const same = [&](Deferred const& one) { return one.site == receive.site && one.loop == loop; };
        if (std::ranges::none_of(deferred_, same)) deferred_.push_back({loop, receive.site, std::move(parts)});
        return;
    }
    reported_.insert(receive.site);
    warn_of_race(process_, parts);
}

void Wildcards::report_deferred() {
    for (Deferred const& one : deferred_) {
        Loop const& loop = loops_[one.loop];
        std::uint64_t const each = loop.messages.begin()->second;
        bool const from_all = std::get<2>(one.loop) == 0 ? loop.messages.size() == loop.peers : each > 1;
        bool const all_alike =
            from_all && std::ranges::all_of(loop.messages, [&](auto const& m) { return m.second == each; });
        if (!all_alike && reported_.insert(one.site).second) warn_of_race(process_, one.parts);
    }
    deferred_.clear();
}

}   // namespace tutti::p2p
