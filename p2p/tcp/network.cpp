// SPDX-License-Identifier: BSD-3-Clause
// Polling all links, and what becomes of those that end.
#include "p2p/tcp/network.hpp"

#include <algorithm>
#include <utility>

#include <sys/resource.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/mark.hpp"

namespace tutti::p2p::tcp {
namespace {

constexpr std::size_t buffer_bytes = 128 << 10;
constexpr rlim_t other_descriptors = 256;   // of the program, and of callers that are no rank yet

/// Of a short silence, checks that are a second apart would be a large part.
std::int64_t interval_of_checks(std::chrono::nanoseconds silence) {
    return std::min<std::chrono::nanoseconds>(std::chrono::seconds(1), silence / 8).count();
}

/// A connection to every other rank must not fail for want of descriptors; systems give few to begin with.
void allow_descriptors(int connections) {
    rlimit limit{};
    rlim_t const wanted = static_cast<rlim_t>(connections) + other_descriptors;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
}

}   // namespace

Network::Network(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
                 std::chrono::seconds silence, Handler& handler)
    : cluster_(cluster), silence_(silence), check_every_(interval_of_checks(silence)), handler_(handler),
      buffer_(buffer_bytes), links_(static_cast<std::size_t>(cluster.size())),
      setup_(cluster, me, std::move(listeners), std::move(network), silence, poller_,
             static_cast<std::uint64_t>(cluster.size()),
             {.opened = [this](int rank, Socket socket) { link(rank).open(std::move(socket)); },
              .failed =
                  [this](int rank, std::string sentence) {
                      sentences_[rank] = sentence;
                      link(rank).fail(std::move(sentence));
                      settle(link(rank));
                  },
              .known =
                  [this](int rank) {
                      Link const* l = links_[static_cast<std::size_t>(rank)].get();
                      return leaving_ || (l && (l->state() != Link::State::closed || l->parted()));
                  },
              .no_descriptor = [this](std::string sentence) { handler_.warn(std::move(sentence)); }}) {
    allow_descriptors(cluster.size());
}

Link& Network::link(int rank) {
    auto& slot = links_[static_cast<std::size_t>(rank)];
    if (!slot) {
        slot = std::make_unique<Link>(rank, handler_, poller_, static_cast<std::uint64_t>(rank), buffer_);
        used_.push_back(slot.get());
    }
    return *slot;
}

bool Network::send(int rank, Frame const& frame, std::byte const* data, void* sender, bool passing) {
    Link& l = link(rank);
    if (l.state() == Link::State::closed) [[unlikely]]
        setup_.call(rank);
    return l.send(frame, data, sender, passing);
}

bool Network::take_back(int rank, void const* sender) { return link(rank).take_back(sender); }

void Network::flush(int rank) {
    Link& l = link(rank);
    l.flush();
    settle(l);
}

bool Network::poll() {
    std::int64_t const now = now_ns();
    if (inside_ || (!lively_ && now - looked_ < lull)) return false;
    return poll_now(now);
}

bool Network::poll_now(std::int64_t now) {
    Mark const inside(inside_);
    bool moved = false;
    for (epoll_event const& event : poller_.look()) {
        if (event.data.u64 >= links_.size()) {
            setup_.ready(event.data.u64);
            continue;
        }
        Link& l = *links_[event.data.u64];
        if (event.events & EPOLLOUT) moved |= l.flush();
        if (event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) moved |= l.read();
        settle(l);
    }
    if (setup_.busy()) [[unlikely]]
        setup_.tick(now);
    if (now - checked_ > check_every_) [[unlikely]]
        check(now);
    if (!losses_.empty()) [[unlikely]]
        moved |= report_lost(now);
    looked_ = now;
    return lively_ = moved;
}

bool Network::poll(int rank) {
    if (inside_) return false;
    Link* const l = links_[static_cast<std::size_t>(rank)].get();
    if (!l || l->state() != Link::State::open || !l->idle()) return poll_now(now_ns());
    {
        Mark const inside(inside_);
        bool const moved = l->read();
        settle(*l);
        if (moved) return true;
    }
    return poll();
}

void Network::check(std::int64_t now) {
    checked_ = now;
    for (Link* l : used_) {
        l->check(silence_);
        settle(*l);
    }
}

void Network::settle(Link& l) {
    if (l.state() != Link::State::broken) return;
    int const rank = l.rank();
    if (std::any_of(losses_.begin(), losses_.end(), [&](Loss const& loss) { return loss.rank == rank; })) return;
    losses_.push_back({rank, now_ns()});
}

/// Reports links that have been broken for long enough. What an operation calls when it fails may begin another one to
/// a rank that cannot be reached, which adds a loss: none is referred to across that call.
bool Network::report_lost(std::int64_t now) {
    bool any = false;
    for (std::size_t i = 0; i < losses_.size(); ++i) {
        if (losses_[i].since == 0 || now - losses_[i].since < grace) continue;
        losses_[i].since = 0;   // reported; it stays listed so that it is reported once
        int const rank = losses_[i].rank;
        auto const [sentence, fresh] = sentences_.try_emplace(rank);
        if (fresh)
            sentence->second = join("the connection to rank ", rank, " on ", cluster_.node(cluster_.node_of(rank)).name,
                                    " broke: ", link(rank).reason());
        any = true;
        handler_.broken(rank, sentence->second);
    }
    return any;
}

bool Network::idle() const {
    return std::all_of(used_.begin(), used_.end(),
                       [](Link const* l) { return l->idle() || l->state() == Link::State::broken; });
}

void Network::say_goodbye() {
    leaving_ = true;
    setup_.close();
    for (Link* l : used_) l->say_goodbye();
}

bool Network::parted() const {
    return std::all_of(used_.begin(), used_.end(),
                       [](Link const* l) { return l->state() != Link::State::open || (l->parted() && l->idle()); });
}

void Network::add_staying(std::vector<int>& ranks) const {
    for (Link const* l : used_)
        if (l->state() == Link::State::open && !l->parted()) ranks.push_back(l->rank());
}

void Network::count_bytes(Segment const& segment, NetworkBytes& bytes) const {
    for (Link const* l : used_) {
        if (!segment.suspected(l->rank())) continue;
        bytes.sent += l->bytes().sent + (l->state() == Link::State::broken ? 1 : 0);
        bytes.received += l->bytes().received;
    }
}

void Network::close() {
    for (Link* l : used_) l->close();
}

}   // namespace tutti::p2p::tcp
