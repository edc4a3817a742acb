// SPDX-License-Identifier: BSD-3-Clause
// Handshakes: who gets in, and everybody who does not.
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

/// What one side has to say.
Bytes said(Handshake& h) { return std::exchange(h.out, {}); }

void hear(Handshake& h, Bytes const& bytes) {
    std::span<std::byte const> in(bytes);
    while (!in.empty() && h.wanted() != 0) {
        std::size_t const n = std::min(h.wanted(), in.size());
        h.take(in.first(n));
        in = in.subspan(n);
    }
}

/// Ranks 3 and 5 of 8 in the middle of it: the caller knows whom it has reached.
struct Pair {
    explicit Pair(JobKey const& callers = key(), JobKey const& calleds = key(), int wanted = 5, int reached = 5)
        : caller(Handshake::caller(callers, 3, wanted)), called(Handshake::called(calleds, reached, 8)) {}
    void to_challenge() {
        hear(called, hello = said(caller));
        hear(caller, challenge = said(called));
    }
    void to_proof() {
        to_challenge();
        caller.prove();
        hear(called, proof = said(caller));
    }
    void to_the_end() {
        to_proof();
        called.welcome();
        hear(caller, welcome = said(called));
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

TEST(Handshake, GoesByteByByteToo) {
    Pair p;
    for (std::byte b : said(p.caller)) {
        EXPECT_GT(p.called.wanted(), 0u);
        p.called.take({&b, 1});
    }
    for (std::byte b : said(p.called)) p.caller.take({&b, 1});
    EXPECT_EQ(p.caller.state(), State::challenged);
}

TEST(Handshake, AnotherJobsKeyIsFoundOutFromTheFirstSegment) {
    Pair p(key(1), key(2));
    p.to_challenge();
    EXPECT_EQ(p.called.state(), State::refused);
    EXPECT_STREQ(p.called.complaint(), "it does not know this job's key");
    EXPECT_EQ(p.called.peer(), -1);
    EXPECT_TRUE(p.challenge.empty());
}

TEST(Handshake, ACallerWithoutTheKeyIsRefused) {
    Pair p;
    p.to_challenge();
    hear(p.called, Bytes(32));
    EXPECT_EQ(p.called.state(), State::refused);
    EXPECT_TRUE(p.called.out.empty());
}

TEST(Handshake, TheWrongRankDoesNotAnswer) {
    Pair p(key(), key(), 5, 4);
    p.to_challenge();
    EXPECT_EQ(p.called.state(), State::refused);
    EXPECT_STREQ(p.called.complaint(), "it wants another rank");
    EXPECT_EQ(p.caller.state(), State::waiting);
}

TEST(Handshake, RanksThatCannotBeAreRefused) {
    for (int rank : {-1, 5, 8, 1 << 30}) {
        Handshake caller = Handshake::caller(key(), rank, 5), called = Handshake::called(key(), 5, 8);
        hear(called, said(caller));
        EXPECT_EQ(called.state(), State::refused) << rank;
    }
}

TEST(Handshake, WhatOneConnectionProvedIsWorthNothingOnAnother) {
    Pair before;
    before.to_the_end();
    Handshake called = Handshake::called(key(), 5, 8);
    hear(called, before.hello);
    EXPECT_NE(said(called), before.challenge);   // a nonce of its own
    hear(called, before.proof);
    EXPECT_EQ(called.state(), State::refused);
    Handshake caller = Handshake::caller(key(), 3, 5);
    hear(caller, before.challenge);
    EXPECT_EQ(caller.state(), State::refused);
}

TEST(Handshake, WhatIsSentBackToWhereItCameFromIsWorthNothing) {
    // Rank 3 calls; the stranger uses rank 3 itself, called with the same nonce, to find the answers.
    Handshake caller = Handshake::caller(key(), 3, 5), itself = Handshake::called(key(), 3, 8);
    Bytes hello = said(caller);
    std::swap(hello[8], hello[12]);   // "rank 5 calls rank 3"
    hear(itself, hello);
    EXPECT_EQ(itself.state(), State::refused);
    EXPECT_TRUE(said(itself).empty());
    // Its own challenge as proof.
    Pair p;
    p.to_challenge();
    hear(p.called, Bytes(p.challenge.begin() + 32, p.challenge.end()));
    EXPECT_EQ(p.called.state(), State::refused);
    // Its own proof as welcome.
    Pair q;
    q.to_proof();
    hear(q.caller, q.proof);
    EXPECT_EQ(q.caller.state(), State::refused);
}

TEST(Handshake, EveryFlippedBitIsNoticed) {
    std::mt19937 random(5);
    for (int step = 0; step < 4; ++step)
        for (int i = 0; i < 300; ++i) {
            Pair p;
            auto flip = [&](Bytes bytes, bool now) {
                if (now) bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
                return bytes;
            };
            hear(p.called, flip(said(p.caller), step == 0));
            hear(p.caller, flip(said(p.called), step == 1));
            if (p.caller.state() == State::challenged) {
                p.caller.prove();
                hear(p.called, flip(said(p.caller), step == 2));
            }
            if (p.called.state() == State::proven) {
                p.called.welcome();
                hear(p.caller, flip(said(p.called), step == 3));
            }
            EXPECT_NE(p.caller.state(), State::done) << "step " << step;
        }
}

TEST(Handshake, GarbageOfAnyKindGetsNoAnswer) {
    std::mt19937 random(6);
    for (int i = 0; i < 2000; ++i) {
        Handshake called = Handshake::called(key(), 5, 8);
        Bytes garbage(called.wanted());
        for (std::byte& b : garbage) b = static_cast<std::byte>(random());
        hear(called, garbage);
        ASSERT_EQ(called.state(), State::refused);
        ASSERT_TRUE(called.out.empty());
        ASSERT_EQ(called.wanted(), 0u);
    }
}

}   // namespace
}   // namespace tutti::p2p::tcp
