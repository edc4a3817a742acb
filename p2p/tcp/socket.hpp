// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket that closes itself, and an epoll wrapper that reports which of many sockets are ready.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <sys/epoll.h>

#include "runtime/job/interfaces.hpp"

namespace tutti::p2p::tcp {

/// Returns the system's error text; for EMFILE, a text with the limit of descriptors.
std::string describe_error(int error);

class Socket {
public:
    Socket() = default;
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Socket() { reset(); }

    /// Begins to connect, without waiting. Returns an empty socket, and sets errno, if that fails immediately.
    /// `silence`: how long the system keeps an idle connection without an answer.
    static Socket connect(IpAddress const& address, std::uint16_t port, std::chrono::seconds silence);
    /// Accepts the next connection to `listener`, without waiting, and stores its numeric address to `from`. Returns an
    /// empty socket, and sets errno, if there is none or it cannot be accepted.
    static Socket accept(Socket const& listener, std::string& from);

    int get() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ >= 0; }
    void reset();
    /// Transfers the descriptor to the caller, which must close it.
    int release() { return std::exchange(descriptor_, -1); }
    /// Returns true if data is unacknowledged and the other host has not answered for `silence`, so it counts as lost.
    /// Returns false if it answers but takes no more data because its process does not read: the process may compute
    /// for hours.
    bool is_unresponsive(std::chrono::seconds silence) const;
    /// Returns true if data, a connection or the end of the stream is available.
    bool readable() const;
    /// Makes close() leave no state in the system (no TIME_WAIT), whose tables many other processes could fill.
    void reset_when_closed();
    /// Sets the options of a connection; connect() does so itself. `silence`: as for connect().
    void prepare(std::chrono::seconds silence);

private:
    int descriptor_ = -1;
};

/// Watches sockets, each identified by a number that its owner chooses.
class Poller {
public:
    /// Throws Error if the system has no resources for it.
    Poller();
    /// Throws Error if the system refuses.
    void add(Socket const& socket, std::uint64_t number, bool out);
    void change(Socket const& socket, std::uint64_t number, bool out);
    void remove(Socket const& socket);
    /// Descriptor that is readable for poll(2) and the like while poll() would return events.
    int descriptor() const { return epoll_.get(); }
    /// Returns the pending events without waiting. Valid until the next call.
    std::span<epoll_event const> poll();

private:
    Socket epoll_;
    epoll_event events_[64];
};

}   // namespace tutti::p2p::tcp
