// SPDX-License-Identifier: BSD-3-Clause
// Calling other ranks, address by address and again.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "p2p/tcp/addresses.hpp"
#include "p2p/tcp/connection_setup.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p::tcp {

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

/// Tries the next address, or ends the round. False when nothing more is to be done now.
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

/// All addresses were tried: another round a little later, unless nothing is left to hope for.
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

/// The call has been answered, by this one or that: nothing else of it remains.
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

}   // namespace tutti::p2p::tcp
