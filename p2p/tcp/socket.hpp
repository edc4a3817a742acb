// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket that closes itself, and the one object that tells which of many are ready.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <sys/epoll.h>

#include "runtime/job/interfaces.hpp"

namespace tutti::p2p::tcp {

/// The system's text; of descriptors that have run out, also how many there may be.
std::string text_of_error(int error);

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

    /// Begins to connect, without waiting. Without a socket when that fails immediately; errno says why. `silence`:
    /// after so long without an answer the system ends an idle connection.
    static Socket connect(IpAddress const& address, std::uint16_t port, std::chrono::seconds silence);
    /// The next one that has called `listener`, without blocking, and its numeric address in `from`. Without a socket
    /// when there is none, or none can be had; errno says why.
    static Socket accept(Socket const& listener, std::string& from);

    int get() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ >= 0; }
    void reset();
    /// The caller closes it from now on.
    int release() { return std::exchange(descriptor_, -1); }
    /// What became of connect(): an errno, 0 when it succeeded.
    int error() const;
    /// Nothing of what was sent has been acknowledged for `silence`, so the other host counts as lost. Not so when it
    /// does not take more because its process does not read: that may compute for hours.
    bool unheard(std::chrono::seconds silence) const;
    /// Something can be read or accepted, or the end.
    bool readable() const;
    /// Closing it leaves nothing behind in the system, where a crowd of strangers could fill its tables.
    void reset_when_closed();
    /// Sets the options of a connection that is going to be used; connect() has done so. `silence` as for connect().
    void prepare(std::chrono::seconds silence);

private:
    int descriptor_ = -1;
};

/// Watches sockets, each under a number of its owner's choice.
class Poller {
public:
    /// Throws Error when the system has none.
    Poller();
    /// Throws Error when the system refuses.
    void add(Socket const& socket, std::uint64_t number, bool out);
    void change(Socket const& socket, std::uint64_t number, bool out);
    void remove(Socket const& socket);
    /// Readable for poll(2) and its like while look() would find something.
    int descriptor() const { return epoll_.get(); }
    /// What is ready now; nothing is waited for. Valid until the next call.
    std::span<epoll_event const> look();

private:
    Socket epoll_;
    epoll_event events_[64];
};

}   // namespace tutti::p2p::tcp
