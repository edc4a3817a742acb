// SPDX-License-Identifier: BSD-3-Clause
// Connections before the first frame: unauthenticated peers, ranks that connect to each other at the same time, and
// addresses that belong to other hosts.
#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <random>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "p2p/tcp/connect.hpp"
#include "runtime/base/clock.hpp"
#include "tests/p2p/tcp/stranger.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using tcp::ConnectionSetup;
using tcp::Poller;
using tcp::Socket;
using tcp::UnprovenCallers;

/// Ranks 0 and 1 on one node each, with their listeners.
struct TwoNodes {
    std::vector<Listener> listeners{listen_on_loopback(), listen_on_loopback()};
    Cluster map(int here = 0) const { return cluster_of(Layout::alternating, 2, here, listeners); }
};

/// The connection setup of one rank in isolation.
struct RankSetup {
    RankSetup(Cluster const& cluster, int me, std::vector<int> const& listeners)
        : map(cluster),
          setup(map, me, std::vector<Socket>(listeners.begin(), listeners.end()), "", std::chrono::seconds(60), poller,
                2,
                {.opened =
                     [this](int rank, Socket s) {
                         opened.push_back(rank);
                         sockets.push_back(std::move(s));
                     },
                 .failed = [this](int, std::string why) { failed.push_back(why); },
                 .is_connected = [this](int rank) { return std::count(opened.begin(), opened.end(), rank) > 0; },
                 .no_descriptor = [this](std::string why) { warnings.push_back(why); }}) {}
    void poll() {
        for (epoll_event const& e : poller.poll()) setup.ready(e.data.u64);
        setup.tick(now_ns());
    }
    Cluster const map;
    Poller poller;
    std::vector<int> opened;
    std::vector<Socket> sockets;
    std::vector<std::string> failed, warnings;
    ConnectionSetup setup;
};

TEST(ConnectionSetup, HoldsNoMoreStrangersThanItsBound) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    std::deque<RawPeer> silent;
    for (int i = 0; i < 400; ++i) {
        silent.emplace_back(two.listeners[0].port);
        rank.poll();
        ASSERT_LE(rank.setup.unproven_callers(), UnprovenCallers::job_node_bounds.per_address);
    }
    EXPECT_EQ(rank.setup.unproven_callers(), UnprovenCallers::job_node_bounds.per_address);
    // Another rank can still connect: the oldest strangers are disconnected.
    RankSetup other(two.map(1), 1, two.listeners[1].descriptors);
    other.setup.connect(0);
    while (rank.opened.empty() || other.opened.empty()) rank.poll(), other.poll();
    EXPECT_EQ(rank.opened, std::vector{1});
    EXPECT_EQ(other.opened, std::vector{0});
    EXPECT_LE(rank.setup.unproven_callers(), UnprovenCallers::job_node_bounds.per_address);
}

// A few polls accept all of these strangers; the other polls are a reserve for slow systems.
constexpr int many_strangers = 600, enough_polls = 20'000;

/// The number of these strangers that were disconnected.
int gone(std::deque<RawPeer>& strangers) {
    return static_cast<int>(
        std::count_if(strangers.begin(), strangers.end(), [](RawPeer& s) { return s.is_readable(); }));
}

TEST(ConnectionSetup, SilentStrangersKeepNoRankWaiting) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors), other(two.map(1), 1, two.listeners[1].descriptors);
    std::deque<RawPeer> silent;
    for (int i = 0; i < many_strangers; ++i) silent.emplace_back(two.listeners[0].port);
    other.setup.connect(0);
    int polls = 0;
    while ((rank.opened.empty() || other.opened.empty()) && polls++ < enough_polls) rank.poll(), other.poll();
    // There were many more strangers than slots, and the rank waited for none of them to disconnect or time out.
    EXPECT_EQ(rank.opened, std::vector{1});
    EXPECT_EQ(other.opened, std::vector{0});
    EXPECT_TRUE(other.failed.empty());
    int const places = static_cast<int>(UnprovenCallers::job_node_bounds.per_address);
    while (gone(silent) < many_strangers - places && polls++ < enough_polls) rank.poll();
    EXPECT_GE(gone(silent), many_strangers - places);   // the other rank used a slot for a moment
}

TEST(ConnectionSetup, AnAuthenticatedCallerIsNotDisplacedByStrangers) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    RawPeer slow(two.listeners[0].port);
    tcp::Handshake h = tcp::Handshake::initiator(two.map().key(), 1, 0);
    slow.send(h.out);
    while (!slow.is_readable()) rank.poll();
    EXPECT_EQ(rank.setup.unproven_callers(), 0u);
    std::deque<RawPeer> silent;
    for (int i = 0; i < many_strangers; ++i) silent.emplace_back(two.listeners[0].port);
    while (gone(silent) == 0) rank.poll();
    h.out.clear();
    h.consume(slow.receive(h.wanted()));
    ASSERT_EQ(h.state(), tcp::Handshake::State::challenged);
    h.prove();
    slow.send(h.out);
    while (rank.opened.empty()) rank.poll();
    EXPECT_EQ(rank.opened, std::vector{1});
}

TEST(ConnectionSetup, ReplayedHandshakesOccupyFewSlots) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    tcp::Handshake const h = tcp::Handshake::initiator(two.map().key(), 1, 0);
    std::deque<RawPeer> copies;
    for (int i = 0; i < 100; ++i) copies.emplace_back(two.listeners[0].port).send(h.out);
    while (rank.setup.unproven_callers() != 0 ||
           std::any_of(copies.begin(), copies.end(), [](auto& s) { return !s.is_readable(); }))
        rank.poll();
    int kept = 0;   // peers that received a challenge and were not disconnected
    for (RawPeer& s : copies) {
        s.receive(64);
        kept += !s.is_readable();
    }
    EXPECT_LE(kept, static_cast<int>(ConnectionSetup::max_handshakes_per_rank));
    EXPECT_TRUE(rank.opened.empty());
}

/// While it exists, this process cannot open further descriptors.
struct NoDescriptorLeft {
    NoDescriptorLeft() {
        int const free = open("/dev/null", O_RDONLY | O_CLOEXEC);   // the lowest one
        close(free);
        getrlimit(RLIMIT_NOFILE, &old);
        rlimit const none{static_cast<rlim_t>(free), old.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptorLeft() { setrlimit(RLIMIT_NOFILE, &old); }
    rlimit old{};
};

TEST(ConnectionSetup, OutOfDescriptorsCallersAreRefusedAndItIsReported) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    std::deque<RawPeer> callers;
    for (int i = 0; i < 3; ++i) callers.emplace_back(two.listeners[0].port);
    {
        NoDescriptorLeft const none;
        for (int polls = 0; gone(callers) < 3 && polls < enough_polls; ++polls) rank.poll();
    }
    EXPECT_EQ(gone(callers), 3);   // the callers notice
    ASSERT_EQ(rank.warnings.size(), 1u);
    EXPECT_THAT(rank.warnings[0], testing::HasSubstr("rank 0 refuses connections from other ranks: all "));
    EXPECT_THAT(rank.warnings[0], testing::HasSubstr("ulimit -n"));
    // The rank accepts connections as soon as descriptors are available.
    RankSetup other(two.map(1), 1, two.listeners[1].descriptors);
    other.setup.connect(0);
    while (rank.opened.empty() || other.opened.empty()) rank.poll(), other.poll();
}

TEST(ConnectionSetup, OutOfDescriptorsStrangersAreDisconnectedBeforeARankIsRefused) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    std::deque<RawPeer> silent;
    for (int i = 0; i < 3; ++i) silent.emplace_back(two.listeners[0].port);
    while (rank.setup.unproven_callers() < 3) rank.poll();
    RawPeer caller(two.listeners[0].port);
    tcp::Handshake const h = tcp::Handshake::initiator(two.map().key(), 1, 0);
    caller.send(h.out);
    NoDescriptorLeft const none;
    for (int polls = 0; !caller.is_readable() && polls < enough_polls; ++polls) rank.poll();
    ASSERT_TRUE(caller.is_readable());
    EXPECT_EQ(caller.receive(64).size(), 64u);   // a challenge
    EXPECT_EQ(gone(silent), 1);
    EXPECT_TRUE(rank.warnings.empty());
}

/// Each of these peers is a port that does not answer, so that every attempt keeps its descriptor.
TEST(ConnectionSetup, MorePeersThanDescriptorsAreAnError) {
    constexpr int peers = 300, limit = 256;
    Listener const silent = listen_on_loopback();
    std::vector<Cluster::Rank> ranks = {{0, 0, 1}};
    for (int i = 0; i < peers; ++i) ranks.push_back({1, i, silent.port});
    RankSetup rank(Cluster({{"first", {"127.0.0.1/8"}}, {"second", {"127.0.0.1/8"}}}, ranks, 0, {}), 0, {});
    rlimit old{};
    getrlimit(RLIMIT_NOFILE, &old);
    rlimit const few{limit, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 1; i <= peers; ++i) rank.setup.connect(i);
    for (int i = 0; i < 10; ++i) rank.poll();
    EXPECT_TRUE(rank.failed.empty());   // descriptors may become available
    std::int64_t now = now_ns();
    for (std::int64_t t = 0; t <= 2 * ConnectionSetup::retry_duration; t += ConnectionSetup::attempt_delay)
        rank.setup.tick(now += ConnectionSetup::attempt_delay);
    setrlimit(RLIMIT_NOFILE, &old);
    EXPECT_GE(rank.failed.size(), static_cast<std::size_t>(peers - limit));
    EXPECT_THAT(rank.failed, testing::Each(testing::HasSubstr("all 256 file descriptors of this process are in use")));
    for (int descriptor : silent.descriptors) close(descriptor);
}

TEST(ConnectionSetup, AcceptsSlowCallersButRejectsInvalidOnes) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    RawPeer slow(two.listeners[0].port);
    tcp::Handshake h = tcp::Handshake::initiator(two.map().key(), 1, 0);
    for (std::byte const& b : h.out) {
        ASSERT_TRUE(slow.send({&b, 1}));
        rank.poll();
        bool const last = &b == &h.out.back();
        EXPECT_EQ(rank.setup.unproven_callers(), last ? 0u : 1u);   // by then it has proven the key
    }
    while (!slow.is_readable()) rank.poll();
    h.consume(slow.receive(h.wanted()));
    EXPECT_EQ(h.state(), tcp::Handshake::State::challenged);
    slow.send(std::vector<std::byte>(32));   // an invalid proof
    while (!slow.is_readable()) rank.poll();
    slow.expect_closed();
    EXPECT_TRUE(rank.opened.empty());
}

TEST(ConnectionSetup, AuthenticatedRanksThatAreAlreadyConnectedAreRefused) {
    TwoNodes two;
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    std::thread thread([&] {
        RawPeer first(two.listeners[0].port), second(two.listeners[0].port);
        EXPECT_TRUE(first.handshake(two.map().key(), 1, 0));
        EXPECT_FALSE(second.handshake(two.map().key(), 1, 0));
        JobKey other = two.map().key();
        other[31] ^= std::byte{1};
        RawPeer third(two.listeners[0].port);
        EXPECT_FALSE(third.handshake(other, 1, 0));
    });
    std::atomic<bool> over = false;
    std::thread end([&] { thread.join(), over = true; });
    while (!over) rank.poll();
    end.join();
    EXPECT_EQ(rank.opened, std::vector{1});
}

TEST(ConnectionSetup, CrossingConnectionsLeaveOneThatBothRanksUse) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        TwoNodes two;
        RankSetup a(two.map(0), 0, two.listeners[0].descriptors), b(two.map(1), 1, two.listeners[1].descriptors);
        bool calls_a = false, calls_b = false;
        // Both ranks make progress in random order.
        while (a.opened.empty() || b.opened.empty()) {
            RankSetup& next = random() % 2 ? a : b;
            bool& called = &next == &a ? calls_a : calls_b;
            if (!std::exchange(called, true) && next.opened.empty()) next.setup.connect(&next == &a ? 1 : 0);
            next.poll();
        }
        for (int i = 0; i < 5; ++i) a.poll(), b.poll();
        ASSERT_EQ(a.opened.size(), 1u);
        ASSERT_EQ(b.opened.size(), 1u);
        EXPECT_FALSE(a.setup.busy());
        EXPECT_FALSE(b.setup.busy());
        // Both ends must be of the same connection.
        char out = static_cast<char>(round), in = 0;
        ASSERT_EQ(::send(a.sockets[0].get(), &out, 1, 0), 1);
        while (::recv(b.sockets[0].get(), &in, 1, 0) < 0) {}
        ASSERT_EQ(in, out);
    }
}

/// A nonblocking socket that listens on one address only.
Socket listen_at(char const* host, std::uint16_t port) {
    Socket s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in const address = at(host, port);
    EXPECT_EQ(bind(s.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(s.get(), 10), 0);
    return s;
}

/// The rank may compute or be stopped between its attempt and the next poll; this is no failure of the other rank.
TEST(ConnectionSetup, TimeInWhichTheCallerDoesNotPollDoesNotCount) {
    TwoNodes two;
    for (int descriptor : two.listeners[1].descriptors) close(descriptor);   // every call is refused
    RankSetup rank(two.map(), 0, two.listeners[0].descriptors);
    rank.setup.connect(1);
    std::int64_t const hour = 3'600'000'000'000;
    std::int64_t now = now_ns();
    for (int i = 0; i < 10; ++i) rank.setup.tick(now += hour);
    EXPECT_TRUE(rank.failed.empty());
    for (int i = 0; i < 30; ++i) rank.setup.tick(now += hour);
    EXPECT_EQ(rank.failed.size(), 1u);
}

/// Rank 1 is at 127.0.0.3; its node's other addresses belong to other listeners on the same port.
TEST(ConnectionSetup, TriesTheNextAddressIfOneBelongsToAnotherListener) {
    std::uint16_t const port = [] {
        Listener const l = listen_on_loopback();
        for (int descriptor : l.descriptors) close(descriptor);
        return l.port;
    }();
    auto map = [&](int me, JobKey const& key) {
        std::vector<std::string> const addresses = {"127.0.0.5/8", "127.0.0.2/8", "127.0.0.4/8", "127.0.0.3/8"};
        return Cluster({{"first", {"127.0.0.1/8"}}, {"second", addresses}}, {{0, 0, 1}, {1, 0, port}, {1, 1, port}},
                       me == 0 ? 0 : 1, key);
    };
    JobKey const mine{}, other{std::byte{1}};
    Socket right = listen_at("127.0.0.3", port), wrong_rank = listen_at("127.0.0.2", port);
    Socket wrong_job = listen_at("127.0.0.4", port), silent = listen_at("127.0.0.5", port);
    RankSetup caller(map(0, mine), 0, {}), called(map(1, mine), 1, {right.release()});
    RankSetup another_rank(map(2, mine), 2, {wrong_rank.release()});
    RankSetup another_job(map(1, other), 1, {wrong_job.release()});

    caller.setup.connect(1);
    while (caller.opened.empty() || called.opened.empty())
        for (RankSetup* a : {&caller, &called, &another_rank, &another_job}) a->poll();
    EXPECT_TRUE(another_rank.opened.empty());
    EXPECT_TRUE(another_job.opened.empty());
    EXPECT_FALSE(caller.setup.busy());
}

void garbage(std::uint16_t port, std::atomic<bool> const& over) {
    std::mt19937 random(11);
    std::deque<RawPeer> held;
    tcp::Handshake hello = tcp::Handshake::initiator({}, 1, 0);
    for (int i = 0; i < 3000 && !over; ++i) {
        RawPeer& s = held.emplace_back(port);
        std::vector<std::byte> bytes(random() % 300);
        for (std::byte& b : bytes) b = static_cast<std::byte>(random());
        if (i % 3 == 0) bytes = hello.out;   // half-open, with a wrong key
        if (i % 7 == 0) bytes.resize(bytes.size() / 2);
        s.send(bytes);
        if (held.size() > 200) held.pop_front();
    }
}

TEST(ConnectionSetup, AStormOfGarbageDoesNotDisturbMessages) {
    World world(2, Layout::alternating, shared_wait());
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    for (int r : {0, 1}) threads.emplace_back(garbage, world.all[0]->process.cluster.at(r).port, std::cref(over));
    for (auto& rank : world.all)
        threads.emplace_back([&, r = rank.get()] {
            for (int i = 0; i < 500; ++i) {
                std::size_t const n = static_cast<std::size_t>(i % 5 * 5000);
                if (r->me() == 0) r->send(numbers(n, i), 1, 1);
                EXPECT_EQ(r->recv(n, 1 - r->me(), 1), numbers(n, i));
                if (r->me() == 1) r->send(numbers(n, i), 0, 1);
            }
            r->barrier();
            over = true;
            shut_down(r->process, "leave");
        });
    for (auto& t : threads) t.join();
}

}   // namespace
}   // namespace tutti::p2p::test
