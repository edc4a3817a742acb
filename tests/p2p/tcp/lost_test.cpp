// SPDX-License-Identifier: BSD-3-Clause
// Ranks that vanish or do not behave: what waits for them fails with a sentence, and nothing hangs.
#include <gmock/gmock.h>

#include <optional>

#include <unistd.h>

#include "tests/p2p/tcp/stranger.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using tcp::Frame;
using tcp::FrameKind;
using testing::HasSubstr;

/// Rank 0 of two, each on a node of its own. Rank 1 is whatever the test makes of it.
struct Half {
    Half() : listeners{listen_on_loopback(), {}}, map(cluster_of(Layout::alternating, 2, 0, listeners)) {
        segment.emplace(Segment::create(1, {}, {}, map.to_text()));
        rank = std::make_unique<Rank>(*segment, 0, shared_wait(), map, listeners[0].descriptors);
    }
    std::vector<Listener> listeners;
    Cluster map;
    std::optional<Segment> segment;
    std::unique_ptr<Rank> rank;
};

/// Rank 0 runs `body` here while a stranger who has proven to be rank 1 does `other`.
void with_a_bad_rank(std::function<void(Rank&)> const& body, std::function<void(Stranger&)> const& other) {
    Half half;
    std::thread thread([&] {
        Stranger s(half.listeners[0].port);
        ASSERT_TRUE(s.shake_hands(half.map.key(), 1, 0));
        other(s);
    });
    body(*half.rank);
    half.rank.reset();   // hangs up
    thread.join();
}

std::string sentence_of(std::function<void()> const& call) {
    try {
        call();
        return "";
    } catch (Error const& e) {
        EXPECT_EQ(e.error_class, ErrorClass::other);
        return e.what();
    }
}

Frame message(int tag, std::size_t bytes, std::uint64_t number = 0) {
    return {.kind = FrameKind::eager, .context = 7, .source = 1, .tag = tag, .length = bytes, .number = number};
}

char const* const closed = "the connection to rank 1 on second broke: the other end has closed it";

TEST(Lost, InTheMiddleOfAMessage) {
    for (bool posted : {true, false})
        with_a_bad_rank(
            [&](Rank& r) {
                if (!posted) {   // the message begins before its receive
                    Status s;
                    while (!iprobe(*r.comm, 1, 1, s)) {}
                }
                EXPECT_EQ(sentence_of([&] { r.recv(1000, 1, 3); }), closed);
            },
            [](Stranger& s) {
                s.say(message(1, 0));
                s.say(message(3, 4000));
                s.say("a part of it");
            });
}

TEST(Lost, WhateverWaitsForItFails) {
    with_a_bad_rank(
        [](Rank& r) {
            auto type = TypeBuilder::predefined(Basic::int32);
            std::vector<int> large(100'000), in(10), any(10), fine(10);
            std::vector<Ref<Request>> requests = {isend(*r.comm, large.data(), 100'000, *type, 1, 1, Mode::standard),
                                                  isend(*r.comm, large.data(), 1, *type, 1, 1, Mode::synchronous),
                                                  irecv(*r.comm, in.data(), 10, *type, 1, 5),
                                                  irecv(*r.comm, any.data(), 10, *type, any_source, 6)};
            auto own = irecv(*r.comm, fine.data(), 10, *type, 0, 7);
            for (auto& q : requests) {
                r.wait(*q);
                EXPECT_EQ(q->status.error, ErrorClass::other);
                EXPECT_EQ(q->error_text, closed);
            }
            r.send({1, 2}, 0, 7);   // what does not concern it goes on
            r.wait(*own);
            EXPECT_EQ(own->status.error, ErrorClass::success);
        },
        [](Stranger& s) { EXPECT_EQ(s.hear_frame().kind, FrameKind::offer); });
}

/// Receives from any rank may have waited for it, but those of services always wait for others as well.
TEST(Lost, ReceivesThatWaitForItLeaveTheirQueues) {
    Half half;
    p2p::Matching matching(half.rank->process);
    std::string const sentence = "rank 1 is lost";
    std::vector<Receive> receives(6);
    for (std::size_t i = 0; i < receives.size(); ++i) {
        receives[i].peer = std::vector{1, 0, any_source}[i % 3];
        receives[i].key = {7 | (i < 3 ? 0 : service_context), receives[i].peer, any_tag};
        matching.post(receives[i]);
    }
    EXPECT_THAT(matching.lose(1, sentence), testing::UnorderedElementsAre(&receives[0], &receives[2], &receives[3]));
    EXPECT_EQ(matching.loss(1), &sentence);
    EXPECT_EQ(matching.loss(0), nullptr);
    EXPECT_EQ(matching.loss(any_source), &sentence);
    for (std::size_t i : {1u, 4u, 5u}) EXPECT_EQ(matching.match({receives[i].key.context, 0, 3}, 0, {}), &receives[i]);
}

TEST(Lost, WhatIsBegunLaterFailsAtOnceButWhatHasComeIsThere) {
    with_a_bad_rank(
        [](Rank& r) {
            EXPECT_EQ(sentence_of([&] { r.recv(10, 1, 9); }), closed);
            EXPECT_EQ(sentence_of([&] { r.recv(10, any_source, 9); }), closed);
            EXPECT_EQ(sentence_of([&] { r.send({1}, 1, 9); }), closed);
            EXPECT_EQ(sentence_of([&] { r.send({1}, 1, 9, Mode::synchronous); }), closed);
            Status s;
            EXPECT_EQ(sentence_of([&] { probe(*r.comm, 1, 9, s, "probe"); }), closed);
            EXPECT_EQ(sentence_of([&] { iprobe(*r.comm, any_source, 9, s); }), closed);
            EXPECT_EQ(sentence_of([&] { r.recv(10, 1, 2); }), closed);   // was only offered
            EXPECT_EQ(r.recv(1, 1, 1).size(), 1u);
        },
        [](Stranger& s) {
            s.say(message(1, 4));
            s.say("1234");
            s.say(Frame{.kind = FrameKind::offer, .context = 7, .source = 1, .tag = 2, .length = 10, .id = 1});
        });
}

TEST(Lost, DuringAGrantedMessage) {
    with_a_bad_rank(
        [](Rank& r) { EXPECT_EQ(sentence_of([&] { r.recv(100'000, 1, 2); }), closed); },
        [](Stranger& s) {
            s.say(Frame{.kind = FrameKind::offer, .context = 7, .source = 1, .tag = 2, .length = 400'000, .id = 9});
            Frame const grant = s.hear_frame();
            EXPECT_EQ(grant.kind, FrameKind::grant);
            EXPECT_EQ(grant.id, 9u);
            EXPECT_EQ(grant.length, 400'000u);
            s.say(Frame{.kind = FrameKind::data, .length = 1000, .id = grant.number});
            s.say(std::vector<std::byte>(1000));
        });
}

TEST(Lost, WhileItsOfferIsBeingSent) {
    with_a_bad_rank([](Rank& r) { EXPECT_EQ(sentence_of([&] { r.send(numbers(10'000'000, 1), 1, 2); }), closed); },
                    [](Stranger& s) {
                        Frame const offer = s.hear_frame();
                        s.say(Frame{.kind = FrameKind::grant, .length = offer.length, .id = offer.id, .number = 1});
                        s.hear(100'000);
                    });
}

TEST(Lost, AGoodbyeIsNoLoss) {
    with_a_bad_rank(
        [](Rank& r) {
            EXPECT_EQ(r.recv(1, 1, 1).size(), 1u);
            leave(r.process, "leave");
        },
        [](Stranger& s) {
            s.say(message(1, 4));
            s.say("1234");
            s.say(Frame{.kind = FrameKind::bye});
            EXPECT_EQ(s.hear_frame().kind, FrameKind::bye);
            s.hear_the_end();
        });
}

struct Offence {
    char const* sentence;
    std::vector<Frame> frames;
};

/// Each of them is a good frame by itself, but not now.
std::vector<Offence> offences() {
    std::vector<Offence> all = {
        {"data for a receive that is not there", {{.kind = FrameKind::data, .length = 5, .id = 1ULL << 32}}},
        {"data for a receive that is not there", {{.kind = FrameKind::data, .length = 5, .id = ~0ULL}}},
        {"a grant for a message that was not offered",
         {{.kind = FrameKind::grant, .length = 5, .id = 1ULL << 32, .number = 1}}},
        {"an answer to a message that was not sent", {{.kind = FrameKind::done, .id = 1ULL << 32}}},
        {"an answer to a question that was not asked", {{.kind = FrameKind::cancelled, .id = 1ULL << 32}}},
        {"an answer to a question that was not asked", {{.kind = FrameKind::not_cancelled, .id = 7}}},
        {"credit for more than was sent", {{.kind = FrameKind::credit, .matched = 1}}},
        {"credit for more than was sent", {{.kind = FrameKind::credit, .matched = ~0u}}},
        {"a frame came after the goodbye", {{.kind = FrameKind::bye}, {.kind = FrameKind::credit}}},
    };
    all.push_back({"more messages than there was credit for", {}});
    for (std::uint64_t i = 0; i < 40'000; ++i) all.back().frames.push_back(message(2, 0, i));
    return all;
}

TEST(Offence, EndsTheConnectionWithASentence) {
    for (Offence const& o : offences())
        with_a_bad_rank(
            [&](Rank& r) {
                EXPECT_EQ(sentence_of([&] { r.recv(1, 1, 1); }),
                          std::string("the connection to rank 1 on second broke: ") + o.sentence);
            },
            [&](Stranger& s) {
                for (Frame const& f : o.frames)
                    if (!s.say(f)) break;
                s.hear_the_end();
            });
}

TEST(Offence, MoreThanWasGrantedOrOffered) {
    with_a_bad_rank(
        [](Rank& r) { EXPECT_THAT(sentence_of([&] { r.recv(10, 1, 2); }), HasSubstr("more data than was asked for")); },
        [](Stranger& s) {
            s.say(Frame{.kind = FrameKind::offer, .context = 7, .source = 1, .tag = 2, .length = 400, .id = 9});
            Frame const grant = s.hear_frame();
            EXPECT_EQ(grant.length, 40u);   // what there is room for
            s.say(Frame{.kind = FrameKind::data, .length = 41, .id = grant.number});
            s.hear_the_end();
        });
    with_a_bad_rank(
        [](Rank& r) {
            EXPECT_THAT(sentence_of([&] { r.send(numbers(100'000, 1), 1, 2); }),
                        HasSubstr("a grant of more than was offered"));
        },
        [](Stranger& s) {
            Frame const offer = s.hear_frame();
            s.say(Frame{.kind = FrameKind::grant, .length = offer.length + 1, .id = offer.id, .number = 1});
            s.hear_the_end();
        });
}

TEST(Unreachable, RankIsASentenceWithItsAddresses) {
    Half half;
    Listener const gone = listen_on_loopback();   // a port on which nobody listens any more
    for (int descriptor : gone.descriptors) close(descriptor);
    half.listeners[1].port = gone.port;
    Cluster const map = cluster_of(Layout::alternating, 2, 0, half.listeners);
    Segment segment = Segment::create(1, {}, {}, map.to_text());
    Rank rank(segment, 0, shared_wait(), map);
    EXPECT_EQ(sentence_of([&] { rank.send(numbers(50'000, 1), 1, 1); }),
              join("no connection to rank 1 on second, port ", gone.port, ": 127.0.0.1: Connection refused"));
}

}   // namespace
}   // namespace tutti::p2p::test
