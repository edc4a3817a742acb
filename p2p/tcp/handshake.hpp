// SPDX-License-Identifier: BSD-3-Clause
// The handshake at the start of a connection: both sides prove that they know the job's key, who they are and which
// rank they want. The class only consumes and produces bytes, all messages have a fixed length; the caller owns the
// socket.
//
//     caller                                          called
//     hello: magic, caller's rank, called rank, Nc,
//            MAC("hello", …)                        →
//                                                   ←  challenge: Nd, MAC("called", …)
//     proof: MAC("caller", …)                       →
//                                                   ←  welcome: MAC("welcome", …)
//
// Only the constructors allocate memory: the side that has sent `welcome` uses the connection, so the other side must
// not fail when it processes it.
//
// Each MAC covers the name of its role, both ranks and both nonces. The MAC of hello, with zeros for Nd, shows in the
// first segment that the caller knows the key. It may be a replay, so it only gives the caller a place among the
// connections being set up. All other messages are useless at another time (fresh nonces), to another rank, or sent
// back to their sender (the role). A caller that has reached a wrong process detects that by the challenge. With
// `welcome` the called side decides to use this connection: two ranks may call each other at the same time, and then
// one of the two connections is dropped.
//
// The MAC is libsodium's crypto_auth (HMAC-SHA-512-256): small, audited, maintained in every distribution, with one way
// to use it and comparisons in constant time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/settings/cluster.hpp"

namespace tutti::p2p::tcp {

class Handshake {
public:
    enum class State {
        waiting,      ///< for bytes from the other side
        challenged,   ///< caller: the other side has proved its identity; prove() is next, when the owner decides
        proven,       ///< called: the other side has proved its identity; welcome() is next
        done,         ///< frames may be sent in both directions
        refused,      ///< the other side failed the handshake, see complaint()
    };

    /// Starts a call to rank `peer`; `out` contains the hello to send.
    static Handshake caller(JobKey const& key, int me, int peer);
    /// Starts the called side, which accepts one of `ranks` ranks.
    static Handshake called(JobKey const& key, int me, int ranks);

    State state() const { return state_; }
    /// The rank of the other side. Called side: −1 until a hello has arrived that shows knowledge of the key or replays
    /// another hello of that rank; proved only from State::proven on.
    int peer() const { return peer_; }
    char const* complaint() const { return complaint_; }

    /// Returns how many bytes of the other side are expected now. No more may be read.
    std::size_t wanted() const { return state_ == State::waiting ? expected_ - in_.size() : 0; }
    /// Consumes at most wanted() bytes.
    void take(std::span<std::byte const> bytes);
    void prove();
    void welcome();

    /// Bytes to send; the owner removes what it has sent.
    std::vector<std::byte> out;

private:
    static constexpr std::size_t nonce_bytes = 32, mac_bytes = 32;
    static constexpr std::size_t hello_bytes = 16 + nonce_bytes + mac_bytes, challenge_bytes = nonce_bytes + mac_bytes;
    using Nonce = std::array<std::byte, nonce_bytes>;
    using Mac = std::array<std::byte, mac_bytes>;

    Handshake(JobKey const& key, bool calls, int me, int peer, int ranks);
    void refuse(char const* why);
    void take_hello();
    void take_challenge();
    void take_proof();
    void take_welcome();
    Mac mac(char const* role) const;
    bool is_mac(std::span<std::byte const> bytes, char const* role) const;

    JobKey key_;
    bool calls_;
    int me_, peer_, ranks_;
    Nonce callers_{}, calleds_{};
    State state_ = State::waiting;
    void (Handshake::*complete_)() = nullptr;   ///< processes the expected message when it is complete
    std::size_t expected_ = 0;
    std::vector<std::byte> in_;
    char const* complaint_ = "";
};

}   // namespace tutti::p2p::tcp
