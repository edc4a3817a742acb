// SPDX-License-Identifier: BSD-3-Clause
// The peer of a rank in tests, on plain blocking sockets: a program that is no rank of the job, or a rank that knows
// the job's key and violates the protocol.
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

class RawPeer {
public:
    /// Connects to this port on 127.0.0.1.
    explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in const address = at("127.0.0.1", port);
        connected = ::connect(socket_.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
    }

    /// Returns false if the other end has closed the connection.
    bool send(std::span<std::byte const> bytes) {
        while (!bytes.empty()) {
            ssize_t const n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
        return true;
    }
    bool send(std::string_view text) { return send(std::as_bytes(std::span(text))); }
    bool send(tcp::Frame const& frame) {
        std::array<std::byte, tcp::Frame::header_bytes> header;
        frame.encode(header);
        return send(header);
    }
    /// Returns whether data or the end of the stream can be read.
    bool is_readable() {
        std::byte b;
        return ::recv(socket_.get(), &b, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno == ECONNRESET;
    }
    /// Reads n bytes; fewer if the other end closes the connection.
    std::vector<std::byte> receive(std::size_t n) {
        std::vector<std::byte> bytes(n);
        ssize_t const got = ::recv(socket_.get(), bytes.data(), n, MSG_WAITALL);
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return bytes;
    }
    tcp::Frame receive_frame() {
        std::vector<std::byte> const bytes = receive(tcp::Frame::header_bytes);
        tcp::Frame frame;
        if (bytes.size() != tcp::Frame::header_bytes) {
            ADD_FAILURE() << "the other end has closed the connection";
            return frame;
        }
        EXPECT_EQ(tcp::Frame::decode(std::span(bytes).first<tcp::Frame::header_bytes>(), frame), nullptr);
        return frame;
    }
    void expect_closed() { EXPECT_TRUE(receive(1).empty()); }

    /// Connects to rank `peer` as rank `me`.
    bool handshake(JobKey const& key, int me, int peer) {
        tcp::Handshake h = tcp::Handshake::initiator(key, me, peer);
        for (;;) {
            if (!send(h.out)) return false;
            h.out.clear();
            if (h.state() == tcp::Handshake::State::done) return true;
            if (h.state() == tcp::Handshake::State::challenged) {
                h.prove();
                continue;
            }
            std::vector<std::byte> const answer = receive(h.wanted());
            if (answer.empty()) return false;
            h.consume(answer);
            if (h.state() == tcp::Handshake::State::refused) return false;
        }
    }
    void close() { socket_.reset(); }

    bool connected = false;

private:
    tcp::Socket socket_;
};

}   // namespace tutti::p2p::test
