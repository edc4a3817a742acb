// SPDX-License-Identifier: BSD-3-Clause
// Memory exhaustion at every allocation of messages between nodes: the streams stay in sync, failed operations can be
// repeated, and each message arrives once and in order.
#include <atomic>
#include <new>
#include <thread>

#include "tests/coll/world/allocations.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using coll::test::AllocationLimit;

constexpr std::size_t most = 24;   // more allocations than any step below needs
constexpr int large = 100'000;     // elements of a message that is offered

/// Runs `call` with at most `allowed` allocations. Returns whether they sufficed.
template <class Call>
bool enough(std::size_t allowed, Call const& call) {
    AllocationLimit const ends(allowed);
    try {
        call();
        return true;
    } catch (std::bad_alloc const&) { return false; }
}

/// Announces that a rank is about to poll without memory, for ranks that then send to it.
class Starving {
public:
    void begin() { ++times_; }
    /// Waits until the rank has announced it `times` times.
    void await(int times) const {
        while (times_ < times) std::this_thread::yield();
    }

private:
    std::atomic<int> times_ = 0;
};

/// Polls at least `polls` times while only the first `allowed` allocations succeed; if none may succeed, polls until
/// one was refused. Returns whether one was refused.
bool poll_without_memory(Rank& r, std::size_t allowed, int polls, Starving& starving) {
    AllocationLimit const ends(allowed);
    starving.begin();
    int refused = 0;
    for (int i = 0; i < polls || (allowed == 0 && refused == 0); ++i) {
        try {
            r.process.waiter.progress();
        } catch (std::bad_alloc const&) { ++refused; }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return refused > 0;
}

/// Every second element of `large`.
Ref<Datatype> with_gaps() { return TypeBuilder::hvector(large / 2, 1, 8, *TypeBuilder::predefined(Basic::int32)); }

/// The elements with even index.
std::vector<int> every_second(std::vector<int> const& all) {
    std::vector<int> some;
    for (std::size_t i = 0; i < all.size(); i += 2) some.push_back(all[i]);
    return some;
}

/// Sends one message of each kind, and one that is cancelled.
void send_all_kinds(Rank& r, int dest, int round) {
    auto const type = TypeBuilder::predefined(Basic::int32), gaps = with_gaps();
    std::vector<int> const some = numbers(5000, round), many = numbers(large, round);
    std::vector<Ref<Request>> requests;
    for (int n : {3, 0, 5000}) requests.push_back(isend(*r.comm, some.data(), n, *type, dest, 1, Mode::standard));
    requests.push_back(isend(*r.comm, some.data(), 4, *type, dest, 2, Mode::synchronous));
    Ref<Request> const cancelled = isend(*r.comm, some.data(), 4, *type, dest, 3, Mode::standard);
    cancelled->cancel();
    requests.push_back(isend(*r.comm, many.data(), 1, *gaps, dest, 4, Mode::standard));
    requests.push_back(isend(*r.comm, many.data(), large, *type, dest, 5, Mode::standard));
    requests.push_back(isend(*r.comm, some.data(), 1, *type, dest, 6, Mode::standard));
    for (auto& request : requests) r.wait(*request);
    r.wait(*cancelled);
    EXPECT_TRUE(cancelled->status.cancelled);
}

void receive_all_kinds(Rank& r, int source, int round) {
    std::vector<int> const some = numbers(5000, round), many = numbers(large, round);
    for (std::size_t n : {3, 0, 5000}) {
        std::vector<int> const got = r.recv(5000, source, 1);
        EXPECT_EQ(got, std::vector(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n)));
    }
    EXPECT_EQ(r.recv(4, source, 2).size(), 4u);
    EXPECT_EQ(r.recv(large, source, 4), every_second(many));
    EXPECT_EQ(r.recv(large, any_source, 5), many);
    EXPECT_EQ(r.recv(4, source, any_tag), numbers(1, round));
}

TEST(TcpMemory, AReceiverContinuesWhenMemoryIsAvailable) {
    Starving starving;
    run(
        2,
        [&](Rank& r) {
            for (int round = 0; round < static_cast<int>(most); ++round) {
                r.barrier();
                if (r.me() == 1) {
                    starving.await(round + 1);
                    send_all_kinds(r, 0, round);
                    continue;
                }
                poll_without_memory(r, static_cast<std::size_t>(round), 40, starving);
                // All but the large messages are now queued here, or in the sender if memory was exhausted.
                enough(static_cast<std::size_t>(round / 4), [&] {
                    Status status;
                    iprobe(*r.comm, any_source, any_tag, status);
                });
                receive_all_kinds(r, 1, round);
            }
        },
        shared_wait(), Layout::alternating);
}

/// Receives that are posted before their message arrives.
TEST(TcpMemory, APostedReceiveCompletesWhenMemoryIsAvailable) {
    Starving starving;
    run(
        2,
        [&](Rank& r) {
            auto const type = TypeBuilder::predefined(Basic::int32), gaps = with_gaps();
            for (int round = 0; round < static_cast<int>(most); ++round) {
                std::vector<int> const sent = numbers(large, round);
                std::vector<int> small(10), whole(large), scattered(large);
                std::vector<Ref<Request>> receives;
                if (r.me() == 0) {
                    receives.push_back(irecv(*r.comm, small.data(), 10, *type, 1, 1));
                    receives.push_back(irecv(*r.comm, whole.data(), large, *type, any_source, 2));
                    receives.push_back(irecv(*r.comm, scattered.data(), 1, *gaps, 1, 3));
                }
                r.barrier();
                if (r.me() == 1) {
                    starving.await(round + 1);
                    r.send({1, 2, round}, 0, 1, Mode::synchronous);
                    r.send(sent, 0, 2);
                    p2p::send(*r.comm, Data::of(sent.data(), 1, *gaps), 0, 3, Mode::standard, "send");
                    continue;
                }
                poll_without_memory(r, static_cast<std::size_t>(round), 30, starving);
                for (auto& receive : receives) r.wait(*receive);
                EXPECT_EQ(small[2], round);
                EXPECT_EQ(whole, sent);
                EXPECT_EQ(every_second(scattered), every_second(sent));
            }
        },
        shared_wait(), Layout::alternating);
}

TEST(TcpMemory, AFailedSendCanBeRepeated) {
    std::atomic<int> failed = 0;
    Variables variables = shared_wait();
    variables.eager_network = 256 << 10;
    run(
        2,
        [&](Rank& r) {
            auto const type = TypeBuilder::predefined(Basic::int32), gaps = with_gaps();
            constexpr int repeats = 6;   // so that the system does not buffer everything immediately
            for (int round = 0; round < static_cast<int>(most); ++round) {
                std::vector<int> const sent = numbers(large, round);
                r.barrier();
                if (r.me() == 1) {
                    for (int i = 0; i < repeats; ++i) {
                        EXPECT_EQ(r.recv(large, 0, any_tag), every_second(sent));
                        EXPECT_EQ(r.recv(large, 0, any_tag), std::vector(sent.begin(), sent.begin() + 60'000));
                        EXPECT_EQ(r.recv(large, 0, 3), sent);
                    }
                    continue;
                }
                std::vector<Ref<Request>> requests;
                requests.reserve(3 * repeats);
                auto const start = [&](int n, Datatype const& of, int tag, Mode mode) {
                    auto const call = [&] { requests.push_back(isend(*r.comm, sent.data(), n, of, 1, tag, mode)); };
                    if (enough(static_cast<std::size_t>(round) / 3, call)) return;
                    ++failed;
                    call();
                };
                for (int i = 0; i < repeats; ++i) {
                    start(1, *gaps, 1, Mode::standard);
                    start(60'000, *type, 2, i % 2 == 0 ? Mode::standard : Mode::synchronous);
                    start(large, *type, 3, Mode::standard);
                    enough(0, [&] {
                        r.process.waiter.progress();
                    });   // granted messages continue when memory is available again
                }
                for (auto& request : requests) r.wait(*request);
            }
        },
        variables, Layout::alternating);
    EXPECT_GT(failed, 0);
}

/// A rank that has no memory for a message of rank 0 still receives messages of rank 2 that need none.
TEST(TcpMemory, OneStalledLinkDelaysNoOther) {
    Starving starving;
    run(
        3,
        [&](Rank& r) {
            auto const type = TypeBuilder::predefined(Basic::int32);
            std::vector<int> const some = numbers(5000, 1);
            std::vector<int> got(large);
            Ref<Request> receive;
            if (r.me() == 1) receive = irecv(*r.comm, got.data(), 5000, *type, 2, 7);
            for (int i = 0; i < 3; ++i) r.barrier();
            if (r.me() == 0) {
                starving.await(1);
                for (int i = 0; i < 20; ++i) r.send(some, 1, i);
            }
            if (r.me() == 1) {
                EXPECT_TRUE(poll_without_memory(r, 0, 1, starving));   // retains the first message
                int token = 0;
                send_bytes(*r.comm, &token, sizeof token, 2, 8, "go");
                AllocationLimit const ends(0);
                while (!receive->complete) {
                    try {
                        r.process.waiter.progress();
                    } catch (std::bad_alloc const&) { std::this_thread::yield(); }
                }
            }
            if (r.me() == 2) {
                int token = 0;
                recv_bytes(*r.comm, &token, sizeof token, 1, 8, "go");
                r.send(some, 1, 7);
            }
            if (r.me() != 1) return;
            EXPECT_EQ(std::vector(got.begin(), got.begin() + 5000), some);
            for (int i = 19; i >= 0; --i) EXPECT_EQ(r.recv(5000, 0, i), some);
        },
        shared_wait(), Layout::alternating);
}

/// Both ends of a connection during its setup, and its first messages.
TEST(TcpMemory, AConnectionIsMadeWhenMemoryIsAvailable) {
    for (int victim : {0, 1})
        for (std::size_t allowed = 0; allowed < 60; allowed += 1 + allowed / 20) {
            run(
                2,
                [&](Rank& r) {
                    std::size_t const mine = r.me() == victim ? allowed : ~std::size_t{0};
                    std::vector<int> const out = numbers(3, r.me());
                    auto const type = TypeBuilder::predefined(Basic::int32);
                    Ref<Request> request;
                    auto const call = [&] {
                        request = isend(*r.comm, out.data(), 3, *type, 1 - r.me(), 1, Mode::standard);
                        for (int i = 0; i < 30; ++i) r.process.waiter.progress();
                    };
                    enough(mine, call);
                    if (r.me() == victim) enough(allowed / 2, [&] { r.process.waiter.progress(); });
                    if (!request) request = isend(*r.comm, out.data(), 3, *type, 1 - r.me(), 1, Mode::standard);
                    EXPECT_EQ(r.recv(3, 1 - r.me(), 1), numbers(3, 1 - r.me()));
                    r.wait(*request);
                },
                shared_wait(), Layout::alternating);
        }
}

}   // namespace
}   // namespace tutti::p2p::test
