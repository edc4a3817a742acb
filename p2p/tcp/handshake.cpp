// SPDX-License-Identifier: BSD-3-Clause
// The messages of the handshake and their MACs.
#include "p2p/tcp/handshake.hpp"

#include <cstring>

#include <sodium.h>

#include "runtime/base/error.hpp"

namespace tutti::p2p::tcp {
namespace {

constexpr std::array<char, 8> protocol_name = {'T', 'u', 't', 't', 'i', '-', '2', '\n'};

static_assert(crypto_auth_KEYBYTES == std::tuple_size_v<JobKey>);

std::uint8_t const* as_uint8(std::byte const* p) { return reinterpret_cast<std::uint8_t const*>(p); }
std::uint8_t* as_uint8(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }

void append(std::vector<std::byte>& to, void const* from, std::size_t n) {
    auto const* p = static_cast<std::byte const*>(from);
    to.insert(to.end(), p, p + n);
}

void put_number(std::array<std::byte, 4>& to, int value) {
    for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(static_cast<unsigned>(value) >> 8 * i);
}

void append_number(std::vector<std::byte>& to, int value) {
    std::array<std::byte, 4> bytes;
    put_number(bytes, value);
    append(to, bytes.data(), bytes.size());
}

int number_at(std::byte const* p) {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i) value |= std::to_integer<unsigned>(p[i]) << 8 * i;
    return static_cast<int>(value);
}

}   // namespace

Handshake::Handshake(JobKey const& key, bool is_initiator, int me, int peer, int ranks)
    : key_(key), is_initiator_(is_initiator), me_(me), peer_(peer), ranks_(ranks) {
    if (sodium_init() < 0) fail(ErrorClass::other, "libsodium cannot be used on this host");
    static_assert(hello_bytes >= challenge_bytes && challenge_bytes >= mac_bytes);
    in_.reserve(hello_bytes);
    out.reserve(hello_bytes);
}

Handshake Handshake::initiator(JobKey const& key, int me, int peer) {
    Handshake h(key, true, me, peer, 0);
    randombytes_buf(h.initiator_nonce_.data(), nonce_bytes);
    append(h.out, protocol_name.data(), protocol_name.size());
    append_number(h.out, me);
    append_number(h.out, peer);
    append(h.out, h.initiator_nonce_.data(), nonce_bytes);
    Mac const key_proof = h.mac("hello  ");
    append(h.out, key_proof.data(), key_proof.size());
    h.expected_ = challenge_bytes;
    h.complete_ = &Handshake::process_challenge;
    return h;
}

Handshake Handshake::responder(JobKey const& key, int me, int ranks) {
    Handshake h(key, false, me, -1, ranks);
    h.expected_ = hello_bytes;
    h.complete_ = &Handshake::process_hello;
    return h;
}

void Handshake::refuse(char const* why) {
    state_ = State::refused;
    error_ = why;
    out.clear();
}

void Handshake::consume(std::span<std::byte const> bytes) {
    append(in_, bytes.data(), bytes.size());
    if (in_.size() < expected_) return;
    (this->*complete_)();
    in_.clear();
}

void Handshake::process_hello() {
    int const from = number_at(in_.data() + 8), to = number_at(in_.data() + 12);
    if (std::memcmp(in_.data(), protocol_name.data(), protocol_name.size()) != 0)
        return refuse("it does not follow the protocol");
    if (to != me_) return refuse("it requested another rank");
    if (from < 0 || from >= ranks_ || from == me_) return refuse("it is not a rank of this job");
    peer_ = from;
    std::memcpy(initiator_nonce_.data(), in_.data() + 16, nonce_bytes);
    if (!is_mac(std::span(in_).last(mac_bytes), "hello  "))
        return peer_ = -1, refuse("it does not know this job's key");
    randombytes_buf(responder_nonce_.data(),
                    responder_nonce_.size());   // not earlier, because most initiators may be other processes
    append(out, responder_nonce_.data(), nonce_bytes);
    Mac const answer = mac("called ");
    append(out, answer.data(), answer.size());
    expected_ = mac_bytes;
    complete_ = &Handshake::process_proof;
}

void Handshake::process_challenge() {
    std::memcpy(responder_nonce_.data(), in_.data(), nonce_bytes);
    if (!is_mac(std::span(in_).subspan(nonce_bytes), "called ")) return refuse("it does not know this job's key");
    state_ = State::challenged;
}

void Handshake::prove() {
    Mac const answer = mac("caller ");
    append(out, answer.data(), answer.size());
    state_ = State::waiting;
    expected_ = mac_bytes;
    complete_ = &Handshake::process_welcome;
}

void Handshake::process_proof() {
    if (!is_mac(in_, "caller ")) return refuse("it does not know this job's key");
    state_ = State::proven;
}

void Handshake::welcome() {
    Mac const answer = mac("welcome");
    append(out, answer.data(), answer.size());
    state_ = State::done;
}

void Handshake::process_welcome() {
    if (!is_mac(in_, "welcome")) return refuse("its welcome message is not authenticated by this job's key");
    state_ = State::done;
}

Handshake::Mac Handshake::mac(char const* role) const {
    struct {
        std::array<char, 8> role;   // seven letters and a terminating zero
        std::array<std::byte, 4> initiator, responder;
        Nonce initiator_nonce, responder_nonce;
    } text;
    static_assert(sizeof text == 16 + 2 * nonce_bytes);
    std::memcpy(text.role.data(), role, text.role.size());
    put_number(text.initiator, is_initiator_ ? me_ : peer_);
    put_number(text.responder, is_initiator_ ? peer_ : me_);
    text.initiator_nonce = initiator_nonce_;
    text.responder_nonce = responder_nonce_;
    Mac result;
    crypto_auth(as_uint8(result.data()), reinterpret_cast<std::uint8_t const*>(&text), sizeof text,
                as_uint8(key_.data()));
    return result;
}

bool Handshake::is_mac(std::span<std::byte const> bytes, char const* role) const {
    Mac const expected = mac(role);
    return sodium_memcmp(expected.data(), bytes.data(), expected.size()) == 0;
}

}   // namespace tutti::p2p::tcp
