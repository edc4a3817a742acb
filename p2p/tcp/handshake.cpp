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

std::uint8_t const* raw(std::byte const* p) { return reinterpret_cast<std::uint8_t const*>(p); }
std::uint8_t* raw(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }

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

Handshake::Handshake(JobKey const& key, bool calls, int me, int peer, int ranks)
    : key_(key), calls_(calls), me_(me), peer_(peer), ranks_(ranks) {
    if (sodium_init() < 0) fail(ErrorClass::other, "libsodium cannot be used on this host");
    static_assert(hello_bytes >= challenge_bytes && challenge_bytes >= mac_bytes);
    in_.reserve(hello_bytes);
    out.reserve(hello_bytes);
}

Handshake Handshake::caller(JobKey const& key, int me, int peer) {
    Handshake h(key, true, me, peer, 0);
    randombytes_buf(h.callers_.data(), nonce_bytes);
    append(h.out, protocol_name.data(), protocol_name.size());
    append_number(h.out, me);
    append_number(h.out, peer);
    append(h.out, h.callers_.data(), nonce_bytes);
    Mac const knowledge = h.mac("hello  ");
    append(h.out, knowledge.data(), knowledge.size());
    h.expected_ = challenge_bytes;
    h.complete_ = &Handshake::take_challenge;
    return h;
}

Handshake Handshake::called(JobKey const& key, int me, int ranks) {
    Handshake h(key, false, me, -1, ranks);
    h.expected_ = hello_bytes;
    h.complete_ = &Handshake::take_hello;
    return h;
}

void Handshake::refuse(char const* why) {
    state_ = State::refused;
    complaint_ = why;
    out.clear();
}

void Handshake::take(std::span<std::byte const> bytes) {
    append(in_, bytes.data(), bytes.size());
    if (in_.size() < expected_) return;
    (this->*complete_)();
    in_.clear();
}

void Handshake::take_hello() {
    int const from = number_at(in_.data() + 8), to = number_at(in_.data() + 12);
    if (std::memcmp(in_.data(), protocol_name.data(), protocol_name.size()) != 0)
        return refuse("it does not speak as a rank does");
    if (to != me_) return refuse("it wants another rank");
    if (from < 0 || from >= ranks_ || from == me_) return refuse("it is no rank of this job");
    peer_ = from;
    std::memcpy(callers_.data(), in_.data() + 16, nonce_bytes);
    if (!is_mac(std::span(in_).last(mac_bytes), "hello  "))
        return peer_ = -1, refuse("it does not know this job's key");
    randombytes_buf(calleds_.data(), calleds_.size());   // not earlier, because most callers may be strangers
    append(out, calleds_.data(), nonce_bytes);
    Mac const answer = mac("called ");
    append(out, answer.data(), answer.size());
    expected_ = mac_bytes;
    complete_ = &Handshake::take_proof;
}

void Handshake::take_challenge() {
    std::memcpy(calleds_.data(), in_.data(), nonce_bytes);
    if (!is_mac(std::span(in_).subspan(nonce_bytes), "called ")) return refuse("it does not know this job's key");
    state_ = State::challenged;
}

void Handshake::prove() {
    Mac const answer = mac("caller ");
    append(out, answer.data(), answer.size());
    state_ = State::waiting;
    expected_ = mac_bytes;
    complete_ = &Handshake::take_welcome;
}

void Handshake::take_proof() {
    if (!is_mac(in_, "caller ")) return refuse("it does not know this job's key");
    state_ = State::proven;
}

void Handshake::welcome() {
    Mac const answer = mac("welcome");
    append(out, answer.data(), answer.size());
    state_ = State::done;
}

void Handshake::take_welcome() {
    if (!is_mac(in_, "welcome")) return refuse("its welcome is not this job's");
    state_ = State::done;
}

Handshake::Mac Handshake::mac(char const* role) const {
    struct {
        std::array<char, 8> role;   // seven letters and a terminating zero
        std::array<std::byte, 4> caller, called;
        Nonce callers, calleds;
    } text;
    static_assert(sizeof text == 16 + 2 * nonce_bytes);
    std::memcpy(text.role.data(), role, text.role.size());
    put_number(text.caller, calls_ ? me_ : peer_);
    put_number(text.called, calls_ ? peer_ : me_);
    text.callers = callers_;
    text.calleds = calleds_;
    Mac result;
    crypto_auth(raw(result.data()), reinterpret_cast<std::uint8_t const*>(&text), sizeof text, raw(key_.data()));
    return result;
}

bool Handshake::is_mac(std::span<std::byte const> bytes, char const* role) const {
    Mac const expected = mac(role);
    return sodium_memcmp(expected.data(), bytes.data(), expected.size()) == 0;
}

}   // namespace tutti::p2p::tcp
