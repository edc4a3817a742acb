// SPDX-License-Identifier: BSD-3-Clause
// Greetings: the exchange of handshakes, and who may come in. Calling is in calls.cpp.
#include "p2p/tcp/connection_setup.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/socket.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p::tcp {
namespace {

constexpr int accepted_at_once = 64;   // a few milliseconds, in which nothing else is read

/// For a caller that is refused; opened again as soon as there is a descriptor.
Socket spare_descriptor() { return Socket(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}   // namespace

ConnectionSetup::ConnectionSetup(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
                                 std::chrono::seconds silence, Poller& poller, std::uint64_t first_number,
                                 Events events)
    : cluster_(cluster), me_(me), listeners_(std::move(listeners)), network_(std::move(network)), silence_(silence),
      poller_(poller), first_number_(first_number), last_number_(first_number + listeners_.size()),
      events_(std::move(events)) {
    for (int n = 0; n < cluster_.nodes(); ++n)
        for (std::string const& text : cluster_.node(n).addresses)
            if (auto const address = IpAddress::from_text(text)) addresses_of_nodes_.insert(address->host());
    if (!listeners_.empty()) spare_ = spare_descriptor();
    for (std::size_t i = 0; i < listeners_.size(); ++i) poller_.add(listeners_[i], first_number_ + i, false);
}

void ConnectionSetup::close() {
    for (Socket const& listener : listeners_) poller_.remove(listener);
    listeners_.clear();
    calls_.clear();
    callers_.clear();
    unproven_.clear();
    spare_.reset();
    pending_.clear();   // closed sockets are watched no more
}

std::uint64_t ConnectionSetup::add(Socket socket, Handshake handshake, int called, std::size_t address,
                                   std::int64_t until) {
    std::uint64_t const number = ++last_number_;
    auto g = std::make_unique<PendingConnection>(
        PendingConnection{std::move(socket), std::move(handshake), called, address, until, called < 0, true});
    poller_.add(g->socket, number, true);
    pending_.emplace(number, std::move(g));
    return number;
}

template <class Act>
void ConnectionSetup::unless_starved(std::uint64_t number, Act const& act) {
    try {
        act();
    } catch (std::bad_alloc const&) { drop(number, {.words = "no memory"}); }
}

void ConnectionSetup::ready(std::uint64_t number) {
    if (number - first_number_ < listeners_.size()) accept_all(listeners_[number - first_number_]);
    else step(number);
}

void ConnectionSetup::accept_all(Socket const& listener) {
    std::int64_t const now = now_ns();
    for (int i = 0; i < accepted_at_once; ++i) {
        std::string from;
        Socket s = accept_next(listener, from);
        if (!s) return;
        bool const ours = addresses_of_nodes_.contains(from);
        std::uint64_t const number =
            add(std::move(s), Handshake::called(cluster_.key(), me_, cluster_.size()), -1, 0, now + patience);
        std::uint64_t too_many = 0;
        unless_starved(number, [&] { too_many = unproven_.add(number, std::move(from), ours); });
        step(number);   // its first segment has often come with it
        if (auto const found = pending_.find(too_many); found != pending_.end())
            found->second->socket.reset_when_closed();
        drop(too_many, {});
    }
}

/// Without a socket when there is no caller, or no descriptor for it and none to be freed.
Socket ConnectionSetup::accept_next(Socket const& listener, std::string& from) {
    for (;;) {
        Socket s = Socket::accept(listener, from);
        // The system says so before it has seen whether there is a caller.
        if (s || (errno != EMFILE && errno != ENFILE) || !listener.readable()) return s;
        if (std::uint64_t const oldest = unproven_.oldest(); oldest != 0) drop(oldest, {});
        else if (!refuse_next(listener)) return {};
    }
}

/// Hangs up on the next caller, which would wait for an answer otherwise. False when that fails, too.
bool ConnectionSetup::refuse_next(Socket const& listener) {
    std::string const why = text_of_error(errno);
    std::string from;
    spare_.reset();
    bool const refused = static_cast<bool>(Socket::accept(listener, from));
    spare_ = spare_descriptor();
    if (!std::exchange(short_of_descriptors_, true))
        events_.no_descriptor(join("rank ", me_, " refuses connections of other ranks: ", why));
    return refused;
}

void ConnectionSetup::forget_caller(std::uint64_t number, int rank) {
    unproven_.remove(number);
    auto const calls = callers_.find(rank);
    if (calls == callers_.end()) return;
    std::erase(calls->second, number);
    if (calls->second.empty()) callers_.erase(calls);
}

/// This caller is a rank, or has a copy of what one has sent: no stranger displaces it any more.
void ConnectionSetup::shown_key(std::uint64_t number, int rank) {
    unproven_.remove(number);
    std::vector<std::uint64_t>& calls = callers_[rank];
    calls.push_back(number);
    if (calls.size() > most_calls_of_a_rank) drop(calls.front(), {});
}

void ConnectionSetup::step(std::uint64_t number) {
    auto const found = pending_.find(number);
    if (found != pending_.end()) unless_starved(number, [&] { step_now(number, *found->second); });
}

void ConnectionSetup::step_now(std::uint64_t number, PendingConnection& g) {
    Trouble trouble;
    if (!exchange(g, trouble)) return drop(number, trouble);
    if (g.called < 0 && g.handshake.peer() >= 0 && unproven_.contains(number)) shown_key(number, g.handshake.peer());
    if (bool const out = !g.handshake.out.empty(); out != g.wants_out) {
        g.wants_out = out;
        poller_.change(g.socket, number, out);
    }
    switch (g.handshake.state()) {
    case Handshake::State::waiting: return;
    case Handshake::State::challenged: return challenged(number);
    case Handshake::State::proven: return proven(number);
    case Handshake::State::done: return opened(number, g.handshake.peer());
    case Handshake::State::refused: return drop(number, {g.handshake.complaint()});
    }
}

/// Sends and receives what can be. False with what went wrong when the connection is of no use.
bool ConnectionSetup::exchange(PendingConnection& g, Trouble& trouble) {
    std::vector<std::byte>& out = g.handshake.out;
    while (!out.empty()) {   // also tells what became of connect()
        ssize_t const n = ::send(g.socket.get(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && would_block()) return true;
        if (n <= 0) return trouble = Trouble::of_error(errno), false;
        out.erase(out.begin(), out.begin() + n);
        g.answered = true;
    }
    return receive(g, trouble);
}

bool ConnectionSetup::receive(PendingConnection& g, Trouble& trouble) {
    for (;;) {
        std::byte bytes[128];
        // Nobody has anything to say while it waits for us: then there is silence, or the end.
        std::size_t const wanted = std::min(sizeof bytes, g.handshake.wanted());
        ssize_t const n = recv(g.socket.get(), bytes, std::max<std::size_t>(wanted, 1), MSG_DONTWAIT);
        if (n < 0 && would_block()) return true;
        if (n <= 0) return trouble = n == 0 ? Trouble{"it hung up"} : Trouble::of_error(errno), false;
        if (wanted == 0) return trouble = {"it does not speak as a rank does"}, false;
        g.handshake.take({bytes, static_cast<std::size_t>(n)});
        if (g.handshake.state() != Handshake::State::waiting || !g.handshake.out.empty()) return true;
    }
}

void ConnectionSetup::drop(std::uint64_t number, Trouble const& trouble) {
    auto const node = pending_.extract(number);
    if (node.empty()) return;
    PendingConnection const& g = *node.mapped();
    poller_.remove(g.socket);
    forget_caller(number, g.handshake.peer());
    if (g.called >= 0) return after_failure(g.called, number, g.address, trouble);
    if (auto const call = calls_.find(g.handshake.peer()); call != calls_.end() && call->second.on_hold == number)
        call->second.on_hold = 0;
}

void ConnectionSetup::challenged(std::uint64_t number) {
    PendingConnection& g = *pending_.at(number);
    Call& call = calls_.at(g.called);
    if (call.proven != 0) return;   // its turn comes if that one fails
    call.proven = number;
    g.handshake.prove();
    step(number);
}

void ConnectionSetup::proven(std::uint64_t number) {
    int const rank = pending_.at(number)->handshake.peer();
    if (events_.known(rank)) return drop(number, {});
    auto const call = calls_.find(rank);
    if (call == calls_.end() || rank < me_ || call->second.proven == 0) return welcome(number);
    std::uint64_t const before = std::exchange(call->second.on_hold, number);
    if (before != 0 && before != number) drop(before, {});
}

void ConnectionSetup::welcome(std::uint64_t number) {
    PendingConnection& g = *pending_.at(number);
    g.handshake.welcome();
    // The first bytes into an empty connection always find room.
    std::vector<std::byte>& out = g.handshake.out;
    if (send(g.socket.get(), out.data(), out.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(out.size()))
        return drop(number, {});
    opened(number, g.handshake.peer());
}

void ConnectionSetup::opened(std::uint64_t number, int rank) {
    auto const node = pending_.extract(number);
    Socket socket = std::move(node.mapped()->socket);
    if (node.mapped()->called < 0) socket.prepare(silence_);
    forget_caller(number, rank);
    poller_.remove(socket);
    hang_up(rank);
    events_.opened(rank, std::move(socket));
}

}   // namespace tutti::p2p::tcp
