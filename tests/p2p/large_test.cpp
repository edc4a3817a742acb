// SPDX-License-Identifier: BSD-3-Clause
// Messages above the eager limit with every protocol: from and to arenas or ordinary memory, with and without CMA,
// dense or with gaps, copied by the receiver alone or by both sides.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

struct Place {
    bool from_arena, to_arena, cma, arena = true;
    char const* wait = "dedicated";
    Layout layout = Layout::one_node;

    Variables variables() const {
        Variables v = shared_wait();
        v.wait = wait;
        v.cma = cma;
        v.arena = arena;
        return v;
    }
    bool reaches_sender(bool by_cma) const { return layout == Layout::one_node && ((arena && from_arena) || by_cma); }
};

std::string name_of(testing::TestParamInfo<Place> const& info) {
    Place const& s = info.param;
    return std::string(s.from_arena ? "arena_" : "heap_") + (s.to_arena ? "to_arena" : "to_heap") +
           (s.cma ? "_cma" : "") + (s.arena ? "" : "_off") + (s.wait[0] == 's' ? "_shared" : "") +
           (s.layout == Layout::one_node ? "" : '_' + p2p::test::name_of(s.layout));
}

class Large : public testing::TestWithParam<Place> {
protected:
    std::byte* out(Rank& r, std::size_t bytes) const { return r.memory(bytes, GetParam().from_arena); }
    std::byte* in(Rank& r, std::size_t bytes) const { return r.memory(bytes, GetParam().to_arena); }
    static void run(unsigned ranks, std::function<void(Rank&)> const& body) {
        test::run(ranks, body, GetParam().variables(), GetParam().layout);
    }
};

int value(std::size_t i, int seed) { return static_cast<int>(i * 7) + seed * 1'000'003; }

void fill(std::byte* at, std::size_t bytes, int seed) {
    for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(value(i, seed) >> (i % 3) * 8);
}

/// The offset of the first byte that differs from fill(); `bytes` if none does.
std::size_t first_wrong(std::byte const* at, std::size_t bytes, int seed) {
    for (std::size_t i = 0; i < bytes; ++i)
        if (at[i] != static_cast<std::byte>(value(i, seed) >> (i % 3) * 8)) return i;
    return bytes;
}

/// Around the eager limit and around the minimum for shared copies, with various numbers of chunks.
std::vector<std::size_t> const large_sizes = {16383, 16384,   16385,  65535,   65536,
                                              65537, 100'001, 131072, 500'003, 3'000'000};

void wait_all(Rank& r, std::vector<Ref<Request>>& requests) {
    for (auto& q : requests) r.wait(*q);
    requests.clear();
}

TEST_P(Large, ArriveCompleteAtAnyAlignmentAndWriteNothingElse) {
    run(2, [&](Rank& r) {
        int seed = 0;
        for (std::size_t n : large_sizes)
            for (std::size_t shift : {0, 1, 63}) {
                ++seed;
                r.drop();
                if (r.me() == 0) {
                    std::byte* data = out(r, n + 64) + 64 - shift;
                    fill(data, n, seed);
                    p2p::send(*r.comm, Data::of_bytes(data, n), 1, 1, Mode::standard, "send");
                    fill(data, n, -1);   // the program may reuse the buffer: no rank may still read it
                    continue;
                }
                std::byte* data = in(r, n + 128) + 64 + shift;
                Status s;
                p2p::recv(*r.comm, Data::of_bytes(data, n), 0, 1, s, "recv");
                EXPECT_EQ(first_wrong(data, n, seed), n) << n << " bytes, shift " << shift;
                EXPECT_EQ(data[-1], std::byte{0});
                EXPECT_EQ(data[n], std::byte{0});
            }
    });
}

TEST_P(Large, AreTruncatedToTheRoom) {
    run(2, [&](Rank& r) {
        constexpr std::size_t sent = 1'000'000;
        for (std::size_t room : {0u, 100u, 30'000u, 999'999u}) {
            r.drop();
            if (r.me() == 0) {
                std::byte* data = out(r, sent);
                fill(data, sent, 3);
                p2p::send(*r.comm, Data::of_bytes(data, sent), 1, 1, Mode::standard, "send");
                continue;
            }
            std::byte* data = in(r, room + 64);
            Status s;
            EXPECT_THROW(p2p::recv(*r.comm, Data::of_bytes(data, room), 0, 1, s, "recv"), Error);
            EXPECT_EQ(s.bytes, room);
            EXPECT_EQ(first_wrong(data, room, 3), room);
            EXPECT_EQ(data[room], std::byte{0});
        }
    });
}

TEST_P(Large, BothDirectionsConcurrentlyManyTimes) {
    run(2, [&](Rank& r) {
        int other = 1 - r.me();
        for (int round = 0; round < 60; ++round) {
            std::size_t n = large_sizes[static_cast<std::size_t>(round) % (large_sizes.size() - 1)];
            r.drop();
            std::byte *a = out(r, n), *b = in(r, n);
            fill(a, n, 10 * round + r.me());
            Status s;
            sendrecv(*r.comm, Data::of_bytes(a, n), other, 1, Data::of_bytes(b, n), other, 1, s, "sendrecv");
            fill(a, n, -1);
            ASSERT_EQ(first_wrong(b, n, 10 * round + other), n) << "round " << round;
        }
    });
}

TEST_P(Large, ManyInFlightToOneReceiverInAnyOrder) {
    run(3, [&](Rank& r) {
        constexpr int each = 12;
        auto type = TypeBuilder::predefined(Basic::byte_);
        std::vector<Ref<Request>> requests;
        auto bytes_of = [](int i) { return large_sizes[static_cast<std::size_t>(i) % (large_sizes.size() - 1)]; };
        if (r.me() != 0) {
            for (int i = 0; i < each; ++i) {
                std::byte* data = out(r, bytes_of(i));
                fill(data, bytes_of(i), 100 * r.me() + i);
                requests.push_back(isend(*r.comm, data, static_cast<std::int64_t>(bytes_of(i)), *type, 0, i,
                                         i % 2 ? Mode::standard : Mode::synchronous));
            }
            return wait_all(r, requests);
        }
        std::vector<std::byte*> data;
        for (int source : {1, 2})
            for (int i = each; i-- > 0;) {
                data.push_back(in(r, bytes_of(i)));
                requests.push_back(
                    irecv(*r.comm, data.back(), static_cast<std::int64_t>(bytes_of(i)), *type, source, i));
            }
        wait_all(r, requests);
        auto next = data.begin();
        for (int source : {1, 2})
            for (int i = each; i-- > 0; ++next)
                ASSERT_EQ(first_wrong(*next, bytes_of(i), 100 * source + i), bytes_of(i)) << source << ", tag " << i;
    });
}

TEST_P(Large, CompleteWhileTheSenderIsOutsideTheLibrary) {
    Place const s = GetParam();
    if (!s.reaches_sender(s.cma)) GTEST_SKIP() << "without access to its memory, the sender must make progress";
    std::atomic<bool> received = false;
    run(2, [&](Rank& r) {
        constexpr std::size_t n = 2'000'000;
        auto type = TypeBuilder::predefined(Basic::byte_);
        if (r.me() == 0) {
            std::byte* data = out(r, n);
            fill(data, n, 5);
            auto request = isend(*r.comm, data, n, *type, 1, 1, Mode::standard);
            while (!received) std::this_thread::yield();   // computes
            r.wait(*request);
        } else {
            std::byte* data = in(r, n);
            Status status;
            p2p::recv(*r.comm, Data::of_bytes(data, n), 0, 1, status, "recv");
            received = true;
            EXPECT_EQ(first_wrong(data, n, 5), n);
        }
    });
}

/// Layouts of 4-byte elements: their constructors and the offset of element i.
struct Pattern {
    char const* name;
    Ref<Datatype> (*make)(Datatype const& ints, std::int64_t n);
    std::size_t (*place)(std::size_t i);
};

Pattern const layouts[] = {
    {"dense", [](Datatype const& ints, std::int64_t n) { return TypeBuilder::contiguous(n, ints); },
     [](std::size_t i) { return i; }},
    {"pairs", [](Datatype const& ints, std::int64_t n) { return TypeBuilder::hvector(n / 2, 2, 20, ints); },
     [](std::size_t i) { return i / 2 * 5 + i % 2; }},
    {"every other", [](Datatype const& ints, std::int64_t n) { return TypeBuilder::hvector(n, 1, 8, ints); },
     [](std::size_t i) { return 2 * i; }},
    {"a list too long to send along",
     [](Datatype const& ints, std::int64_t n) {
         std::vector<std::int64_t> at;
         std::vector<std::int64_t> lengths;
         for (std::int64_t i = 0; i < n / 100; ++i) at.push_back(4 * (i * 102 + i % 2)), lengths.push_back(100);
         return TypeBuilder::hindexed(lengths, at, ints);
     },
     [](std::size_t i) { return i / 100 * 102 + i / 100 % 2 + i % 100; }},
};

TEST_P(Large, EveryPairOfLayouts) {
    run(2, [&](Rank& r) {
        auto ints = TypeBuilder::predefined(Basic::int32);
        for (std::int64_t n : {4200, 10'000, 200'000})
            for (Pattern const& from : layouts)
                for (Pattern const& to : layouts)
                    for (std::int64_t room : {n, n - 1300}) {
                        r.drop();
                        std::size_t const extent = static_cast<std::size_t>(n) * 12;
                        if (r.me() == 0) {
                            auto* data = reinterpret_cast<int*>(out(r, extent));
                            auto type = from.make(*ints, n);
                            for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
                                data[from.place(i)] = value(i, 1) | 1;
                            p2p::send(*r.comm, Data::of(data, 1, *type), 1, 1, Mode::standard, "send");
                            continue;
                        }
                        auto* data = reinterpret_cast<int*>(in(r, extent));
                        auto type = to.make(*ints, room);
                        auto const wanted = static_cast<std::size_t>(room);
                        Status s;
                        try {
                            p2p::recv(*r.comm, Data::of(data, 1, *type), 0, 1, s, "recv");
                        } catch (Error const& error) {
                            EXPECT_EQ(error.error_class, ErrorClass::truncate) << error.what();
                        }
                        EXPECT_EQ(s.bytes, wanted * sizeof(int));
                        std::size_t good = 0, written = 0;
                        for (std::size_t i = 0; i < wanted; ++i) good += data[to.place(i)] == (value(i, 1) | 1);
                        for (std::size_t i = 0; i < extent / sizeof(int); ++i) written += data[i] != 0;
                        ASSERT_EQ(good, wanted) << from.name << " to " << to.name << ", " << n;
                        ASSERT_EQ(written, wanted) << "gaps were written to: " << from.name << " to " << to.name;
                    }
    });
}

TEST_P(Large, WithGapsInAnArenaCompleteWhileTheSenderIsOutsideTheLibrary) {
    Place const p = GetParam();
    if (!p.reaches_sender(false)) GTEST_SKIP() << "without access to its memory, the sender must make progress";
    std::atomic<int> received = 0;
    run(2, [&](Rank& r) {
        auto ints = TypeBuilder::predefined(Basic::int32);
        constexpr std::size_t n = 50'000;
        int turn = 0;
        for (Pattern const& to : {layouts[0], layouts[1], layouts[2]}) {
            auto type = (r.me() == 0 ? layouts[1] : to).make(*ints, n / 5);
            std::size_t const extent = static_cast<std::size_t>(type->extent());
            auto* data = reinterpret_cast<int*>(r.me() == 0 ? out(r, 6 * extent) : in(r, 6 * extent));
            auto place = [&](Pattern const& l, std::size_t i) {
                return i / (n / 5) * extent / sizeof(int) + l.place(i % (n / 5));
            };
            ++turn;
            if (r.me() == 0) {
                for (std::size_t i = 0; i < n; ++i) data[place(layouts[1], i)] = value(i, turn);
                auto request = isend(*r.comm, data, 5, *type, 1, 1, Mode::standard);
                while (received < turn) std::this_thread::yield();   // computes
                r.wait(*request);
            } else {
                Status s;
                p2p::recv(*r.comm, Data::of(data, 5, *type), 0, 1, s, "recv");
                received = turn;
                for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(data[place(to, i)], value(i, turn)) << to.name;
            }
        }
    });
}

std::vector<Place> places() {
    std::vector<Place> all;
    for (bool from : {false, true})
        for (bool to : {false, true})
            for (bool cma : {false, true}) all.push_back({from, to, cma});
    all.push_back({true, true, false, true, "shared"});
    all.push_back({true, true, true, false});
    all.push_back({true, true, false, false});
    all.push_back({false, false, false, true, "shared", Layout::alternating});
    all.push_back({false, false, false, true, "shared", Layout::last_apart});
    return all;
}
INSTANTIATE_TEST_SUITE_P(Paths, Large, testing::ValuesIn(places()), name_of);

}   // namespace
}   // namespace tutti::p2p::test
