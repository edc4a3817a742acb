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

std::string tag_in_words(int tag) { return tag == any_tag ? "MPI_ANY_TAG" : join("tag ", tag); }

bool is_integer(Basic kind) { return kind >= Basic::int8 && kind <= Basic::uint64; }

void warn_of_race(Process& process, std::vector<Mistake::Part> const& parts) {
    warn(process, {"T12", "messages of two senders could have met the same receive from any source",
                   "name the source, or take the status and look at MPI_SOURCE; harmless where the program treats all "
                   "messages alike, whichever comes first",
                   parts});
}

}   // namespace

void Wildcards::begins(void const* receive, Key const& wanted, std::byte const* buffer) {
    Received one;
    one.sequence = ++begun_;
    one.wanted = wanted;
    one.call = process_.call_name ? process_.call_name : "";
    one.site = program_site(process_.call_site);
    one.buffer = buffer;
    open_.insert_or_assign(receive, std::move(one));
}

void Wildcards::arrives(void const* receive, Key const& message, Note const& note, Data const& data) {
    auto const at = open_.find(receive);
    if (at == open_.end()) return;
    if (!note) return void(open_.erase(at));
    Received& one = at->second;
    one.message = message;
    one.sent = std::make_shared<SentNote>(SentNote::from_bytes(note));
    one.is_empty = data.bytes == 0;
    one.is_whole = data.element && is_integer(data.element->basic());
    if (one.is_any()) one.content = digest_of(data);
}

void Wildcards::claimed(void const* receive, Key const& wanted, Unexpected const& message, bool status_taken) {
    if (!message.note) return;
    begins(receive, wanted, nullptr);
    Received& one = open_.find(receive)->second;
    one.message = message.key;
    one.sent = std::make_shared<SentNote>(SentNote::from_bytes(message.note));
    one.is_empty = message.bytes == 0;
    one.content = one.sequence;   // the data may not have arrived: differs from all others
    order_.learn(one.sent->clock, one.sent->uncertain);
    one.known_at = order_.tick();
    one.status_taken = status_taken;
}

void Wildcards::completed(void const* receive, Comm const& comm, bool status_taken) {
    auto const at = open_.find(receive);
    if (at == open_.end()) return;
    Received one = std::move(at->second);
    open_.erase(at);
    if (!one.sent) return;
    one.status_taken |= status_taken;
    if (one.known_at == 0) {
        order_.learn(one.sent->clock, one.sent->uncertain);
        one.known_at = order_.tick();
    }
    if (one.is_any() && one.buffer && (one.wanted.tag == any_tag || one.is_whole)) {
        Loop& loop = loops_[loop_of(one)];
        loop.peers = static_cast<std::size_t>(comm.peers().size()) - (comm.inter() ? 0 : 1);
        if (one.sent->rank != process_.rank()) ++loop.messages[one.sent->rank];
    }
    std::uint32_t const heard =
        one.sent->clock.empty() ? one.known_at : one.sent->clock[static_cast<std::size_t>(process_.rank())];
    for (auto earlier = done_.rbegin(); earlier != done_.rend() && earlier->known_at > heard; ++earlier)
        compare(*earlier, one, comm);
    if (one.is_any())
        for (Received const& later : later_) compare(one, later, comm);
    remember(std::move(one));
}

/// Keeps a completed receive: earlier receives from any source that are still open are compared with it when they
/// complete.
void Wildcards::remember(Received&& receive) {
    auto const waits_for = [](Received const& later) {
        return [&later](auto const& open) {
            return open.second.is_any() && open.second.sequence < later.sequence &&
                   open.second.wanted.takes(later.message);
        };
    };
    std::erase_if(later_, [&](Received const& later) { return std::ranges::none_of(open_, waits_for(later)); });
    if (std::ranges::any_of(open_, waits_for(receive))) {
        if (later_.size() == most_done) later_.pop_front();
        later_.push_back(receive);
    }
    if (!receive.is_any() || reported_.contains(receive.site)) return;
    if (done_.size() == most_done) done_.pop_front();
    done_.insert(std::ranges::upper_bound(done_, receive.known_at, {}, &Received::known_at), std::move(receive));
}

void Wildcards::compare(Received& receive, Received const& later, Comm const& comm) {
    if (reported_.contains(receive.site) || !could_meet(receive, later)) return;
    if (is_known_to_be_alike(receive, later) || !is_first_of_its_sender(receive, later)) return;
    report(receive, later, comm);
}

bool Wildcards::could_meet(Received& receive, Received const& later) const {
    SentNote const &taken = *receive.sent, &other = *later.sent;
    if (receive.sequence >= later.sequence || taken.rank == other.rank || !receive.wanted.takes(later.message))
        return false;
    if (other.uncertain || other.clock.empty()) return false;
    if (other.clock[static_cast<std::size_t>(process_.rank())] >= receive.known_at) return false;
    if (taken.synchronous && other.clock[static_cast<std::size_t>(taken.rank)] > taken.number) return false;
    auto const [first, is_new] = receive.met.try_emplace(other.rank, other.number);
    if (!is_new && first->second <= other.number) return false;
    first->second = other.number;
    return true;
}

/// Messages of one sender do not overtake each other: only the first one that matches and is not for a receive before
/// `receive` could have matched it. could_meet has checked that for completed receives.
bool Wildcards::is_first_of_its_sender(Received const& receive, Received const& later) const {
    for (auto const& [name, open] : open_)
        if (open.sent && open.sequence > receive.sequence && open.sent->rank == later.sent->rank &&
            open.sent->number < later.sent->number && receive.wanted.takes(open.message))
            return false;
    bool is_first = true;
    matching_.look_through([&](Unexpected const& message) {
        bool const may_be = message.note && message.key.source == later.message.source &&
                            receive.wanted.takes(message.key) &&
                            SentNote::from_bytes(message.note).number < later.sent->number;
        is_first = !may_be;
        return may_be;
    });
    return is_first;
}

bool Wildcards::is_known_to_be_alike(Received const& receive, Received const& later) const {
    if (!later.wanted.takes(receive.message)) return false;
    if (receive.status_taken && later.status_taken) return true;
    if (receive.status_taken || later.status_taken || receive.message.tag != later.message.tag) return false;
    if (receive.is_empty && later.is_empty) return true;
    if (receive.wanted.tag == any_tag && later.wanted.tag == any_tag) return true;
    return receive.buffer == later.buffer && receive.content == later.content;
}

bool Wildcards::may_be_loop(Received const& receive, Received const& later) {
    if (!receive.buffer || receive.buffer != later.buffer || !(later.wanted == receive.wanted)) return false;
    if (receive.wanted.tag == any_tag) return true;
    bool const is_overwritten = receive.is_whole && later.is_whole && receive.site == later.site;
    return is_overwritten && !receive.status_taken && !later.status_taken;
}

void Wildcards::report(Received const& receive, Received const& later, Comm const& comm) {
    auto const receiver = [&](Received const& of) {
        return join(of.call, "(from ", of.is_any() ? std::string("MPI_ANY_SOURCE") : join("rank ", of.wanted.source),
                    ", ", tag_in_words(of.wanted.tag), ", ", comm.words(), ")");
    };
    auto const sender = [&](Received const& of) {
        return join(of.sent->call, "(to rank ", comm.rank(), ", tag ", of.message.tag, ", ", comm.words(), ")");
    };
    int const me = process_.rank();
    int const taken = receive.sent->rank, other = later.sent->rank;
    std::vector<Mistake::Part> parts{
        {me, receiver(receive), join("got the message of rank ", taken, " in this run"), receive.site},
        {taken, sender(receive), "sent the message that was received there", receive.sent->site},
        {other, sender(later), "sent one that could have been received instead", later.sent->site}};
    bool const fits = later.wanted.takes(receive.message);
    if (later.site != receive.site || !fits)
        parts.push_back(
            {me, receiver(later),
             join("got the message of rank ", other, fits ? "" : join(", and cannot get that of rank ", taken)),
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

void Wildcards::finish() {
    for (Deferred const& one : deferred_) {
        Loop const& loop = loops_[one.loop];
        std::uint64_t const each = loop.messages.begin()->second;
        bool const of_all = std::get<2>(one.loop) == 0 ? loop.messages.size() == loop.peers : each > 1;
        bool const all_alike =
            of_all && std::ranges::all_of(loop.messages, [&](auto const& m) { return m.second == each; });
        if (!all_alike && reported_.insert(one.site).second) warn_of_race(process_, one.parts);
    }
    deferred_.clear();
}

}   // namespace tutti::p2p
