// SPDX-License-Identifier: BSD-3-Clause
// The happens-before knowledge that ranks gain by messages and collectives, and the record of its send that a message
// carries.
#include "p2p/check/order.hpp"

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

TEST(Order, IsTransitiveAlongMessages) {
    VectorClock a(3, 0), b(3, 1), c(3, 2);
    std::uint32_t const event = a.tick();
    b.merge(a.values(), false);
    b.tick();
    c.merge(b.values(), false);
    EXPECT_EQ(c.values(), (VectorClock::Values{event, 1, 0}));
    EXPECT_EQ(a.latest_known_elsewhere(), 0u);
    a.merge(c.values(), false);
    EXPECT_EQ(a.latest_known_elsewhere(), event);
    EXPECT_EQ(a.updates(), 1u);
}

TEST(Order, IsUncertainAfterUntrackedAndUncertainEvents) {
    VectorClock a(2, 0), b(2, 1);
    a.set_uncertain();
    b.merge(a.values(), a.is_uncertain());
    EXPECT_TRUE(b.is_uncertain());
    VectorClock other(2, 0);
    other.merge(std::vector<std::uint32_t>{}, false);   // from a sender whose piggyback was too large
    EXPECT_TRUE(other.is_uncertain());
}

/// The ranks in `members` take part in a collective.
void meet(std::vector<VectorClock*> const& ranks, std::vector<int> const& members, std::vector<int> const& outsiders) {
    std::vector<std::uint32_t> all;
    for (int const m : members)
        for (std::uint32_t const value : ranks[static_cast<std::size_t>(m)]->values_for_members(outsiders))
            all.push_back(value);
    for (int const m : members) ranks[static_cast<std::size_t>(m)]->merge_members(members, outsiders, all);
}

TEST(Order, MembersOfACollectiveShareTheirKnowledge) {
    VectorClock a(4, 0), b(4, 1), c(4, 2), d(4, 3);
    std::vector<VectorClock*> const ranks{&a, &b, &c, &d};
    std::uint32_t const event = d.tick();
    a.merge(d.values(), false);
    b.set_uncertain();
    meet(ranks, {0, 1, 2}, {3});
    for (VectorClock const* one : {&a, &b, &c}) {
        EXPECT_EQ(one->values()[3], event);
        EXPECT_EQ(one->values()[0], a.last_event());
        EXPECT_TRUE(one->is_uncertain());
    }
    EXPECT_EQ(d.values()[0], 0u);
    meet(ranks, {0, 1, 2, 3}, {});
    for (VectorClock const* one : ranks) {
        EXPECT_FALSE(one->is_uncertain());
        EXPECT_EQ(one->values(), a.values());
    }
}

TEST(SentNote, RoundTrips) {
    SendPiggyback const sent{3, 7, true, false, 0x123456789a, "MPI_Isendrecv_replace", {1, 2, 3, 7}};
    SendPiggyback const back = SendPiggyback::from_bytes(sent.to_bytes());
    EXPECT_EQ(back.rank, sent.rank);
    EXPECT_EQ(back.number, sent.number);
    EXPECT_EQ(back.synchronous, sent.synchronous);
    EXPECT_EQ(back.uncertain, sent.uncertain);
    EXPECT_EQ(back.site, sent.site);
    EXPECT_STREQ(back.function.name(), "MPI_Isendrecv_replace");
    EXPECT_EQ(back.clock, sent.clock);
}

class Notes : public OnEveryLayout {};
INSTANTIATE_TEST_SUITE_P(Layouts, Notes, every_layout, layout_name);

/// More messages than a ring has cells, with all protocols, some withdrawn, with and without posted receives.
TEST_P(Notes, ArriveWithTheirMessages) {
    Variables v = shared_wait();
    v.diagnosis = "full";
    constexpr int messages = 300;
    static Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    auto const ints = [](int i) { return static_cast<std::size_t>(i % 3 == 0 ? 1 : i % 3 == 1 ? 1000 : 30'000); };
    run(
        2,
        [&](Rank& r) {
            if (r.me() == 0) r.barrier();   // all messages are sent by then
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
                op.peer = r.process.cluster.peer_id(1);
                engine(r.process).begin(op);
                r.process.waiter.wait_until([&] { return r.process.waiter.progress(), op.done; }, {"wait"});
                ASSERT_TRUE(op.piggyback) << i;
                SendPiggyback const sent = SendPiggyback::from_bytes(op.piggyback);
                EXPECT_EQ(sent.rank, 1);
                EXPECT_EQ(sent.number, static_cast<std::uint32_t>(i + 1));
                EXPECT_EQ(sent.clock, (VectorClock::Values{0, sent.number}));
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
