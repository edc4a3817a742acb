// SPDX-License-Identifier: BSD-3-Clause
// What ranks know of each other by messages and collectives, and what a message says of its send.
#include "p2p/check/order.hpp"

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

TEST(Order, GoesOnFromMessageToMessage) {
    Order a(3, 0), b(3, 1), c(3, 2);
    std::uint32_t const event = a.tick();
    b.learn(a.clock(), false);
    b.tick();
    c.learn(b.clock(), false);
    EXPECT_EQ(c.clock(), (Order::Clock{event, 1, 0}));
    EXPECT_EQ(a.heard_of(), 0u);
    a.learn(c.clock(), false);
    EXPECT_EQ(a.heard_of(), event);
    EXPECT_EQ(a.lessons(), 1u);
}

TEST(Order, IsUncertainBehindWhatIsNotFollowedAndWhatIsUncertain) {
    Order a(2, 0), b(2, 1);
    a.become_uncertain();
    b.learn(a.clock(), a.is_uncertain());
    EXPECT_TRUE(b.is_uncertain());
    Order other(2, 0);
    other.learn(std::vector<std::uint32_t>{}, false);   // of a sender whose note was too large
    EXPECT_TRUE(other.is_uncertain());
}

/// `members` of the ranks meet in a collective.
void meet(std::vector<Order*> const& ranks, std::vector<int> const& members, std::vector<int> const& outsiders) {
    std::vector<std::uint32_t> all;
    for (int const m : members)
        for (std::uint32_t const word : ranks[static_cast<std::size_t>(m)]->to_members(outsiders)) all.push_back(word);
    for (int const m : members) ranks[static_cast<std::size_t>(m)]->meet(members, outsiders, all);
}

TEST(Order, MembersOfACollectiveKnowWhatAnyOfThemKnew) {
    Order a(4, 0), b(4, 1), c(4, 2), d(4, 3);
    std::vector<Order*> const ranks{&a, &b, &c, &d};
    std::uint32_t const event = d.tick();
    a.learn(d.clock(), false);
    b.become_uncertain();
    meet(ranks, {0, 1, 2}, {3});
    for (Order const* one : {&a, &b, &c}) {
        EXPECT_EQ(one->clock()[3], event);
        EXPECT_EQ(one->clock()[0], a.now());
        EXPECT_TRUE(one->is_uncertain());
    }
    EXPECT_EQ(d.clock()[0], 0u);
    meet(ranks, {0, 1, 2, 3}, {});
    for (Order const* one : ranks) {
        EXPECT_FALSE(one->is_uncertain());
        EXPECT_EQ(one->clock(), a.clock());
    }
}

TEST(SentNote, ThereAndBack) {
    SentNote const sent{3, 7, true, false, 0x123456789a, "MPI_Isendrecv_replace", {1, 2, 3, 7}};
    SentNote const back = SentNote::from_bytes(sent.to_bytes());
    EXPECT_EQ(back.rank, sent.rank);
    EXPECT_EQ(back.number, sent.number);
    EXPECT_EQ(back.synchronous, sent.synchronous);
    EXPECT_EQ(back.uncertain, sent.uncertain);
    EXPECT_EQ(back.site, sent.site);
    EXPECT_EQ(back.call, sent.call);
    EXPECT_EQ(back.clock, sent.clock);
}

class Notes : public OnEveryLayout {};
INSTANTIATE_TEST_SUITE_P(Layouts, Notes, every_layout, layout_name);

/// More than a ring has cells for, of all protocols, some of them taken back, while receives wait and while none does.
TEST_P(Notes, ComeWithTheirMessages) {
    Variables v = shared_wait();
    v.diagnosis = "full";
    constexpr int messages = 300;
    static Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    auto const ints = [](int i) { return static_cast<std::size_t>(i % 3 == 0 ? 1 : i % 3 == 1 ? 1000 : 30'000); };
    run(
        2,
        [&](Rank& r) {
            if (r.me() == 0) r.barrier();   // all are sent by then
            std::vector<std::vector<int>> data;
            std::vector<Ref<Request>> sends;
            for (int i = 0; i < messages && r.me() == 1; ++i) {
                data.emplace_back(ints(i), i);
                sends.push_back(p2p::isend(*r.comm, data.back().data(), static_cast<std::int64_t>(ints(i)), *type, 0, i,
                                           Mode::standard));
                if (i % 7 == 3) sends.back()->cancel();
            }
            if (r.me() == 1) r.barrier();
            std::uint32_t last = 0;
            for (int i = 0; i < messages && r.me() == 0; ++i) {
                if (i % 7 == 3) continue;
                std::vector<int> in(ints(i));
                Receive op;
                op.data = Data::of_bytes(in.data(), in.size() * sizeof(int));
                op.key = {r.comm->context, 1, i};
                op.peer = r.process.cluster.peer_of(1);
                engine(r.process).begin(op);
                r.process.waiter.until([&] { return r.process.waiter.progress(), op.done; }, {"wait"});
                ASSERT_TRUE(op.note) << i;
                SentNote const sent = SentNote::from_bytes(op.note);
                EXPECT_EQ(sent.rank, 1);
                EXPECT_EQ(sent.number, static_cast<std::uint32_t>(i + 1));
                EXPECT_EQ(sent.clock, (Order::Clock{0, sent.number}));
                EXPECT_GT(sent.number, last);
                last = sent.number;
            }
            for (Ref<Request> const& one : sends) r.wait(*one);
            r.barrier();
        },
        v);
}

}   // namespace
}   // namespace tutti::p2p::test
