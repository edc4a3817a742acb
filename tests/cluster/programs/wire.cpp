// SPDX-License-Identifier: BSD-3-Clause
// A switch with a given delay: connects the interfaces that it creates (taps with the given names, in the network
// namespace where it is started; they may be moved to others), and forwards each frame after the delay, or loses it.
// For kernels without netem. Prints "ready" when the interfaces exist; they are removed when it ends.
//   cluster_wire DELAY-IN-MICROSECONDS LOSS-IN-PERCENT NAME...
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Address = std::array<unsigned char, 6>;

constexpr std::size_t head_bytes = 10;        // struct virtio_net_hdr, forwarded unchanged
constexpr std::size_t most_bytes = 1 << 17;   // larger than any frame before segmentation by the kernel
constexpr std::size_t most_waiting = 4096;    // frames; further frames are lost, as in any switch

struct Frame {
    Clock::time_point due;
    std::size_t from;
    std::vector<unsigned char> bytes;
    Address address(std::size_t at) const {
        Address a;
        std::memcpy(a.data(), bytes.data() + head_bytes + at, a.size());
        return a;
    }
};

[[noreturn]] void give_up(std::string const& what) {
    std::perror(("cluster_wire: " + what).c_str());
    std::exit(1);
}

// With loss, the kernel must segment frames before, so that single frames are lost.
int make_tap(std::string const& name, bool uncut) {
    int const fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) give_up("/dev/net/tun");
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request) != 0) give_up(name);
    if (uncut && ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) give_up("TUNSETOFFLOAD");
    return fd;
}

class Wire {
public:
    Wire(std::chrono::microseconds delay, double loss, std::vector<std::string> const& names)
        : delay_(delay), lost_(loss / 100) {
        for (auto const& name : names) ports_.push_back({make_tap(name, loss == 0), POLLIN, 0});
    }

    [[noreturn]] void run() {
        for (;;) {
            wait();
            for (std::size_t port = 0; port < ports_.size(); ++port)
                if (ports_[port].revents) take(port);
            while (!waiting_.empty() && waiting_.front().due <= Clock::now()) {
                deliver(waiting_.front());
                waiting_.pop_front();
            }
        }
    }

private:
    void wait() {
        timespec left{}, *until = nullptr;
        if (!waiting_.empty()) {
            auto const ns = std::max<long>(0, std::chrono::nanoseconds(waiting_.front().due - Clock::now()).count());
            left = {ns / 1'000'000'000, ns % 1'000'000'000};
            until = &left;
        }
        if (ppoll(ports_.data(), ports_.size(), until, nullptr) < 0 && errno != EINTR) give_up("ppoll");
        for (auto const& port : ports_)
            if (port.revents & POLLERR) std::exit(0);   // a host has ended, and its interface with it
    }

    // Reads all frames of a port. The delay is the same for all, so they are due in order of arrival.
    void take(std::size_t port) {
        for (;;) {
            auto const n = read(ports_[port].fd, buffer_.data(), buffer_.size());
            if (n < static_cast<ssize_t>(head_bytes + 14)) return;
            if (waiting_.size() >= most_waiting || lost_(random_)) continue;
            waiting_.push_back({Clock::now() + delay_, port, {buffer_.begin(), buffer_.begin() + n}});
        }
    }

    void deliver(Frame const& frame) {
        where_[frame.address(6)] = frame.from;
        auto const known = where_.find(frame.address(0));
        for (std::size_t port = 0; port < ports_.size(); ++port)
            if (port != frame.from && (known == where_.end() || known->second == port))
                // A port whose host is not up yet accepts no frame: the frame is lost.
                (void)!write(ports_[port].fd, frame.bytes.data(), frame.bytes.size());
    }

    std::chrono::microseconds delay_;
    std::bernoulli_distribution lost_;
    std::mt19937 random_{std::random_device{}()};
    std::vector<pollfd> ports_;
    std::deque<Frame> waiting_;
    std::map<Address, std::size_t> where_;   ///< the port at which an address was seen
    std::vector<unsigned char> buffer_ = std::vector<unsigned char>(most_bytes);
};

}   // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fprintf(stderr, "usage: cluster_wire MICROSECONDS PERCENT NAME...\n"), 2;
    Wire wire(std::chrono::microseconds(std::atol(argv[1])), std::atof(argv[2]), {argv + 3, argv + argc});
    // The delay is exact only if no other process occupies the core when it is over.
    sched_param const first{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) prctl(PR_SET_TIMERSLACK, 1UL);
    std::puts("ready");
    std::fflush(stdout);
    wire.run();
}
