// SPDX-License-Identifier: BSD-3-Clause
// The system calls for sockets and epoll.
#include "p2p/tcp/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/error.hpp"

using namespace std::chrono_literals;

namespace tutti::p2p::tcp {
namespace {

constexpr int max_probes = 6;   // of an idle connection: the loss of a few probes must not end it

}   // namespace

std::string describe_error(int error) {
    rlimit limit{};
    if (error != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::strerror(error);
    return join("all ", limit.rlim_cur, " file descriptors of this process are in use (the limit is set by ulimit -n)");
}

void Socket::reset() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
}

/// Makes the loss of a peer visible after `silence`: the system detects it while no data is in transit, else
/// is_unresponsive() does. (TCP_USER_TIMEOUT would also end connections to processes that do not read for a while.) The
/// system probes an idle connection for the second half of that time. Buffer sizes are left to the system: fixed sizes
/// would not grow with the connection's bandwidth-delay product.
void Socket::prepare(std::chrono::seconds silence) {
    auto set = [this](int level, int option, int value) {
        setsockopt(descriptor_, level, option, &value, sizeof value);   // failure of an option is ignored
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    constexpr int longest_idle = 32'767;   // limit of Linux, in seconds
    int const all = static_cast<int>(silence.count()), idle = std::clamp(all / 2, 1, longest_idle);
    int const probed = std::max(1, all - idle), probes = std::min(probed, max_probes);
    set(IPPROTO_TCP, TCP_KEEPIDLE, idle);
    set(IPPROTO_TCP, TCP_KEEPINTVL, std::min(probed / probes, longest_idle));
    set(IPPROTO_TCP, TCP_KEEPCNT, probes);
}

Socket Socket::connect(IpAddress const& address, std::uint16_t port, std::chrono::seconds silence) {
    Socket s(socket(address.is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!s) return s;
    s.prepare(silence);
    sockaddr_in6 six{};
    sockaddr_in four{};
    six.sin6_family = AF_INET6;
    four.sin_family = AF_INET;
    six.sin6_port = four.sin_port = htons(port);
    std::memcpy(&six.sin6_addr, address.bytes.data(), 16);
    std::memcpy(&four.sin_addr, address.bytes.data(), 4);
    int const result = address.is_ipv6 ? ::connect(s.get(), reinterpret_cast<sockaddr*>(&six), sizeof six)
                                       : ::connect(s.get(), reinterpret_cast<sockaddr*>(&four), sizeof four);
    if (result == 0 || errno == EINPROGRESS) return s;
    int const why = errno;
    s.reset();
    errno = why;
    return s;
}

Socket Socket::accept(Socket const& listener, std::string& from) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    Socket s(accept4(listener.get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!s) return s;
    IpAddress source{.bytes = {}, .is_ipv6 = address.ss_family == AF_INET6, .prefix_length = 0};
    if (source.is_ipv6) std::memcpy(source.bytes.data(), &reinterpret_cast<sockaddr_in6&>(address).sin6_addr, 16);
    else std::memcpy(source.bytes.data(), &reinterpret_cast<sockaddr_in&>(address).sin_addr, 4);
    from = source.host();
    return s;
}

bool Socket::readable() const {
    pollfd p{descriptor_, POLLIN, 0};
    return poll(&p, 1, 0) > 0;
}

void Socket::reset_when_closed() {
    linger const none{.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

bool Socket::is_unresponsive(std::chrono::seconds silence) const {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
    // Data was sent again well after the last answer, and not just now: an answer may take a second, or a quarter of a
    // shorter silence. A host whose process does not read still answers each time.
    std::chrono::milliseconds const answered(info.tcpi_last_ack_recv), sent(info.tcpi_last_data_sent);
    auto const answer = std::min<std::chrono::milliseconds>(1s, std::chrono::milliseconds(silence) / 4);
    return info.tcpi_unacked != 0 && answered > silence && sent > answer && sent + answer < answered;
}

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) fail(ErrorClass::other, "epoll_create failed: ", std::strerror(errno));
}

void Poller::add(Socket const& socket, std::uint64_t number, bool out) {
    epoll_event event{.events = EPOLLIN | (out ? EPOLLOUT : 0u), .data = {.u64 = number}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0)
        fail(ErrorClass::other, "epoll_ctl failed: ", std::strerror(errno));
}

void Poller::change(Socket const& socket, std::uint64_t number, bool out) {
    epoll_event event{.events = EPOLLIN | (out ? EPOLLOUT : 0u), .data = {.u64 = number}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket.get(), &event);
}

void Poller::remove(Socket const& socket) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr); }

std::span<epoll_event const> Poller::poll() {
    int const n = epoll_wait(epoll_.get(), events_, static_cast<int>(std::size(events_)), 0);
    return {events_, static_cast<std::size_t>(std::max(n, 0))};
}

}   // namespace tutti::p2p::tcp
