// SPDX-License-Identifier: BSD-3-Clause
// What both ends of a fresh connection prove to each other before a frame goes over it: that they know the job's key,
// who they are and whom they want. Only bytes in and bytes out, all of fixed length; sockets are the caller's.
//
//     caller                                          called
//     hello: magic, caller's rank, called rank, Nc,
//            MAC("hello", …)                        →
//                                                   ←  challenge: Nd, MAC("called", …)
//     proof: MAC("caller", …)                       →
//                                                   ←  welcome: MAC("welcome", …)
//
// Only the constructors take memory: an end that has said `welcome` uses the connection, so the other one must not fail
// over the welcome.
//
// Each MAC is over its role's name, both ranks and both nonces. The one of hello, with zeros for Nd, shows in the first
// segment that the caller knows the key. It may be a copy of an earlier one, so it gives no more than a place among the
// connections that are being made. Any other answer is worth nothing at another time (fresh nonces), to another rank,
// or sent back to where it came from (the role); and a caller that has reached a wrong process finds out from its
// challenge. `welcome` is the called one's decision to use this connection: the two may call each other at once, and
// one of both connections is dropped.
//
// The MAC is libsodium's crypto_auth (HMAC-SHA-512-256): small, audited, kept up by every distribution, with one way to
// do it and comparisons in constant time.
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
        waiting,      ///< for bytes of the other end
        challenged,   ///< the caller's: the other end is who it should be; prove() comes next, when the caller wants
        proven,       ///< the called one's: likewise; welcome() comes next
        done,         ///< frames may go both ways
        refused,      ///< the other end is not who it should be, see complaint()
    };

    /// Calls rank `peer`: hello is to be sent at once.
    static Handshake caller(JobKey const& key, int me, int peer);
    /// Is called by one of `ranks` ranks.
    static Handshake called(JobKey const& key, int me, int ranks);

    State state() const { return state_; }
    /// Called: −1 until the caller's hello has come, and shown that it knows the key or has seen another hello of that
    /// rank; believed only from `proven` on.
    int peer() const { return peer_; }
    char const* complaint() const { return complaint_; }

    /// How many bytes of the other end are wanted now, and not one more.
    std::size_t wanted() const { return state_ == State::waiting ? expected_ - in_.size() : 0; }
    /// Takes at most wanted() bytes.
    void take(std::span<std::byte const> bytes);
    void prove();
    void welcome();

    /// What is to be sent; the sender drops what it has sent.
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
    void (Handshake::*complete_)() = nullptr;   ///< what the bytes that are waited for are
    std::size_t expected_ = 0;
    std::vector<std::byte> in_;
    char const* complaint_ = "";
};

}   // namespace tutti::p2p::tcp
