// SPDX-License-Identifier: BSD-3-Clause
// The handshake at the start of a connection: both sides prove that they know the job's key, who they are and which
// rank they want. The class only consumes and produces bytes, all messages have a fixed length; the caller owns the
// socket.
//
//     initiator                                       responder
//     hello: magic, initiator's rank, responder's rank, Ni,
//            MAC("hello", …)                        →
//                                                   ←  challenge: Nr, MAC("called", …)
//     proof: MAC("caller", …)                       →
//                                                   ←  welcome: MAC("welcome", …)
//
// Only the constructors allocate memory: the side that has sent `welcome` uses the connection, so the other side must
// not fail when it processes it.
//
// Each MAC covers the name of its role, both ranks and both nonces. The MAC of hello, with zeros for Nr, proves in the
// first segment that the initiator knows the key. It may be a replay, so it only admits the initiator to the
// connections being set up. All other messages are useless at another time (fresh nonces), to another rank, or sent
// back to their sender (the role). An initiator that has reached a wrong process detects that by the challenge.
// With `welcome` the responder decides to use this connection: two ranks may connect to each other simultaneously; then
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
        challenged,   ///< initiator: the other side has proved its identity; prove() is next, when the owner decides
        proven,       ///< responder: the other side has proved its identity; welcome() is next
        done,         ///< frames may be sent in both directions
        refused,      ///< the other side failed the handshake, see error()
    };

    /// Starts a handshake with rank `peer`; `out` contains the hello to send.
    static Handshake initiator(JobKey const& key, int me, int peer);
    /// Starts the responder, which accepts one of `ranks` ranks.
    static Handshake responder(JobKey const& key, int me, int ranks);

    State state() const { return state_; }
    /// The rank of the other side. Responder: −1 until a hello has arrived that proves knowledge of the key or replays
    /// another hello of that rank; proved only from State::proven on.
    int peer() const { return peer_; }
    char const* error() const { return error_; }

    /// Returns how many bytes of the other side are expected now. No more may be read.
    std::size_t wanted() const { return state_ == State::waiting ? expected_ - in_.size() : 0; }
    /// Consumes at most wanted() bytes.
    void consume(std::span<std::byte const> bytes);
    void prove();
    void welcome();

    /// Bytes to send; the owner removes what it has sent.
    std::vector<std::byte> out;

private:
    static constexpr std::size_t nonce_bytes = 32, mac_bytes = 32;
    static constexpr std::size_t hello_bytes = 16 + nonce_bytes + mac_bytes, challenge_bytes = nonce_bytes + mac_bytes;
    using Nonce = std::array<std::byte, nonce_bytes>;
    using Mac = std::array<std::byte, mac_bytes>;

    Handshake(JobKey const& key, bool is_initiator, int me, int peer, int ranks);
    void refuse(char const* why);
    void process_hello();
    void process_challenge();
    void process_proof();
    void process_welcome();
    Mac mac(char const* role) const;
    bool is_mac(std::span<std::byte const> bytes, char const* role) const;

    JobKey key_;
    bool is_initiator_;
    int me_, peer_, ranks_;
    Nonce initiator_nonce_{}, responder_nonce_{};
    State state_ = State::waiting;
    void (Handshake::*complete_)() = nullptr;   ///< processes the expected message when it is complete
    std::size_t expected_ = 0;
    std::vector<std::byte> in_;
    char const* error_ = "";
};

}   // namespace tutti::p2p::tcp
