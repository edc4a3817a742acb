// SPDX-License-Identifier: BSD-3-Clause
// Polling of all links, and the handling of lost ones.
#include "p2p/tcp/network.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <sys/resource.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/mark.hpp"

namespace tutti::p2p::tcp {
namespace {

constexpr std::size_t buffer_bytes = 128 << 10;   // for reading ahead
constexpr rlim_t other_descriptors = 256;         // of the program, and of callers that have not proved to be ranks

/// Checks every second, or more often if the permitted silence is short.
std::int64_t interval_of_checks(std::chrono::nanoseconds silence) {
    return std::min<std::chrono::nanoseconds>(std::chrono::seconds(1), silence / 8).count();
}

/// Raises the limit of descriptors, which is often low, so that a connection to every other rank is possible.
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
      ahead_(buffer_bytes), links_(static_cast<std::size_t>(cluster.size())),
      setup_(cluster, me, std::move(listeners), std::move(network), silence, poller_,
             static_cast<std::uint64_t>(cluster.size()),
             {.opened = [this](int rank, Socket socket) { link(rank).open(std::move(socket)); },
              .failed =
                  [this](int rank, std::string message) {
                      Link& l = link(rank);
                      loss_messages_.insert_or_assign(rank, std::string(message));
                      l.fail(std::move(message));
                      record_loss(l);
                  },
              .is_connected =
                  [this](int rank) {
                      if (shutting_down_) return true;
                      Link const& l = link(rank);   // created now, so that an open connection finds it
                      return l.state() != Link::State::closed || l.is_shut_down();
                  },
              .no_descriptor = [this](std::string const& message) { handler_.warn(message); }}) {
    allow_descriptors(cluster.size());
}

Link& Network::link(int rank) {
    auto& slot = links_[static_cast<std::size_t>(rank)];
    if (!slot) {
        if (losses_.capacity() <= used_.size()) losses_.reserve(2 * used_.size() + 8);
        auto made = std::make_unique<Link>(rank, handler_, poller_, static_cast<std::uint64_t>(rank), ahead_);
        used_.push_back(made.get());
        slot = std::move(made);
    }
    return *slot;
}

void Network::reserve(int rank, std::size_t frames) {
    Link& l = link(rank);
    if (l.state() == Link::State::closed) [[unlikely]]
        setup_.connect(rank);
    l.reserve(frames);
}

bool Network::send(int rank, Frame const& frame, std::byte const* data, void* sender,
                   std::unique_ptr<std::byte[]> owned) {
    Link& l = link(rank);
    if (l.state() == Link::State::closed) [[unlikely]]
        setup_.connect(rank);
    return l.send(frame, data, sender, std::move(owned));
}

bool Network::remove_queued(int rank, void const* sender) { return link(rank).remove_queued(sender); }

void Network::flush(int rank) {
    Link& l = link(rank);
    // Without memory, the poller reports that the link is ready to send.
    unless_out_of_memory([&l] { return l.flush(); });
    record_loss(l);
}

bool Network::poll() {
    std::int64_t const now = now_ns();
    if (is_polling_ || (!made_progress_ && now - polled_at_ < idle_poll_interval)) return false;
    return poll_now(now);
}

bool Network::poll_now(std::int64_t now) {
    ScopedFlag const inside(is_polling_);
    bool moved = false;
    // If memory is exhausted for one link, the others still progress, which may free some.
    bool no_memory = false;
    auto const catch_no_memory = [&](auto const& act) {
        try {
            moved |= act();
        } catch (std::bad_alloc const&) { no_memory = true; }
    };
    if (std::exchange(has_unprocessed_input_, true)) [[unlikely]]
        for (std::size_t i = 0; i < used_.size(); ++i)
            if (used_[i]->has_unprocessed_input()) catch_no_memory([&] { return progress_link(*used_[i], EPOLLIN); });
    for (epoll_event const& event : poller_.poll()) {
        std::uint64_t const number = event.data.u64;
        if (number >= links_.size()) {
            catch_no_memory([&] { return setup_.ready(number), false; });
            continue;
        }
        std::uint32_t const out = event.events & EPOLLOUT, in = event.events & ~static_cast<std::uint32_t>(EPOLLOUT);
        if (out) catch_no_memory([&] { return progress_link(*links_[number], out); });
        if (in) catch_no_memory([&] { return progress_link(*links_[number], in); });
    }
    catch_no_memory([&] { return run_timers(now); });
    polled_at_ = now;
    has_unprocessed_input_ = no_memory;
    made_progress_ = moved || no_memory;
    if (no_memory && !moved) [[unlikely]]
        throw std::bad_alloc();
    return moved;
}

bool Network::progress_link(Link& l, std::uint32_t events) {
    bool const moved = events == EPOLLOUT ? l.flush() : l.read();
    record_loss(l);
    return moved;
}

bool Network::run_timers(std::int64_t now) {
    if (setup_.busy()) [[unlikely]]
        setup_.tick(now);
    if (now - checked_at_ > check_every_) [[unlikely]]
        check(now);
    return !losses_.empty() && report_losses(now);
}

bool Network::poll(int rank) {
    if (is_polling_) return false;
    Link* const l = links_[static_cast<std::size_t>(rank)].get();
    if (!l || l->state() != Link::State::open || !l->idle() || has_unprocessed_input_) return poll_now(now_ns());
    {
        ScopedFlag const inside(is_polling_);
        has_unprocessed_input_ = true;
        bool const moved = progress_link(*l, EPOLLIN);
        has_unprocessed_input_ = false;
        if (moved) return true;
    }
    return poll();
}

void Network::check(std::int64_t now) {
    checked_at_ = now;
    for (Link* l : used_) {
        l->check(silence_);
        record_loss(*l);
    }
}

void Network::record_loss(Link& l) {
    if (l.state() != Link::State::broken) return;
    int const rank = l.rank();
    if (std::any_of(losses_.begin(), losses_.end(), [&](Loss const& loss) { return loss.rank == rank; })) return;
    losses_.push_back({rank, now_ns()});
}

/// Reports links that have been broken for longer than `grace`. The completion callback of an operation that fails may
/// begin another one to an unreachable rank, which adds a loss, so no reference into losses_ is held across that call.
bool Network::report_losses(std::int64_t now) {
    bool any = false;
    for (std::size_t i = 0; i < losses_.size(); ++i) {
        if (losses_[i].since == 0 || now - losses_[i].since < grace) continue;
        int const rank = losses_[i].rank;
        auto message = loss_messages_.find(rank);
        if (message == loss_messages_.end())
            message =
                loss_messages_
                    .emplace(rank, join("the connection to rank ", rank, " on ",
                                        cluster_.node(cluster_.node_of(rank)).name, " broke: ", link(rank).reason()))
                    .first;
        any = true;
        handler_.link_broken(rank, message->second);
        losses_[i].since = 0;   // reported; stays in the list so that it is not reported again
    }
    return any;
}

bool Network::idle() const {
    return std::all_of(used_.begin(), used_.end(),
                       [](Link const* l) { return l->idle() || l->state() == Link::State::broken; });
}

void Network::start_shutdown() {
    shutting_down_ = true;
    setup_.close();
    for (Link* l : used_) l->send_shutdown();
}

bool Network::is_shut_down() const {
    return std::all_of(used_.begin(), used_.end(), [](Link const* l) {
        return l->state() != Link::State::open || (l->is_shut_down() && l->idle());
    });
}

void Network::add_open_peers(std::vector<int>& ranks) const {
    for (Link const* l : used_)
        if (l->state() == Link::State::open && !l->is_shut_down()) ranks.push_back(l->rank());
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
