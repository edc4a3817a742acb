// SPDX-License-Identifier: BSD-3-Clause
// Small messages that a receive takes from where they arrive, without an operation: only when it is their turn.
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using First = Transport::First;

struct Taken {
    First found;
    int value = -1;
    Status status;
};

/// From rank 0, into one int.
Taken take(Rank& r, int tag, std::size_t room = sizeof(int)) {
    Taken t;
    t.found = engine(r.process).take_small(0, {r.comm->context, 0, tag}, Data::of_bytes(&t.value, room), t.status);
    return t;
}

/// Rank 0 has sent `out` when rank 1 runs `receive`.
void after(std::vector<std::vector<int>> const& out, std::function<void(Rank&)> const& receive) {
    run(2, [&](Rank& r) {
        if (r.me() == 0)
            for (std::size_t i = 0; i < out.size(); ++i) r.send(out[i], 1, 5 + static_cast<int>(i));
        if (r.me() == 0) return;
        while (take(r, 99).found == First::nothing) {}   // the first one is there
        receive(r);
    });
}

TEST(TakeSmall, TakesTheNextMessageAndTellsItsStatus) {
    after({{42}, {43}, {}}, [](Rank& r) {
        Taken const first = take(r, 5);
        EXPECT_EQ(first.found, First::taken);
        EXPECT_EQ(first.value, 42);
        EXPECT_EQ(first.status.source, 0);
        EXPECT_EQ(first.status.tag, 5);
        EXPECT_EQ(first.status.bytes, sizeof(int));
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{43});
        EXPECT_EQ(r.recv(1, 0, 7), std::vector<int>{});
        EXPECT_NE(take(r, 8).found, First::taken);
    });
}

TEST(TakeSmall, LeavesWhatIsForAnotherReceiveOrTooLong) {
    after({{42, 43}, {44}}, [](Rank& r) {
        EXPECT_EQ(take(r, 6).found, First::other) << "another tag";
        EXPECT_EQ(take(r, 5).found, First::other) << "no room";
        EXPECT_EQ(r.recv(1, 0, 6), std::vector{44}) << "before what waits";
        EXPECT_EQ(r.recv(2, 0, 5), (std::vector{42, 43}));
    });
}

TEST(TakeSmall, LeavesAMessageToAReceiveThatWaits) {
    after({{42}, {43}}, [](Rank& r) {
        int in = 0;
        Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);   // in programs these are never freed
        auto const request = irecv(*r.comm, &in, 1, *type, any_source, any_tag);
        EXPECT_EQ(take(r, any_tag).found, First::other);
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{43});
        r.wait(*request);
        EXPECT_EQ(in, 42);
    });
}

TEST(TakeSmall, LeavesAMessageThatCameBeforeInItsPlace) {
    after({{42}, {43}}, [](Rank& r) {
        Status s;
        while (!iprobe(*r.comm, 0, 6, s)) {}   // both are set aside
        EXPECT_EQ(take(r, 5).found, First::other);
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{42});
        EXPECT_EQ(r.recv(1, 0, any_tag), std::vector{43});
    });
}

}   // namespace
}   // namespace tutti::p2p::test
