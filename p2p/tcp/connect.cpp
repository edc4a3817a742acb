// SPDX-License-Identifier: BSD-3-Clause
// Order of addresses, outgoing connections, incoming connections and their handshakes.
#include "p2p/tcp/connect.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p::tcp {
namespace {

enum Likelihood { neighbour, routed, in_bridge, own, loopback };

Likelihood likelihood_of(IpAddress const& address, std::vector<Interface> const& own_interfaces) {
    if (address.is_loopback()) return loopback;
    Likelihood best = routed;
    for (Interface const& i : own_interfaces) {
        if (i.address.host() == address.host()) return own;
        if (!address.is_in(i.address)) continue;
        if (i.bridge || !i.running) best = best == neighbour ? neighbour : in_bridge;
        else best = neighbour;
    }
    return best;
}

/// Returns true if TUTTI_NETWORK permits the address. The name of an interface stands for the networks of that
/// interface. If this host has no such interface, or another network on it, the other host has already chosen.
bool allowed(IpAddress const& address, std::vector<Interface> const& chosen, std::string_view network) {
    if (network.empty()) return true;
    if (auto const wanted = IpAddress::from_text(network)) return address.is_in(*wanted);
    return std::any_of(chosen.begin(), chosen.end(), [&](Interface const& i) { return address.is_in(i.address); });
}

}   // namespace

std::vector<IpAddress> connect_order(std::vector<std::string> const& remote_addresses,
                                     std::vector<Interface> const& own_interfaces, std::string_view network) {
    std::vector<Interface> const chosen = select_interfaces(own_interfaces, network);
    std::vector<IpAddress> all, permitted;
    for (std::string const& text : remote_addresses)
        if (auto const address = IpAddress::from_text(text)) all.push_back(*address);
    std::copy_if(all.begin(), all.end(), std::back_inserter(permitted),
                 [&](IpAddress const& a) { return allowed(a, chosen, network); });
    if (permitted.empty() && !IpAddress::from_text(network)) permitted = all;
    std::stable_sort(permitted.begin(), permitted.end(), [&](auto const& a, auto const& b) {
        return likelihood_of(a, own_interfaces) < likelihood_of(b, own_interfaces);
    });
    return permitted;
}

// --- Outgoing connections --------------------------------------------------------------------------------------------

ConnectionSetup::Failure ConnectionSetup::Failure::of_error(int error) {
    constexpr int no_answer_errors[] = {ETIMEDOUT, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN};
    return {describe_error(error), std::ranges::find(no_answer_errors, error) != std::end(no_answer_errors)};
}

void ConnectionSetup::connect(int rank) {
    if (attempts_.contains(rank)) return;
    Attempt attempt;
    if (own_interfaces_.empty()) own_interfaces_ = interfaces();
    attempt.addresses = connect_order(cluster_.node(cluster_.node_of(rank)).addresses, own_interfaces_, network_);
    attempt.failures.resize(attempt.addresses.size());
    attempt.handshakes.resize(attempt.addresses.size());
    attempt.next_at = now_ns();
    attempts_.emplace(rank, std::move(attempt));
    tick(now_ns());
}

void ConnectionSetup::tick(std::int64_t now) {
    std::vector<std::uint64_t> old;
    for (auto const& [number, g] : pending_)
        if (now >= g->until && (g->target_rank < 0 || !g->answered)) old.push_back(number);
    for (std::uint64_t number : old) drop(number, {"no answer", true});
    std::int64_t const elapsed = std::min(now - std::exchange(last_tick_, now), attempt_delay);
    for (auto& [rank, attempt] : attempts_) attempt.polled_ns += elapsed;
    std::vector<int> ranks;
    for (auto const& [rank, attempt] : attempts_) ranks.push_back(rank);
    for (int rank : ranks)
        for (auto c = attempts_.find(rank); c != attempts_.end() && now >= c->second.next_at; c = attempts_.find(rank))
            if (!try_next_address(rank, c->second, now)) break;
}

/// Tries the next address, or ends the round. Returns false if nothing more can be done now.
bool ConnectionSetup::try_next_address(int rank, Attempt& attempt, std::int64_t now) {
    if (attempt.next == attempt.addresses.size()) return end_round(rank, attempt, now);
    std::size_t const which = attempt.next++;
    if (attempt.handshakes[which] != 0) return true;
    Socket s = Socket::connect(attempt.addresses[which], cluster_.at(rank).port, silence_);
    if (!s) return attempt.failures[which] = Failure::of_error(errno), true;
    attempt.next_at = now + attempt_delay;
    attempt.handshakes[which] =
        add(std::move(s), Handshake::initiator(cluster_.key(), me_, rank), rank, which, now + attempt.attempt_timeout);
    progress(attempt.handshakes[which]);
    return true;
}

std::int64_t ConnectionSetup::time_limit_of(Attempt const& attempt) const {
    bool const no_answer =
        std::ranges::any_of(attempt.failures, [](Failure const& failure) { return failure.no_answer; });
    return no_answer ? std::chrono::nanoseconds(silence_).count() : retry_duration;
}

/// Ends a round in which all addresses were tried: schedules the next one, or fails if the time is over.
bool ConnectionSetup::end_round(int rank, Attempt& attempt, std::int64_t now) {
    bool const is_pending =
        attempt.held_connection != 0 || std::any_of(attempt.handshakes.begin(), attempt.handshakes.end(),
                                                    [](std::uint64_t number) { return number != 0; });
    if (!is_pending && (attempt.addresses.empty() || attempt.polled_ns > time_limit_of(attempt))) {
        std::string why = describe_failure(rank, attempt);
        events_.failed(rank, std::move(why));
        attempts_.erase(rank);
        return false;
    }
    attempt.next = 0;
    attempt.next_at = now + attempt.pause;
    attempt.pause = std::min<std::int64_t>(2 * attempt.pause, 1'000'000'000);
    attempt.attempt_timeout = std::min<std::int64_t>(
        {2 * attempt.attempt_timeout, handshake_timeout, std::chrono::nanoseconds(silence_).count()});
    return false;
}

void ConnectionSetup::after_failure(int rank, std::uint64_t number, std::size_t address, Failure const& failure) {
    auto const found = attempts_.find(rank);
    if (found == attempts_.end()) return;
    Attempt& attempt = found->second;
    attempt.handshakes[address] = 0;
    attempt.failures[address] = failure;
    bool const others =
        std::any_of(attempt.handshakes.begin(), attempt.handshakes.end(), [](auto n) { return n != 0; });
    if (attempt.next < attempt.addresses.size() || !others)
        attempt.next_at = 0;   // no reason to wait before the next one
    if (attempt.proven != number) return;
    attempt.proven = 0;
    if (attempt.held_connection != 0) return welcome(std::exchange(attempt.held_connection, 0));
    for (std::uint64_t other : attempt.handshakes)
        if (other != 0 && pending_.at(other)->handshake.state() == Handshake::State::challenged)
            return challenged(other);
}

/// Drops everything that belongs to the attempt to connect to a rank, after a connection has been opened.
void ConnectionSetup::drop_attempt(int rank) {
    auto const node = attempts_.extract(rank);
    if (node.empty()) return;
    for (std::uint64_t number : node.mapped().handshakes) drop(number, {});
    drop(node.mapped().held_connection, {});
}

std::string ConnectionSetup::describe_failure(int rank, Attempt const& attempt) const {
    Cluster::Node const& node = cluster_.node(cluster_.node_of(rank));
    std::string text = join("no connection to rank ", rank, " on ", node.name, ", port ", cluster_.at(rank).port);
    if (attempt.addresses.empty())
        return text + ": " +
               (network_.empty() ? "it has no known address" : "TUTTI_NETWORK excludes all its addresses");
    for (std::size_t i = 0; i < attempt.addresses.size(); ++i)
        text += join(i == 0 ? ": " : "; ", attempt.addresses[i].host(), ": ", attempt.failures[i].message);
    return text;
}

// --- Handshakes and incoming connections -----------------------------------------------------------------------------

namespace {

constexpr int max_accepts_per_poll = 64;   // takes a few milliseconds, in which nothing else is read

/// Reserved for a connection that must be refused; reopened as soon as a descriptor is free.
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
    attempts_.clear();
    incoming_.clear();
    unproven_.clear();
    spare_.reset();
    pending_.clear();   // closing a socket removes it from the poller
}

std::uint64_t ConnectionSetup::add(Socket socket, Handshake handshake, int target_rank, std::size_t address,
                                   std::int64_t until) {
    std::uint64_t const number = ++last_number_;
    auto g = std::make_unique<PendingConnection>(
        PendingConnection{std::move(socket), std::move(handshake), target_rank, address, until, target_rank < 0, true});
    poller_.add(g->socket, number, true);
    pending_.emplace(number, std::move(g));
    return number;
}

template <class Act>
void ConnectionSetup::drop_if_no_memory(std::uint64_t number, Act const& act) {
    try {
        act();
    } catch (std::bad_alloc const&) { drop(number, {.message = "out of memory"}); }
}

void ConnectionSetup::ready(std::uint64_t number) {
    if (number - first_number_ < listeners_.size()) accept_all(listeners_[number - first_number_]);
    else progress(number);
}

void ConnectionSetup::accept_all(Socket const& listener) {
    std::int64_t const now = now_ns();
    for (int i = 0; i < max_accepts_per_poll; ++i) {
        std::string from;
        Socket s = accept_next(listener, from);
        if (!s) return;
        bool const is_job_node = addresses_of_nodes_.contains(from);
        std::uint64_t const number = add(std::move(s), Handshake::responder(cluster_.key(), me_, cluster_.size()), -1,
                                         0, now + handshake_timeout);
        std::uint64_t displaced = 0;
        drop_if_no_memory(number, [&] { displaced = unproven_.add(number, std::move(from), is_job_node); });
        progress(number);   // the first segment has often arrived already
        if (auto const found = pending_.find(displaced); found != pending_.end())
            found->second->socket.reset_when_closed();
        drop(displaced, {});
    }
}

/// Returns no socket if there is no connection to accept, or no descriptor and none that can be freed.
Socket ConnectionSetup::accept_next(Socket const& listener, std::string& from) {
    for (;;) {
        Socket s = Socket::accept(listener, from);
        // The system returns these errors even if there is no connection to accept.
        if (s || (errno != EMFILE && errno != ENFILE) || !listener.readable()) return s;
        if (std::uint64_t const oldest = unproven_.oldest(); oldest != 0) drop(oldest, {});
        else if (!refuse_next(listener)) return {};
    }
}

/// Accepts and closes the next connection, whose owner would wait for an answer otherwise. Returns false if that fails,
/// too.
bool ConnectionSetup::refuse_next(Socket const& listener) {
    std::string const why = describe_error(errno);
    std::string from;
    spare_.reset();
    bool const refused = static_cast<bool>(Socket::accept(listener, from));
    spare_ = spare_descriptor();
    if (!std::exchange(reported_no_descriptor_, true))
        events_.no_descriptor(join("rank ", me_, " refuses connections from other ranks: ", why));
    return refused;
}

void ConnectionSetup::remove_caller(std::uint64_t number, int rank) {
    unproven_.remove(number);
    auto const connections = incoming_.find(rank);
    if (connections == incoming_.end()) return;
    std::erase(connections->second, number);
    if (connections->second.empty()) incoming_.erase(connections);
}

/// The caller is a rank, or has a copy of a rank's hello: callers without proof do not displace it any more.
void ConnectionSetup::on_key_proof(std::uint64_t number, int rank) {
    unproven_.remove(number);
    std::vector<std::uint64_t>& connections = incoming_[rank];
    connections.push_back(number);
    if (connections.size() > max_handshakes_per_rank) drop(connections.front(), {});
}

void ConnectionSetup::progress(std::uint64_t number) {
    auto const found = pending_.find(number);
    if (found != pending_.end()) drop_if_no_memory(number, [&] { progress_connection(number, *found->second); });
}

void ConnectionSetup::progress_connection(std::uint64_t number, PendingConnection& g) {
    Failure failure;
    if (!exchange(g, failure)) return drop(number, failure);
    if (g.target_rank < 0 && g.handshake.peer() >= 0 && unproven_.contains(number))
        on_key_proof(number, g.handshake.peer());
    if (bool const out = !g.handshake.out.empty(); out != g.polls_for_output) {
        g.polls_for_output = out;
        poller_.change(g.socket, number, out);
    }
    switch (g.handshake.state()) {
    case Handshake::State::waiting: return;
    case Handshake::State::challenged: return challenged(number);
    case Handshake::State::proven: return proven(number);
    case Handshake::State::done: return opened(number, g.handshake.peer());
    case Handshake::State::refused: return drop(number, {g.handshake.error()});
    }
}

/// Sends and receives as much as possible. Returns false, and sets `failure`, if the connection has failed.
bool ConnectionSetup::exchange(PendingConnection& g, Failure& failure) {
    std::vector<std::byte>& out = g.handshake.out;
    while (!out.empty()) {   // also detects a failed connect()
        ssize_t const n = ::send(g.socket.get(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && would_block()) return true;
        if (n <= 0) return failure = Failure::of_error(errno), false;
        out.erase(out.begin(), out.begin() + n);
        g.answered = true;
    }
    return receive(g, failure);
}

bool ConnectionSetup::receive(PendingConnection& g, Failure& failure) {
    for (;;) {
        std::byte bytes[128];
        // While the other side waits for this one it sends nothing, so a byte or the end of the stream is an error.
        std::size_t const wanted = std::min(sizeof bytes, g.handshake.wanted());
        ssize_t const n = recv(g.socket.get(), bytes, std::max<std::size_t>(wanted, 1), MSG_DONTWAIT);
        if (n < 0 && would_block()) return true;
        if (n <= 0) return failure = n == 0 ? Failure{"it closed the connection"} : Failure::of_error(errno), false;
        if (wanted == 0) return failure = {"it does not follow the protocol"}, false;
        g.handshake.consume({bytes, static_cast<std::size_t>(n)});
        if (g.handshake.state() != Handshake::State::waiting || !g.handshake.out.empty()) return true;
    }
}

void ConnectionSetup::drop(std::uint64_t number, Failure const& failure) {
    auto const node = pending_.extract(number);
    if (node.empty()) return;
    PendingConnection const& g = *node.mapped();
    poller_.remove(g.socket);
    remove_caller(number, g.handshake.peer());
    if (g.target_rank >= 0) return after_failure(g.target_rank, number, g.address, failure);
    if (auto const attempt = attempts_.find(g.handshake.peer());
        attempt != attempts_.end() && attempt->second.held_connection == number)
        attempt->second.held_connection = 0;
}

void ConnectionSetup::challenged(std::uint64_t number) {
    PendingConnection& g = *pending_.at(number);
    Attempt& attempt = attempts_.at(g.target_rank);
    if (attempt.proven != 0) return;   // another connection has sent its proof; this one is used if that one fails
    attempt.proven = number;
    g.handshake.prove();
    progress(number);
}

void ConnectionSetup::proven(std::uint64_t number) {
    int const rank = pending_.at(number)->handshake.peer();
    if (events_.is_connected(rank)) return drop(number, {});
    auto const attempt = attempts_.find(rank);
    if (attempt == attempts_.end() || rank < me_ || attempt->second.proven == 0) return welcome(number);
    std::uint64_t const before = std::exchange(attempt->second.held_connection, number);
    if (before != 0 && before != number) drop(before, {});
}

void ConnectionSetup::welcome(std::uint64_t number) {
    PendingConnection& g = *pending_.at(number);
    g.handshake.welcome();
    // The send buffer has space for these bytes, because only the challenge was sent before.
    std::vector<std::byte>& out = g.handshake.out;
    if (send(g.socket.get(), out.data(), out.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(out.size()))
        return drop(number, {});
    opened(number, g.handshake.peer());
}

void ConnectionSetup::opened(std::uint64_t number, int rank) {
    auto const node = pending_.extract(number);
    Socket socket = std::move(node.mapped()->socket);
    if (node.mapped()->target_rank < 0) socket.prepare(silence_);
    remove_caller(number, rank);
    poller_.remove(socket);
    drop_attempt(rank);
    events_.opened(rank, std::move(socket));
}

}   // namespace tutti::p2p::tcp
