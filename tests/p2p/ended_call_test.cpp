// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls that end by an exception thrown during their progress, and sends whose completion starts or withdraws
// other sends: no message is lost, and no pointer dangles.
#include "tests/p2p/world.hpp"

#include "p2p/engine.hpp"

namespace tutti::p2p::test {
namespace {

/// Throws once in the middle of a wait.
struct Thrower : Pollable {
    Thrower(Process& process, std::function<bool()> when) : process(process), when(std::move(when)) {
        process.waiter.attach(this);
    }
    ~Thrower() override { process.waiter.detach(this); }
    bool poll() override {
        if (!thrown && when()) {
            thrown = true;
            throw std::runtime_error("thrown");
        }
        return false;
    }
    Process& process;
    std::function<bool()> when;
    bool thrown = false;
};

std::function<bool()> immediately() {
    return [] { return true; };
}

TEST(EndedCall, OfAReceiveLeavesItsMessageToTheNextReceive) {
    run(1, [](Rank& rank) {
        {
            Thrower const thrower(rank.process, immediately());
            EXPECT_THROW(rank.recv(1, 0, 5), std::runtime_error);
        }
        rank.send({42}, 0, 5);
        Status status;
        ASSERT_TRUE(iprobe(*rank.comm, 0, 5, status)) << "a receive that has ended matched it";
        EXPECT_EQ(rank.recv(1, 0, 5), std::vector{42});
    });
}

TEST(EndedCall, OfSendAndReceiveLeavesNothingBehind) {
    run(1, [](Rank& rank) {
        int const out = 42;
        int in = 0;
        Status status;
        {
            Thrower const thrower(rank.process, immediately());
            EXPECT_THROW(sendrecv(*rank.comm, Data::of_bytes(&out, sizeof out), 0, 5, Data::of_bytes(&in, sizeof in), 0,
                                  6, status, "test"),
                         std::runtime_error);
        }
        rank.send({43}, 0, 6);
        EXPECT_EQ(rank.recv(1, 0, 6), std::vector{43});
        EXPECT_EQ(rank.recv(1, 0, 5), std::vector{42});
        EXPECT_EQ(in, 0);
    });
}

class EndedCallBetweenRanks : public OnEveryLayout {};
INSTANTIATE_TEST_SUITE_P(, EndedCallBetweenRanks, every_layout, layout_name);

/// Disables direct copies: the message is sent in pieces and needs several polls.
Variables in_pieces() {
    Variables v = shared_wait();
    v.arena = v.cma = v.xpmem = false;
    return v;
}

TEST_P(EndedCallBetweenRanks, OfAReceiveInProgressWaitsForTheRest) {
    constexpr std::size_t n = 1 << 20;
    run(
        2,
        [](Rank& rank) {
            // If the whole message arrives before the receiver polls, nothing is thrown: repeat.
            for (bool thrown = false; !thrown;) {
                if (rank.me() == 1) {
                    rank.send(numbers(n, 1), 0, 5);
                    thrown = rank.recv(1, 0, 7) == std::vector{1};
                    continue;
                }
                std::vector<int> room(n, -1);
                Status status;
                try {
                    Thrower const thrower(rank.process, [&] { return room[100] != -1; });
                    p2p::recv(*rank.comm, Data::of_bytes(room.data(), n * sizeof(int)), 1, 5, status, "test");
                } catch (std::runtime_error const&) { thrown = true; }
                EXPECT_EQ(room, numbers(n, 1)) << "the caller may free the buffer";
                rank.send({thrown}, 1, 7);
            }
            if (rank.me() == 1) return rank.send({7}, 0, 6);
            EXPECT_EQ(rank.recv(1, 1, 6), std::vector{7});
        },
        in_pieces());
}

TEST_P(EndedCallBetweenRanks, OfASendWithdrawsIt) {
    run(2, [](Rank& rank) {
        if (rank.me() == 0) {
            Thrower const thrower(rank.process, immediately());
            EXPECT_THROW(rank.send(numbers(1 << 20, 1), 1, 5), std::runtime_error);
        }
        rank.barrier();
        if (rank.me() == 0) return rank.send({7}, 1, 5);
        EXPECT_EQ(rank.recv(1, 0, 5), std::vector{7});
    });
}

/// A send that starts another one when it completes.
struct Chained : Send {
    static void next(Send& op) {
        auto& self = static_cast<Chained&>(op);
        if (self.follower) self.engine->begin(*self.follower);
    }
    Engine* engine = nullptr;
    Send* follower = nullptr;
};

TEST(Line, ASendStartedByTheCompletionOfTheLastQueuedSendIsNotLost) {
    World world(2, Layout::one_node, shared_wait());
    Engine &from = engine(world.all[0]->process), &to = engine(world.all[1]->process);
    std::deque<Chained> sends;
    auto make = [&]() -> Chained& {
        Chained& op = sends.emplace_back();
        op.key = {7, 0, 5};
        op.peer = 1;
        op.engine = &from;
        op.finished = Chained::next;
        return op;
    };
    do from.begin(make());
    while (sends.back().done);   // until the ring is full
    Chained& last = sends.back();
    last.follower = &make();
    while (to.poll()) {}
    while (from.poll()) {}
    EXPECT_TRUE(last.done);
    EXPECT_TRUE(last.follower->done);
    EXPECT_TRUE(from.idle());
    while (to.poll()) {}
    std::size_t came = 0;
    for (; Unexpected* m = to.find({7, 0, 5}); ++came) Unexpected::destroy(to.dequeue(m));
    EXPECT_EQ(came, sends.size());
}

}   // namespace
}   // namespace tutti::p2p::test
