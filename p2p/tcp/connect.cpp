// SPDX-License-Identifier: BSD-3-Clause
// Order of addresses, calls to other ranks, incoming calls and their handshakes.
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

Likelihood judge(IpAddress const& theirs, std::vector<Interface> const& ours) {
    if (theirs.loopback()) return loopback;
    Likelihood best = routed;
    for (Interface const& i : ours) {
        if (i.address.host() == theirs.host()) return own;
        if (!theirs.in(i.address)) continue;
        if (i.bridge || !i.running) best = best == neighbour ? neighbour : in_bridge;
        else best = neighbour;
    }
    return best;
}

/// Returns true if TUTTI_NETWORK permits the address. The name of an interface stands for the networks of that
/// interface. If this host has no such interface, or another network on it, the other host has already chosen.
bool allowed(IpAddress const& theirs, std::vector<Interface> const& chosen, std::string_view network) {
    if (network.empty()) return true;
    if (auto const wanted = IpAddress::from_text(network)) return theirs.in(*wanted);
    return std::any_of(chosen.begin(), chosen.end(), [&](Interface const& i) { return theirs.in(i.address); });
}

}   // namespace

std::vector<IpAddress> order_of_calling(std::vector<std::string> const& theirs, std::vector<Interface> const& ours,
                                        std::string_view network) {
    std::vector<Interface> const chosen = chosen_interfaces(ours, network);
    std::vector<IpAddress> all, some;
    for (std::string const& text : theirs)
        if (auto const address = IpAddress::from_text(text)) all.push_back(*address);
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](IpAddress const& a) { return allowed(a, chosen, network); });
    if (some.empty() && !IpAddress::from_text(network)) some = all;
    std::stable_sort(some.begin(), some.end(),
                     [&](auto const& a, auto const& b) { return judge(a, ours) < judge(b, ours); });
    return some;
}

// --- Calling other ranks ---------------------------------------------------------------------------------------------

ConnectionSetup::Trouble ConnectionSetup::Trouble::of_error(int error) {
    constexpr int silences[] = {ETIMEDOUT, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN};
    return {text_of_error(error), std::ranges::find(silences, error) != std::end(silences)};
}

void ConnectionSetup::call(int rank) {
    if (calls_.contains(rank)) return;
    Call call;
    if (own_interfaces_.empty()) own_interfaces_ = interfaces();
    call.addresses = order_of_calling(cluster_.node(cluster_.node_of(rank)).addresses, own_interfaces_, network_);
    call.troubles.resize(call.addresses.size());
    call.under_way.resize(call.addresses.size());
    call.next_at = now_ns();
    calls_.emplace(rank, std::move(call));
    tick(now_ns());
}

void ConnectionSetup::tick(std::int64_t now) {
    std::vector<std::uint64_t> old;
    for (auto const& [number, g] : pending_)
        if (now >= g->until && (g->called < 0 || !g->answered)) old.push_back(number);
    for (std::uint64_t number : old) drop(number, {"no answer", true});
    std::int64_t const looked = std::min(now - std::exchange(ticked_, now), stagger);
    for (auto& [rank, call] : calls_) call.lasted += looked;
    std::vector<int> ranks;
    for (auto const& [rank, call] : calls_) ranks.push_back(rank);
    for (int rank : ranks)
        for (auto c = calls_.find(rank); c != calls_.end() && now >= c->second.next_at; c = calls_.find(rank))
            if (!dial(rank, c->second, now)) break;
}

/// Tries the next address, or ends the round. Returns false if nothing more can be done now.
bool ConnectionSetup::dial(int rank, Call& call, std::int64_t now) {
    if (call.next == call.addresses.size()) return over(rank, call, now);
    std::size_t const which = call.next++;
    if (call.under_way[which] != 0) return true;
    Socket s = Socket::connect(call.addresses[which], cluster_.at(rank).port, silence_);
    if (!s) return call.troubles[which] = Trouble::of_error(errno), true;
    call.next_at = now + stagger;
    call.under_way[which] =
        add(std::move(s), Handshake::caller(cluster_.key(), me_, rank), rank, which, now + call.reach);
    step(call.under_way[which]);
    return true;
}

std::int64_t ConnectionSetup::patience_with(Call const& call) const {
    bool const silent = std::ranges::any_of(call.troubles, [](Trouble const& trouble) { return trouble.silent; });
    return silent ? std::chrono::nanoseconds(silence_).count() : call_for;
}

/// Ends a round in which all addresses were tried: schedules the next one, or fails if the time is over.
bool ConnectionSetup::over(int rank, Call& call, std::int64_t now) {
    bool const hope = call.on_hold != 0 || std::any_of(call.under_way.begin(), call.under_way.end(),
                                                       [](std::uint64_t number) { return number != 0; });
    if (!hope && (call.addresses.empty() || call.lasted > patience_with(call))) {
        std::string why = sentence(rank, call);
        events_.failed(rank, std::move(why));
        calls_.erase(rank);
        return false;
    }
    call.next = 0;
    call.next_at = now + call.pause;
    call.pause = std::min<std::int64_t>(2 * call.pause, 1'000'000'000);
    call.reach = std::min<std::int64_t>({2 * call.reach, patience, std::chrono::nanoseconds(silence_).count()});
    return false;
}

void ConnectionSetup::after_failure(int rank, std::uint64_t number, std::size_t address, Trouble const& trouble) {
    auto const found = calls_.find(rank);
    if (found == calls_.end()) return;
    Call& call = found->second;
    call.under_way[address] = 0;
    call.troubles[address] = trouble;
    bool const others = std::any_of(call.under_way.begin(), call.under_way.end(), [](auto n) { return n != 0; });
    if (call.next < call.addresses.size() || !others) call.next_at = 0;   // no reason to wait before the next one
    if (call.proven != number) return;
    call.proven = 0;
    if (call.on_hold != 0) return welcome(std::exchange(call.on_hold, 0));
    for (std::uint64_t other : call.under_way)
        if (other != 0 && pending_.at(other)->handshake.state() == Handshake::State::challenged)
            return challenged(other);
}

/// Drops everything that belongs to the calls to a rank, after a connection has been opened.
void ConnectionSetup::hang_up(int rank) {
    auto const node = calls_.extract(rank);
    if (node.empty()) return;
    for (std::uint64_t number : node.mapped().under_way) drop(number, {});
    drop(node.mapped().on_hold, {});
}

std::string ConnectionSetup::sentence(int rank, Call const& call) const {
    Cluster::Node const& node = cluster_.node(cluster_.node_of(rank));
    std::string text = join("no connection to rank ", rank, " on ", node.name, ", port ", cluster_.at(rank).port);
    if (call.addresses.empty())
        return text + ": " + (network_.empty() ? "no address of it is known" : "TUTTI_NETWORK leaves it no address");
    for (std::size_t i = 0; i < call.addresses.size(); ++i)
        text += join(i == 0 ? ": " : "; ", call.addresses[i].host(), ": ", call.troubles[i].words);
    return text;
}

// --- Handshakes and incoming calls -----------------------------------------------------------------------------------

namespace {

constexpr int accepted_at_once = 64;   // takes a few milliseconds, in which nothing else is read

/// Reserved for a caller that must be refused; reopened as soon as a descriptor is free.
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
    pending_.clear();   // closing a socket removes it from the poller
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
        step(number);   // the first segment has often arrived with the call
        if (auto const found = pending_.find(too_many); found != pending_.end())
            found->second->socket.reset_when_closed();
        drop(too_many, {});
    }
}

/// Returns no socket if there is no caller, or no descriptor and none that can be freed.
Socket ConnectionSetup::accept_next(Socket const& listener, std::string& from) {
    for (;;) {
        Socket s = Socket::accept(listener, from);
        // The system returns these errors even if there is no caller.
        if (s || (errno != EMFILE && errno != ENFILE) || !listener.readable()) return s;
        if (std::uint64_t const oldest = unproven_.oldest(); oldest != 0) drop(oldest, {});
        else if (!refuse_next(listener)) return {};
    }
}

/// Accepts and closes the next call, whose caller would wait for an answer otherwise. Returns false if that fails, too.
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

/// The caller is a rank, or has a copy of a rank's hello: callers without proof do not displace it any more.
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

/// Sends and receives as much as possible. Returns false, and sets `trouble`, if the connection has failed.
bool ConnectionSetup::exchange(PendingConnection& g, Trouble& trouble) {
    std::vector<std::byte>& out = g.handshake.out;
    while (!out.empty()) {   // also detects a failed connect()
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
        // While the other side waits for this one it sends nothing, so a byte or the end of the stream is an error.
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
    if (call.proven != 0) return;   // another connection has sent its proof; this one is used if that one fails
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
    // The send buffer has space for these bytes, because only the challenge was sent before.
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
