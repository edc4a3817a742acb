// SPDX-License-Identifier: BSD-3-Clause
// Whoever else may be at the other end of a connection to a rank: a program that is no rank, or a rank (it knows the
// job's key) that does not behave as one. Plain blocking sockets.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "p2p/tcp/frame.hpp"
#include "p2p/tcp/handshake.hpp"
#include "p2p/tcp/socket.hpp"

namespace tutti::p2p::test {

inline sockaddr_in at(char const* host, std::uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    inet_pton(AF_INET, host, &a.sin_addr);
    return a;
}

class Stranger {
public:
    /// Connects to this port of 127.0.0.1.
    explicit Stranger(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in const address = at("127.0.0.1", port);
        connected = ::connect(socket_.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
    }

    /// False when the other end does not want to hear it any more.
    bool say(std::span<std::byte const> bytes) {
        while (!bytes.empty()) {
            ssize_t const n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
        return true;
    }
    bool say(std::string_view text) { return say(std::as_bytes(std::span(text))); }
    bool say(tcp::Frame const& frame) {
        std::array<std::byte, tcp::Frame::header_bytes> header;
        frame.encode(header);
        return say(header);
    }
    /// There is something to hear, or the end.
    bool heard() {
        std::byte b;
        return ::recv(socket_.get(), &b, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno == ECONNRESET;
    }
    /// Exactly so many bytes; fewer when the other end hangs up.
    std::vector<std::byte> hear(std::size_t n) {
        std::vector<std::byte> bytes(n);
        ssize_t const got = ::recv(socket_.get(), bytes.data(), n, MSG_WAITALL);
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return bytes;
    }
    tcp::Frame hear_frame() {
        std::vector<std::byte> const bytes = hear(tcp::Frame::header_bytes);
        tcp::Frame frame;
        if (bytes.size() != tcp::Frame::header_bytes) {
            ADD_FAILURE() << "hung up";
            return frame;
        }
        EXPECT_EQ(tcp::Frame::decode(std::span(bytes).first<tcp::Frame::header_bytes>(), frame), nullptr);
        return frame;
    }
    void hear_the_end() { EXPECT_TRUE(hear(1).empty()); }

    /// As rank `me`, who calls rank `peer`.
    bool shake_hands(JobKey const& key, int me, int peer) {
        tcp::Handshake h = tcp::Handshake::caller(key, me, peer);
        for (;;) {
            if (!say(h.out)) return false;
            h.out.clear();
            if (h.state() == tcp::Handshake::State::done) return true;
            if (h.state() == tcp::Handshake::State::challenged) {
                h.prove();
                continue;
            }
            std::vector<std::byte> const answer = hear(h.wanted());
            if (answer.empty()) return false;
            h.take(answer);
            if (h.state() == tcp::Handshake::State::refused) return false;
        }
    }
    void hang_up() { socket_.reset(); }

    bool connected = false;

private:
    tcp::Socket socket_;
};

}   // namespace tutti::p2p::test
