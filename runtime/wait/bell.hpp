// SPDX-License-Identifier: BSD-3-Clause
// Wakes a rank that sleeps in poll(2) because messages of other nodes may also wake it; a futex cannot be polled.
// Each such rank has a datagram socket with an abstract address chosen by the kernel, to which ranks of its node send
// an empty datagram. No wake-up is lost: a datagram stays until the rank has read it, and when the queue is full the
// rank is being woken already. Any process of the network namespace may send to the socket, which wakes the rank
// needlessly but does no harm.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/state/rank_state.hpp"

namespace tutti {

/// Rings the bells of ranks of this node, also from a process that is not a rank. Thread-safe.
class BellRinger {
public:
    BellRinger() : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        struct stat info {};
        if (stat("/proc/self/ns/net", &info) == 0) namespace_ = info.st_ino;
    }
    ~BellRinger() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    BellRinger(BellRinger const&) = delete;
    BellRinger& operator=(BellRinger const&) = delete;

    /// Rings the bell of `rank`, which must have one. If the bell cannot be reached, records that in the rank's
    /// state.
    void ring(RankState& rank) const {
        bool const same_namespace = rank.bell_namespace.load(std::memory_order_relaxed) == namespace_;
        if (same_namespace && send_to(rank.bell.load(std::memory_order_relaxed))) return;
        rank.bell_unreached.store(1, std::memory_order_relaxed);
    }

    /// Wakes all threads of `rank` that sleep: by its bell if it has one.
    void wake(RankState& rank) const {
        rank.wake.fetch_add(1, std::memory_order_release);
        if (rank.bell.load(std::memory_order_acquire) == 0) futex_wake(rank.wake, wake_all);
        else ring(rank);
    }

protected:
    static constexpr std::size_t name_bytes = 6;   // a zero byte and five digits: unix(7), "Autobind feature"

    int const descriptor_;
    std::uint64_t namespace_ = 0;   ///< 0: unknown (no /proc)

private:
    bool send_to(std::uint64_t name) const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, &name, name_bytes);
        socklen_t const bytes = offsetof(sockaddr_un, sun_path) + name_bytes;
        return sendto(descriptor_, nullptr, 0, 0, reinterpret_cast<sockaddr const*>(&address), bytes) == 0 ||
               errno == EAGAIN || errno == ENOBUFS;
    }
};

/// A rank's own bell, which also rings those of other ranks. Thread-safe.
class Bell : public BellRinger {
public:
    /// Creates the bell and publishes it in the rank's state. Returns null if the system provides no such socket.
    static std::unique_ptr<Bell> create(RankState& owner) {
        auto bell = std::unique_ptr<Bell>(new (std::nothrow) Bell(owner));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socklen_t bytes = sizeof(sa_family_t);   // the kernel chooses the rest
        if (!bell || bell->descriptor_ < 0 ||
            bind(bell->descriptor_, reinterpret_cast<sockaddr*>(&address), bytes) != 0)
            return nullptr;
        bytes = sizeof address;
        std::uint64_t name = 0;
        if (getsockname(bell->descriptor_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return nullptr;
        std::size_t const length = bytes - offsetof(sockaddr_un, sun_path);
        if (length != name_bytes) return nullptr;
        std::memcpy(&name, address.sun_path, name_bytes);
        owner.bell_namespace.store(bell->namespace_, std::memory_order_relaxed);
        owner.bell.store(name, std::memory_order_release);
        return bell;
    }
    ~Bell() { owner_.bell.store(0, std::memory_order_relaxed); }   // another process may get the address
    Bell(Bell const&) = delete;
    Bell& operator=(Bell const&) = delete;

    /// Readable in poll(2) from a ring until drain().
    int descriptor() const { return descriptor_; }
    void drain() {
        char byte;   // bounded, since other processes could send forever
        for (int i = 0; i < max_rings && recv(descriptor_, &byte, sizeof byte, 0) >= 0; ++i) {}
    }

private:
    static constexpr int max_rings = 64;   // the kernel queues about ten

    explicit Bell(RankState& owner) : owner_(owner) {}

    RankState& owner_;
};

}   // namespace tutti
