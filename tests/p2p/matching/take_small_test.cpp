// SPDX-License-Identifier: BSD-3-Clause
// Small messages that a receive copies directly from the ring, without an operation, only when they are next in order.
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using SmallReceive = Transport::SmallReceive;

struct Taken {
    SmallReceive found;
    int value = -1;
    Status status;
};

/// Receives from rank 0 into one int.
Taken take(Rank& r, int tag, std::size_t room = sizeof(int)) {
    Taken t;
    t.found =
        engine(r.process).try_receive_small(0, {r.comm->context, 0, tag}, Data::of_bytes(&t.value, room), t.status);
    return t;
}

/// Rank 0 has sent `out` when rank 1 runs `receive`.
void after(std::vector<std::vector<int>> const& out, std::function<void(Rank&)> const& receive) {
    run(2, [&](Rank& r) {
        if (r.me() == 0)
            for (std::size_t i = 0; i < out.size(); ++i) r.send(out[i], 1, 5 + static_cast<int>(i));
        if (r.me() == 0) return;
        while (take(r, 99).found == SmallReceive::none) {}   // until the first message has arrived
        receive(r);
    });
}

TEST(TakeSmall, ReceivesTheNextMessageAndItsStatus) {
    after({{42}, {43}, {}}, [](Rank& r) {
        Taken const first = take(r, 5);
        EXPECT_EQ(first.found, SmallReceive::received);
        EXPECT_EQ(first.value, 42);
        EXPECT_EQ(first.status.source, 0);
        EXPECT_EQ(first.status.tag, 5);
        EXPECT_EQ(first.status.bytes, sizeof(int));
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{43});
        EXPECT_EQ(r.recv(1, 0, 7), std::vector<int>{});
        EXPECT_NE(take(r, 8).found, SmallReceive::received);
    });
}

TEST(TakeSmall, LeavesMessagesThatDoNotMatchOrAreTooLong) {
    after({{42, 43}, {44}}, [](Rank& r) {
        EXPECT_EQ(take(r, 6).found, SmallReceive::needs_operation) << "another tag";
        EXPECT_EQ(take(r, 5).found, SmallReceive::needs_operation) << "no room";
        EXPECT_EQ(r.recv(1, 0, 6), std::vector{44}) << "before the messages in the ring";
        EXPECT_EQ(r.recv(2, 0, 5), (std::vector{42, 43}));
    });
}

TEST(TakeSmall, LeavesAMessageToAPostedReceive) {
    after({{42}, {43}}, [](Rank& r) {
        int in = 0;
        Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);   // programs never free predefined types
        auto const request = irecv(*r.comm, &in, 1, *type, any_source, any_tag);
        EXPECT_EQ(take(r, any_tag).found, SmallReceive::needs_operation);
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{43});
        r.wait(*request);
        EXPECT_EQ(in, 42);
    });
}

TEST(TakeSmall, RespectsTheOrderOfUnexpectedMessages) {
    after({{42}, {43}}, [](Rank& r) {
        Status s;
        while (!iprobe(*r.comm, 0, 6, s)) {}   // until both messages are unexpected
        EXPECT_EQ(take(r, 5).found, SmallReceive::needs_operation);
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{42});
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{43});
    });
}

}   // namespace
}   // namespace tutti::p2p::test
