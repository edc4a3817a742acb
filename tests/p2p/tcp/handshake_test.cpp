// SPDX-License-Identifier: BSD-3-Clause
// The handshake that authenticates a connection: which peers it accepts, and that it refuses all others.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "p2p/tcp/handshake.hpp"

namespace tutti::p2p::tcp {
namespace {

using State = Handshake::State;
using Bytes = std::vector<std::byte>;

JobKey key(int seed = 1) {
    JobKey k{};
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = static_cast<std::byte>(i * 3 + static_cast<std::size_t>(seed));
    return k;
}

/// Removes and returns the bytes that one side has to send.
Bytes output_of(Handshake& h) { return std::exchange(h.out, {}); }

void receive(Handshake& h, Bytes const& bytes) {
    std::span<std::byte const> in(bytes);
    while (!in.empty() && h.wanted() != 0) {
        std::size_t const n = std::min(h.wanted(), in.size());
        h.consume(in.first(n));
        in = in.subspan(n);
    }
}

/// A handshake between ranks 3 and 5 of 8, driven to a given step; the caller selects the rank that it connects to.
struct Pair {
    explicit Pair(JobKey const& callers = key(), JobKey const& calleds = key(), int wanted = 5, int reached = 5)
        : caller(Handshake::initiator(callers, 3, wanted)), called(Handshake::responder(calleds, reached, 8)) {}
    void to_challenge() {
        receive(called, hello = output_of(caller));
        receive(caller, challenge = output_of(called));
    }
    void to_proof() {
        to_challenge();
        caller.prove();
        receive(called, proof = output_of(caller));
    }
    void to_the_end() {
        to_proof();
        called.welcome();
        receive(caller, welcome = output_of(called));
    }
    Handshake caller, called;
    Bytes hello, challenge, proof, welcome;
};

TEST(Handshake, BothEndsOfOneJobAgree) {
    Pair p;
    EXPECT_EQ(p.called.peer(), -1);
    p.to_challenge();
    EXPECT_EQ(p.caller.state(), State::challenged);
    EXPECT_EQ(p.called.state(), State::waiting);
    p = Pair();
    p.to_proof();
    EXPECT_EQ(p.called.state(), State::proven);
    EXPECT_EQ(p.called.peer(), 3);
    EXPECT_EQ(p.caller.state(), State::waiting);
    p = Pair();
    p.to_the_end();
    EXPECT_EQ(p.called.state(), State::done);
    EXPECT_EQ(p.caller.state(), State::done);
    EXPECT_EQ(p.caller.wanted(), 0u);
    EXPECT_EQ(p.called.wanted(), 0u);
}

TEST(Handshake, WorksByteByByte) {
    Pair p;
    for (std::byte b : output_of(p.caller)) {
        EXPECT_GT(p.called.wanted(), 0u);
        p.called.consume({&b, 1});
    }
    for (std::byte b : output_of(p.called)) p.caller.consume({&b, 1});
    EXPECT_EQ(p.caller.state(), State::challenged);
}

TEST(Handshake, AnotherJobsKeyIsRefusedAfterTheFirstSegment) {
    Pair p(key(1), key(2));
    p.to_challenge();
    EXPECT_EQ(p.called.state(), State::refused);
    EXPECT_STREQ(p.called.error(), "it does not know this job's key");
    EXPECT_EQ(p.called.peer(), -1);
    EXPECT_TRUE(p.challenge.empty());
}

TEST(Handshake, ACallerWithoutTheKeyIsRefused) {
    Pair p;
    p.to_challenge();
    receive(p.called, Bytes(32));
    EXPECT_EQ(p.called.state(), State::refused);
    EXPECT_TRUE(p.called.out.empty());
}

TEST(Handshake, AnotherRankDoesNotAnswer) {
    Pair p(key(), key(), 5, 4);
    p.to_challenge();
    EXPECT_EQ(p.called.state(), State::refused);
    EXPECT_STREQ(p.called.error(), "it requested another rank");
    EXPECT_EQ(p.caller.state(), State::waiting);
}

TEST(Handshake, InvalidRanksAreRefused) {
    for (int rank : {-1, 5, 8, 1 << 30}) {
        Handshake caller = Handshake::initiator(key(), rank, 5), called = Handshake::responder(key(), 5, 8);
        receive(called, output_of(caller));
        EXPECT_EQ(called.state(), State::refused) << rank;
    }
}

TEST(Handshake, AProofIsInvalidOnAnotherConnection) {
    Pair before;
    before.to_the_end();
    Handshake called = Handshake::responder(key(), 5, 8);
    receive(called, before.hello);
    EXPECT_NE(output_of(called), before.challenge);   // a new nonce
    receive(called, before.proof);
    EXPECT_EQ(called.state(), State::refused);
    Handshake caller = Handshake::initiator(key(), 3, 5);
    receive(caller, before.challenge);
    EXPECT_EQ(caller.state(), State::refused);
}

TEST(Handshake, AReflectedProofIsInvalid) {
    // Rank 3 connects; the stranger asks rank 3 itself, with the same nonce, for the answers.
    Handshake caller = Handshake::initiator(key(), 3, 5), itself = Handshake::responder(key(), 3, 8);
    Bytes hello = output_of(caller);
    std::swap(hello[8], hello[12]);   // "rank 5 calls rank 3"
    receive(itself, hello);
    EXPECT_EQ(itself.state(), State::refused);
    EXPECT_TRUE(output_of(itself).empty());
    // Its own challenge as proof.
    Pair p;
    p.to_challenge();
    receive(p.called, Bytes(p.challenge.begin() + 32, p.challenge.end()));
    EXPECT_EQ(p.called.state(), State::refused);
    // Its own proof as welcome.
    Pair q;
    q.to_proof();
    receive(q.caller, q.proof);
    EXPECT_EQ(q.caller.state(), State::refused);
}

TEST(Handshake, EveryFlippedBitIsDetected) {
    std::mt19937 random(5);
    for (int step = 0; step < 4; ++step)
        for (int i = 0; i < 300; ++i) {
            Pair p;
            auto flip = [&](Bytes bytes, bool now) {
                if (now) bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
                return bytes;
            };
            receive(p.called, flip(output_of(p.caller), step == 0));
            receive(p.caller, flip(output_of(p.called), step == 1));
            if (p.caller.state() == State::challenged) {
                p.caller.prove();
                receive(p.called, flip(output_of(p.caller), step == 2));
            }
            if (p.called.state() == State::proven) {
                p.called.welcome();
                receive(p.caller, flip(output_of(p.called), step == 3));
            }
            EXPECT_NE(p.caller.state(), State::done) << "step " << step;
        }
}

TEST(Handshake, GarbageGetsNoAnswer) {
    std::mt19937 random(6);
    for (int i = 0; i < 2000; ++i) {
        Handshake called = Handshake::responder(key(), 5, 8);
        Bytes garbage(called.wanted());
        for (std::byte& b : garbage) b = static_cast<std::byte>(random());
        receive(called, garbage);
        ASSERT_EQ(called.state(), State::refused);
        ASSERT_TRUE(called.out.empty());
        ASSERT_EQ(called.wanted(), 0u);
    }
}

}   // namespace
}   // namespace tutti::p2p::tcp
