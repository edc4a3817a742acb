// SPDX-License-Identifier: BSD-3-Clause
// Ranks that vanish or violate the protocol: operations that depend on them fail with an error, and no rank hangs.
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

/// Rank 0 of two ranks on one node each. The test plays rank 1.
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

/// Runs `body` as rank 0 while a raw peer, authenticated as rank 1, runs `other`.
void with_raw_peer(std::function<void(Rank&)> const& body, std::function<void(RawPeer&)> const& other) {
    Half half;
    std::thread thread([&] {
        RawPeer s(half.listeners[0].port);
        ASSERT_TRUE(s.handshake(half.map.key(), 1, 0));
        other(s);
    });
    body(*half.rank);
    half.rank.reset();   // closes the connection
    thread.join();
}

std::string failure_of(std::function<void()> const& call) {
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

TEST(Lost, DuringAMessage) {
    for (bool posted : {true, false})
        with_raw_peer(
            [&](Rank& r) {
                if (!posted) {   // the message arrives before its receive is posted
                    Status s;
                    while (!iprobe(*r.comm, 1, 1, s)) {}
                }
                EXPECT_EQ(failure_of([&] { r.recv(1000, 1, 3); }), closed);
            },
            [](RawPeer& s) {
                s.send(message(1, 0));
                s.send(message(3, 4000));
                s.send("a part of it");
            });
}

TEST(Lost, FailsPendingOperations) {
    with_raw_peer(
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
            r.send({1, 2}, 0, 7);   // operations without rank 1 continue
            r.wait(*own);
            EXPECT_EQ(own->status.error, ErrorClass::success);
        },
        [](RawPeer& s) { EXPECT_EQ(s.receive_frame().kind, FrameKind::offer); });
}

/// Receives from any source may depend on the lost rank; those of internal services never depend on one rank only.
TEST(Lost, RemovesItsReceivesFromTheirQueues) {
    Half half;
    p2p::Matching matching(half.rank->process);
    std::string const reason = "rank 1 is lost";
    std::vector<Receive> receives(6);
    for (std::size_t i = 0; i < receives.size(); ++i) {
        receives[i].peer = std::vector{1, 0, any_source}[i % 3];
        receives[i].key = {7 | (i < 3 ? 0 : service_context), receives[i].peer, any_tag};
        matching.post(receives[i]);
    }
    EXPECT_THAT(matching.mark_lost(1, reason), testing::UnorderedElementsAre(&receives[0], &receives[2], &receives[3]));
    EXPECT_EQ(matching.loss_reason(1), &reason);
    EXPECT_EQ(matching.loss_reason(0), nullptr);
    EXPECT_EQ(matching.loss_reason(any_source), &reason);
    for (std::size_t i : {1u, 4u, 5u}) EXPECT_EQ(matching.match({receives[i].key.context, 0, 3}, 0, {}), &receives[i]);
}

TEST(Lost, LaterOperationsFailImmediatelyButArrivedMessagesRemain) {
    with_raw_peer(
        [](Rank& r) {
            EXPECT_EQ(failure_of([&] { r.recv(10, 1, 9); }), closed);
            EXPECT_EQ(failure_of([&] { r.recv(10, any_source, 9); }), closed);
            EXPECT_EQ(failure_of([&] { r.send({1}, 1, 9); }), closed);
            EXPECT_EQ(failure_of([&] { r.send({1}, 1, 9, Mode::synchronous); }), closed);
            Status s;
            EXPECT_EQ(failure_of([&] { probe(*r.comm, 1, 9, s, "probe"); }), closed);
            EXPECT_EQ(failure_of([&] { iprobe(*r.comm, any_source, 9, s); }), closed);
            EXPECT_EQ(failure_of([&] { r.recv(10, 1, 2); }), closed);   // this message was only offered
            EXPECT_EQ(r.recv(1, 1, 1).size(), 1u);
        },
        [](RawPeer& s) {
            s.send(message(1, 4));
            s.send("1234");
            s.send(Frame{.kind = FrameKind::offer, .context = 7, .source = 1, .tag = 2, .length = 10, .id = 1});
        });
}

TEST(Lost, DuringAGrantedMessage) {
    with_raw_peer(
        [](Rank& r) { EXPECT_EQ(failure_of([&] { r.recv(100'000, 1, 2); }), closed); },
        [](RawPeer& s) {
            s.send(Frame{.kind = FrameKind::offer, .context = 7, .source = 1, .tag = 2, .length = 400'000, .id = 9});
            Frame const grant = s.receive_frame();
            EXPECT_EQ(grant.kind, FrameKind::grant);
            EXPECT_EQ(grant.id, 9u);
            EXPECT_EQ(grant.length, 400'000u);
            s.send(Frame{.kind = FrameKind::data, .length = 1000, .id = grant.number});
            s.send(std::vector<std::byte>(1000));
        });
}

TEST(Lost, DuringTheSendOfAGrantedMessage) {
    with_raw_peer([](Rank& r) { EXPECT_EQ(failure_of([&] { r.send(numbers(10'000'000, 1), 1, 2); }), closed); },
                  [](RawPeer& s) {
                      Frame const offer = s.receive_frame();
                      s.send(Frame{.kind = FrameKind::grant, .length = offer.length, .id = offer.id, .number = 1});
                      s.receive(100'000);
                  });
}

TEST(Lost, NotByAShutdown) {
    with_raw_peer(
        [](Rank& r) {
            EXPECT_EQ(r.recv(1, 1, 1).size(), 1u);
            shut_down(r.process, "leave");
        },
        [](RawPeer& s) {
            s.send(message(1, 4));
            s.send("1234");
            s.send(Frame{.kind = FrameKind::shutdown});
            EXPECT_EQ(s.receive_frame().kind, FrameKind::shutdown);
            s.expect_closed();
        });
}

struct Violation {
    char const* reason;
    std::vector<Frame> frames;
};

/// Each frame is valid by itself, but not in this state.
std::vector<Violation> violations() {
    std::vector<Violation> all = {
        {"data for an unknown receive", {{.kind = FrameKind::data, .length = 5, .id = 1ULL << 32}}},
        {"data for an unknown receive", {{.kind = FrameKind::data, .length = 5, .id = ~0ULL}}},
        {"a grant for a message that was not offered",
         {{.kind = FrameKind::grant, .length = 5, .id = 1ULL << 32, .number = 1}}},
        {"an answer to an unknown message", {{.kind = FrameKind::done, .id = 1ULL << 32}}},
        {"an answer to a cancellation that was not requested", {{.kind = FrameKind::cancelled, .id = 1ULL << 32}}},
        {"an answer to a cancellation that was not requested", {{.kind = FrameKind::not_cancelled, .id = 7}}},
        {"credit for more bytes than were sent", {{.kind = FrameKind::credit, .matched = 1}}},
        {"credit for more bytes than were sent", {{.kind = FrameKind::credit, .matched = ~0u}}},
        {"a frame arrived after the shutdown frame", {{.kind = FrameKind::shutdown}, {.kind = FrameKind::credit}}},
    };
    all.push_back({"more messages than its credit permits", {}});
    for (std::uint64_t i = 0; i < 40'000; ++i) all.back().frames.push_back(message(2, 0, i));
    return all;
}

TEST(ProtocolViolation, EndsTheConnectionWithAnError) {
    for (Violation const& o : violations())
        with_raw_peer(
            [&](Rank& r) {
                EXPECT_EQ(failure_of([&] { r.recv(1, 1, 1); }),
                          std::string("the connection to rank 1 on second broke: ") + o.reason);
            },
            [&](RawPeer& s) {
                for (Frame const& f : o.frames)
                    if (!s.send(f)) break;
                s.expect_closed();
            });
}

TEST(ProtocolViolation, MoreThanWasGrantedOrOffered) {
    with_raw_peer(
        [](Rank& r) { EXPECT_THAT(failure_of([&] { r.recv(10, 1, 2); }), HasSubstr("more data than was requested")); },
        [](RawPeer& s) {
            s.send(Frame{.kind = FrameKind::offer, .context = 7, .source = 1, .tag = 2, .length = 400, .id = 9});
            Frame const grant = s.receive_frame();
            EXPECT_EQ(grant.length, 40u);   // the room of the receive
            s.send(Frame{.kind = FrameKind::data, .length = 41, .id = grant.number});
            s.expect_closed();
        });
    with_raw_peer(
        [](Rank& r) {
            EXPECT_THAT(failure_of([&] { r.send(numbers(100'000, 1), 1, 2); }),
                        HasSubstr("a grant for more bytes than were offered"));
        },
        [](RawPeer& s) {
            Frame const offer = s.receive_frame();
            s.send(Frame{.kind = FrameKind::grant, .length = offer.length + 1, .id = offer.id, .number = 1});
            s.expect_closed();
        });
}

TEST(Unreachable, RankIsAnErrorWithItsAddresses) {
    Half half;
    Listener const gone = listen_on_loopback();   // a port without a listener
    for (int descriptor : gone.descriptors) close(descriptor);
    half.listeners[1].port = gone.port;
    Cluster const map = cluster_of(Layout::alternating, 2, 0, half.listeners);
    Segment segment = Segment::create(1, {}, {}, map.to_text());
    Rank rank(segment, 0, shared_wait(), map);
    EXPECT_EQ(failure_of([&] { rank.send(numbers(50'000, 1), 1, 1); }),
              join("no connection to rank 1 on second, port ", gone.port, ": 127.0.0.1: Connection refused"));
}

}   // namespace
}   // namespace tutti::p2p::test
