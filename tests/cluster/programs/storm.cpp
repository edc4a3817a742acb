// SPDX-License-Identifier: BSD-3-Clause
// Attacks the ports of a job by foreign connections: random bytes, mutated frames, handshakes with a wrong key or
// truncated, all received data sent back, half-open connections, one byte at a time. Ends after FRAMES frames, or when
// no process listens any more, and prints statistics. Exit code 1: a rank has accepted a connection.
//   cluster_storm FRAMES SEED FIRST-PORT LAST-PORT ADDRESS...
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "p2p/tcp/frame.hpp"
#include "p2p/tcp/handshake.hpp"

namespace {

using tutti::p2p::tcp::Frame;
using tutti::p2p::tcp::FrameKind;
using tutti::p2p::tcp::Handshake;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;

constexpr std::size_t max_connections = 200;   // at the same time
constexpr std::size_t frames_per_connection = 64;
constexpr auto shortest = std::chrono::milliseconds(30), longest = std::chrono::milliseconds(3000);
constexpr int max_refusals = 2000;   // in a row: no process listens any more

enum class Kind { noise, frames, wrong_key, cut, mirror, silent, slow, count };

struct Connection {
    int fd = -1;
    Kind kind{};
    Bytes out;
    std::size_t sent = 0, step = 1 << 16;   ///< bytes per write
    Clock::time_point next, end;
    Handshake handshake = Handshake::initiator({}, 0, 1);
    bool keeps = false;   ///< the connection stays open after all data was sent
    std::size_t received = 0;
};

class Storm {
public:
    Storm(std::size_t frames, unsigned seed, int first, int last, std::vector<std::string> addresses)
        : wanted_(frames), random_(seed), first_(static_cast<std::size_t>(first)),
          ports_(static_cast<std::size_t>(last - first + 1)), addresses_(std::move(addresses)) {}

    /// Returns true if no rank has accepted a connection.
    bool run() {
        while (frames_ < wanted_ && refused_ < max_refusals) {
            while (all_.size() < max_connections && open_one()) {}
            turn();
        }
        for (Connection& s : all_) close(s.fd);
        std::printf("%zu frames on %zu connections, %zu answered\n", frames_, connections_, answered_);
        return !accepted_;
    }

private:
    std::size_t number(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }
    std::byte byte() { return static_cast<std::byte>(number(256)); }

    sockaddr_in6 random_address() {
        sockaddr_in6 to{};
        std::string const& text = addresses_[number(addresses_.size())];
        std::string const full = text.find(':') == std::string::npos ? "::ffff:" + text : text;
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(static_cast<std::uint16_t>(first_ + number(ports_)));
        inet_pton(AF_INET6, full.c_str(), &to.sin6_addr);
        return to;
    }

    bool open_one() {
        Connection s;
        s.fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        // Closes immediately, without a port in TIME_WAIT.
        linger const none{1, 0};
        setsockopt(s.fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        sockaddr_in6 const to = random_address();
        if (connect(s.fd, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0 && errno != EINPROGRESS) {
            close(s.fd);
            ++refused_;
            return false;
        }
        prepare(s);
        all_.push_back(std::move(s));
        ++connections_;
        return true;
    }

    void prepare(Connection& s) {
        s.kind = static_cast<Kind>(number(static_cast<std::size_t>(Kind::count)));
        tutti::JobKey key;
        for (std::byte& b : key) b = byte();
        s.handshake = Handshake::initiator(key, static_cast<int>(number(4)), static_cast<int>(number(4)));
        switch (s.kind) {
        case Kind::noise: noise(s.out); break;
        case Kind::frames: mutated(s.out); break;
        case Kind::wrong_key: s.out = s.handshake.out; break;
        case Kind::cut: s.out = s.handshake.out, s.out.resize(number(s.out.size())), mutated(s.out); break;
        case Kind::mirror: s.out = s.handshake.out; break;
        case Kind::silent: break;
        case Kind::slow: s.out = s.handshake.out, mutated(s.out), s.step = 1; break;
        case Kind::count: break;
        }
        s.next = Clock::now();
        s.keeps = number(4) == 0 || s.kind == Kind::silent || s.kind == Kind::wrong_key || s.kind == Kind::mirror;
        s.end = s.next + (number(10) == 0 || s.step == 1 ? longest : shortest);
    }

    void noise(Bytes& out) {
        for (std::size_t i = 0; i < frames_per_connection * Frame::header_bytes; ++i) out.push_back(byte());
    }

    // Valid frames in which some bytes are changed.
    void mutated(Bytes& out) {
        for (std::size_t i = 0; i < frames_per_connection; ++i) {
            Frame frame;
            frame.kind = static_cast<FrameKind>(1 + number(11));
            frame.length = number(2) ? number(1 << 20) : random_();
            frame.context = number(4);
            frame.id = number(16);
            std::array<std::byte, Frame::header_bytes> header;
            frame.encode(header);
            for (std::size_t k = number(4); k > 0; --k) header[number(header.size())] = byte();
            out.insert(out.end(), header.begin(), header.end());
        }
    }

    void turn() {
        std::vector<pollfd> set;
        for (Connection const& s : all_) {
            bool const writes = s.sent < s.out.size() && Clock::now() >= s.next;
            set.push_back({s.fd, static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0});
        }
        poll(set.data(), set.size(), 5);
        Clock::time_point const now = Clock::now();
        for (std::size_t i = 0; i < set.size(); ++i)
            if (!serve(all_[i], set[i].revents, now)) close(all_[i].fd), all_[i].fd = -1;
        std::erase_if(all_, [](Connection const& s) { return s.fd < 0; });
    }

    bool serve(Connection& s, int events, Clock::time_point now) {
        if (events & (POLLERR | POLLHUP)) {
            int error = 0;
            socklen_t size = sizeof error;
            getsockopt(s.fd, SOL_SOCKET, SO_ERROR, &error, &size);
            if (error == ECONNREFUSED) ++refused_;
            return false;
        }
        if ((events & POLLIN) && (with_itself(s.fd) || !receive(s))) return false;
        if (events & POLLOUT) send_next(s, now);
        return now < s.end && (s.keeps || s.sent < s.out.size());
    }

    void send_next(Connection& s, Clock::time_point now) {
        refused_ = 0;
        std::size_t const n = std::min(s.step, s.out.size() - s.sent);
        ssize_t const sent = send(s.fd, s.out.data() + s.sent, n, MSG_NOSIGNAL);
        if (sent <= 0) return;
        std::size_t const before = s.sent;
        s.sent += static_cast<std::size_t>(sent);
        frames_ += s.sent / Frame::header_bytes - before / Frame::header_bytes;
        if (s.step == 1) s.next = now + std::chrono::milliseconds(20);
    }

    // If no process listens, a socket whose local port happens to be the port that it connects to connects to itself
    // (RFC 9293, 3.5: simultaneous open), and receives what it sends.
    static bool with_itself(int fd) {
        sockaddr_in6 own{}, peer{};
        socklen_t own_size = sizeof own, peer_size = sizeof peer;
        return getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
               getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
               own.sin6_port == peer.sin6_port &&
               std::memcmp(&own.sin6_addr, &peer.sin6_addr, sizeof own.sin6_addr) == 0;
    }

    // A rank sends a welcome or a frame after the challenge only to a peer with the key. A peer with another key
    // detects that the challenge belongs to another job.
    bool receive(Connection& s) {
        std::byte data[4096];
        ssize_t const n = recv(s.fd, data, sizeof data, 0);
        if (n <= 0) return n < 0 && errno == EAGAIN;
        ++answered_;
        s.received += static_cast<std::size_t>(n);
        if (s.received > challenge_bytes_) accepted_ = true;
        if (s.kind == Kind::mirror) s.out.insert(s.out.end(), data, data + n);
        if (s.kind == Kind::wrong_key && s.received == challenge_bytes_) {
            if (s.received == static_cast<std::size_t>(n)) s.handshake.consume({data, s.received});
            if (s.handshake.state() == Handshake::State::challenged) accepted_ = true;
            mutated(s.out);
        }
        return true;
    }

    std::size_t const wanted_, challenge_bytes_ = Handshake::initiator({}, 0, 1).wanted();
    std::mt19937_64 random_;
    std::size_t const first_, ports_;
    std::vector<std::string> const addresses_;
    std::vector<Connection> all_;
    std::size_t frames_ = 0, connections_ = 0, answered_ = 0;
    int refused_ = 0;
    bool accepted_ = false;
};

}   // namespace

int main(int argc, char** argv) {
    if (argc < 6) return std::fprintf(stderr, "usage: cluster_storm FRAMES SEED FIRST-PORT LAST-PORT ADDRESS...\n"), 2;
    Storm storm(std::strtoul(argv[1], nullptr, 10), static_cast<unsigned>(std::atol(argv[2])), std::atoi(argv[3]),
                std::atoi(argv[4]), {argv + 5, argv + argc});
    return storm.run() ? 0 : 1;
}
