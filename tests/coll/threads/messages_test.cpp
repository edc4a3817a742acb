// SPDX-License-Identifier: BSD-3-Clause
// Messages inside an operation: rings, trees and posts of every size, of elements that must not be split between
// pieces, by each single-copy method and with refusals in the middle of a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "coll/blocks/messages.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_env.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

struct NoArgs : CommonArgs {
    std::vector<std::byte> const* mine;
    std::vector<std::byte>* got;
    Datatype const* type;
    std::size_t grain;
};

std::byte value(int rank, std::size_t at) {
    return static_cast<std::byte>(static_cast<std::size_t>(rank) * 37 + at * 11 + at / 251);
}

Buffer all_of(std::vector<std::byte>& v, Datatype const& type) {
    return {v.data(), static_cast<std::int64_t>(v.size()) / type.extent(), &type};
}
ConstBuffer all_of(std::vector<std::byte> const& v, Datatype const& type) {
    return all_of(const_cast<std::vector<std::byte>&>(v), type);
}

/// The data of rank r − 1 goes round the ring to rank r, three times, so that cells and buffers are reused.
Task ring(ThreadEnv& env, NoArgs const& a) {
    Messages<ThreadEnv> m(env, {.grain = a.grain, .direct = 512, .cma = 1024});
    int const to = (env.rank() + 1) % env.size(), from = (env.rank() + env.size() - 1) % env.size();
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    for (int round = 0; round < 3; ++round) {
        std::fill(a.got->begin(), a.got->end(), std::byte{0});
        std::size_t next = 0;
        auto into = m.into(all_of(*a.got, *a.type), 0);
        auto use = [&](std::byte const* data, std::size_t at, std::size_t n) {
            EXPECT_EQ(at, next);
            EXPECT_EQ(at % a.grain, 0u);
            EXPECT_EQ(n % a.grain, 0u);
            next = at + n;
            into(data, at, n);
        };
        co_await m.exchange(to, {mine, 0, mine.bytes()}, from, mine.bytes(), use);
        EXPECT_EQ(next, mine.bytes());
    }
    co_await m.close();
}

/// Rank 0 sends to each rank in turn, then receives from each.
Task star(ThreadEnv& env, NoArgs const& a) {
    Messages<ThreadEnv> m(env, {.grain = a.grain, .direct = 512, .cma = 1024});
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    auto into = m.into(all_of(*a.got, *a.type), 0);
    for (int round = 0; round < 2; ++round)
        for (int peer = 1; peer < env.size(); ++peer) {
            bool const sends = (env.rank() == 0) == (round == 0);
            if (env.rank() != 0 && env.rank() != peer) continue;
            int const other = env.rank() == 0 ? peer : 0;
            if (sends) co_await m.send(other, {mine, 0, mine.bytes()});
            else co_await m.receive(other, mine.bytes(), into);
        }
    co_await m.close();
}

/// Rank 0 starts sends to all ranks before it waits for any, three times.
Task fan(ThreadEnv& env, NoArgs const& a) {
    Messages<ThreadEnv> m(env, {.grain = a.grain, .direct = 512, .cma = 1024});
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    for (int round = 0; round < 3; ++round) {
        for (int peer = 1; env.rank() == 0 && peer < env.size(); ++peer) {
            co_await m.finish(peer);
            co_await m.start(peer, packed_part(a.mine->data(), mine.bytes()));
        }
        if (env.rank() == 0) continue;
        co_await m.receive(0, mine.bytes(), m.into(all_of(*a.got, *a.type), 0));
    }
    if (env.rank() == 0) std::copy(a.mine->begin(), a.mine->end(), a.got->begin());
    for (int peer = 1; env.rank() == 0 && peer < env.size(); ++peer) co_await m.finish(peer);
    co_await m.close();
}

/// Every rank posts to every rank before any rank receives.
Task posts(ThreadEnv& env, NoArgs const& a) {
    Messages<ThreadEnv> m(env, a.grain);
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    std::size_t const n = mine.bytes();
    EXPECT_TRUE(m.fits(n));
    for (int round = 0; round < 3; ++round) {
        for (int i = 1; i < env.size(); ++i) co_await m.post((env.rank() + i) % env.size(), {mine, 0, n});
        for (int i = 1; i < env.size(); ++i)
            co_await m.receive((env.rank() + i) % env.size(), n, m.into(all_of(*a.got, *a.type), 0));
    }
    co_await m.close();
}

/// Every rank exchanges with all others concurrently. In place, the data for a peer is where the peer's data arrives.
Task all_concurrently(ThreadEnv& env, NoArgs const& a, bool in_place) {
    std::size_t const n = a.mine->size(), direct = in_place ? ~std::size_t{0} : 512;
    std::vector<std::vector<std::byte>> boxes(static_cast<std::size_t>(env.size()), std::vector<std::byte>(n));
    if (in_place) std::fill(boxes.begin(), boxes.end(), *a.mine);
    std::vector<int> peers;
    for (int i = 1; i < env.size(); ++i) peers.push_back((env.rank() + i) % env.size());
    auto box = [&](int peer) { return all_of(boxes[static_cast<std::size_t>(peer)], *a.type); };
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    Messages<ThreadEnv> m(env, {.grain = a.grain, .direct = direct, .cma = direct});
    co_await m.exchange_all(
        peers, peers,
        [&](int to) -> MessagePart {
            return {in_place ? box(to) : mine, 0, n};
        },
        [&](int) { return n; }, [&](int from) { return m.into(box(from), 0); });
    for (int peer : peers)
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(boxes[static_cast<std::size_t>(peer)][i], value(peer, i));
    *a.got = boxes[static_cast<std::size_t>(peers.front())];
    co_await m.close();
}
Task all_apart(ThreadEnv& env, NoArgs const& a) { return all_concurrently(env, a, false); }
Task all_in_place(ThreadEnv& env, NoArgs const& a) { return all_concurrently(env, a, true); }

/// A ring whose first message has room for half of it only; the messages behind it are not affected.
Task too_long(ThreadEnv& env, NoArgs const& a) {
    Messages<ThreadEnv> m(env, {.grain = a.grain, .direct = 512, .cma = 1024});
    int const to = (env.rank() + 1) % env.size(), from = (env.rank() + env.size() - 1) % env.size();
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    std::size_t const n = mine.bytes();
    for (std::size_t room : {n / 2, n}) {
        std::fill(a.got->begin(), a.got->end(), std::byte{0});
        co_await m.exchange(to, {mine, 0, n}, from, room, m.into(all_of(*a.got, *a.type), 0));
        EXPECT_EQ(m.received(from), n);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ((*a.got)[i], i < room ? value(from, i) : std::byte{0});
    }
    co_await m.close();
}

struct Shape {
    int ranks;
    AccessPath way;
};
std::string name_of(testing::TestParamInfo<Shape> const& info) {
    static constexpr char const* ways[] = {"direct", "attached", "refused", "staged"};
    return std::to_string(info.param.ranks) + "_ranks_" + ways[static_cast<int>(info.param.way)];
}

class MessagesBy : public testing::TestWithParam<Shape> {
protected:
    /// Runs it for each size up to `most`. The last message that rank r receives is from `source(r, ranks)`.
    template <class Source>
    void run_all(Task (*algorithm)(ThreadEnv&, NoArgs const&), std::size_t most, Source source) {
        auto [ranks, way] = GetParam();
        ThreadWorld world(ranks, make_tree(ranks, 1), way, 16384);
        auto byte = TypeBuilder::predefined(Basic::byte_);
        run_as_ranks(ranks, [&](int rank) {
            FramePool frames;
            std::uint64_t op = 0;
            for (std::size_t grain : {1, 24, 5000})
                for (std::size_t elements : {0, 1, 7, 100, 3000}) {
                    std::size_t const n = std::min(elements * grain, most) / grain * grain;
                    std::vector<std::byte> mine(n), got(n);
                    for (std::size_t i = 0; i < n; ++i) mine[i] = value(rank, i);
                    NoArgs args{{}, &mine, &got, byte.get(), grain};
                    coll::run(world, rank, ++op, frames, algorithm, args);
                    int const from = source(rank, ranks);
                    for (std::size_t i = 0; i < n; ++i)
                        ASSERT_EQ(got[i], value(from, i)) << "byte " << i << " of " << n << " at rank " << rank;
                }
        });
    }
};

TEST_P(MessagesBy, TravelRoundARing) {
    run_all(ring, 60000, [](int rank, int ranks) { return (rank + ranks - 1) % ranks; });
}
TEST_P(MessagesBy, AreSentAndReturned) {
    run_all(star, 60000, [](int rank, int ranks) { return rank == 0 ? ranks - 1 : 0; });
}
TEST_P(MessagesBy, AreStartedToAllBeforeAnyIsFinished) {
    run_all(fan, 60000, [](int, int) { return 0; });
}
TEST_P(MessagesBy, ArePostedToAllBeforeAnyIsConsumed) {
    run_all(posts, 900, [](int rank, int ranks) { return (rank + ranks - 1) % ranks; });
}

TEST_P(MessagesBy, AreExchangedWithAllConcurrently) {
    run_all(all_apart, 60000, [](int rank, int ranks) { return (rank + 1) % ranks; });
}
TEST_P(MessagesBy, AreExchangedWithAllInPlace) {
    run_all(all_in_place, 60000, [](int rank, int ranks) { return (rank + 1) % ranks; });
}
TEST_P(MessagesBy, AreTruncatedToTheRoom) {
    run_all(too_long, 60000, [](int rank, int ranks) { return (rank + ranks - 1) % ranks; });
}

/// The ring again, where every staged piece but the last must have 32 KiB.
Task ring_of_whole_pieces(ThreadEnv& env, NoArgs const& a) {
    Messages<ThreadEnv> m(env);
    int const to = (env.rank() + 1) % env.size(), from = (env.rank() + env.size() - 1) % env.size();
    ConstBuffer const mine = all_of(*a.mine, *a.type);
    auto into = m.into(all_of(*a.got, *a.type), 0);
    auto use = [&](std::byte const* data, std::size_t at, std::size_t n) {
        EXPECT_EQ(n, std::min<std::size_t>(32768, mine.bytes() - at));
        into(data, at, n);
    };
    co_await m.exchange(to, {mine, 0, mine.bytes()}, from, mine.bytes(), use);
    co_await m.close();
}

/// Bytes that each of 64 ranks, with 16 KiB of staging memory, takes in addition to send `bytes` bytes.
std::vector<std::size_t> memory_of(Task (*algorithm)(ThreadEnv&, NoArgs const&), std::size_t bytes) {
    constexpr int ranks = 64;
    ThreadWorld world(ranks, make_tree(ranks, 1), AccessPath::staged, 16384);
    auto byte = TypeBuilder::predefined(Basic::byte_);
    run_as_ranks(ranks, [&](int rank) {
        FramePool frames;
        std::vector<std::byte> mine(bytes), got(bytes);
        for (std::size_t i = 0; i < bytes; ++i) mine[i] = value(rank, i);
        coll::run(world, rank, 1, frames, algorithm, NoArgs{{}, &mine, &got, byte.get(), 1});
        for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(got[i], value((rank + ranks - 1) % ranks, i));
    });
    return world.more_staging;
}

TEST(MessagesMemory, DependsOnThePeersThatARankUsesAndNotOnTheSizeOfPieces) {
    EXPECT_THAT(memory_of(ring_of_whole_pieces, 100000), testing::Each(2 * 32768));
    EXPECT_THAT(memory_of(posts, 9), testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(Ways, MessagesBy,
                         testing::Values(Shape{2, AccessPath::load_store}, Shape{3, AccessPath::attach},
                                         Shape{5, AccessPath::cma}, Shape{4, AccessPath::staged},
                                         Shape{8, AccessPath::staged}),
                         name_of);

}   // namespace
}   // namespace tutti::coll::test
