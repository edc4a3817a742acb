// SPDX-License-Identifier: BSD-3-Clause
// Messages that the sender stores directly into a posted receive: when it does and when it does not. MPI's rules of
// matching, cancellation and truncation hold in either case.
#include <atomic>
#include <thread>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

/// A nonblocking receive into memory inside or outside the arena.
struct Posted {
    Posted(Rank& r, Comm& comm, std::size_t bytes, int source, int tag, bool in_arena = true)
        : rank(r), data(r.memory(bytes, in_arena)),
          request(irecv(comm, data, static_cast<std::int64_t>(bytes), *type, source, tag)) {}
    Posted(Rank& r, std::size_t bytes, int source, int tag, bool in_arena = true)
        : Posted(r, *r.comm, bytes, source, tag, in_arena) {}
    /// The byte that all of the message consists of; −1 if bytes differ or the length is wrong.
    int value(std::size_t bytes) {
        rank.wait(*request);
        if (request->status.bytes != bytes) return -1;
        for (std::size_t i = 0; i < bytes; ++i)
            if (data[i] != data[0]) return -1;
        return static_cast<int>(data[0]);
    }
    Rank& rank;
    std::byte* data;
    Ref<Datatype> const type = TypeBuilder::predefined(Basic::byte_);   ///< programs never free predefined types
    Ref<Request> request;
};

void send(Rank& r, Comm& comm, std::size_t bytes, int value, int tag, Mode mode = Mode::standard, int dest = 1) {
    std::vector<std::byte> const data(bytes, static_cast<std::byte>(value));
    p2p::send(comm, Data::of_bytes(data.data(), bytes), dest, tag, mode, "send");
}
void send(Rank& r, std::size_t bytes, int value, int tag, Mode mode = Mode::standard, int dest = 1) {
    send(r, *r.comm, bytes, value, tag, mode, dest);
}

Ref<Comm> another(Rank& r) {
    return Ref<Comm>::adopt(new Comm(r.process, Ref<Group>::adopt(new Group({0, 1}, r.me())), 11));
}

/// The number of bytes that sends in `body` stored directly into receives.
template <class Body>
std::uint64_t direct(Rank& r, Body const& body) {
    Counter const& counter = r.process.rank_state().counters.direct;
    std::uint64_t const before = counter.read();
    body();
    return counter.read() - before;
}

/// A barrier of both ranks that sends no messages.
class TwoRankBarrier {
public:
    void operator()() {
        int const round = ++mine();
        met_.fetch_add(1);
        while (met_.load() < 2 * round) std::this_thread::yield();
    }

private:
    static int& mine() {
        thread_local int rounds = 0;
        return rounds;
    }
    std::atomic<int> met_{0};
};

Variables spinning() {
    Variables v = shared_wait();
    v.wait = "dedicated";
    return v;
}

class Store : public testing::TestWithParam<bool> {
protected:
    /// Rank 0 runs `sender`, rank 1 runs `receiver`.
    void run(std::function<void(Rank&)> const& sender, std::function<void(Rank&)> const& receiver) {
        test::run(
            2, [&](Rank& r) { r.me() == 0 ? sender(r) : receiver(r); }, GetParam() ? spinning() : shared_wait());
    }
    TwoRankBarrier meet;
};
INSTANTIATE_TEST_SUITE_P(, Store, testing::Bool(),
                         [](auto const& info) { return info.param ? "dedicated" : "shared"; });

std::size_t const stored_sizes[] = {256, 1025, 4096, 8191, 16384, 16385, 65535};

TEST_P(Store, FillsAPostedReceiveInOneCopy) {
    run(
        [&](Rank& r) {
            for (std::size_t n : stored_sizes)
                for (Mode mode : {Mode::standard, Mode::synchronous, Mode::ready}) {
                    meet();
                    EXPECT_EQ(direct(r, [&] { send(r, n, 9, 1, mode); }), n) << n << " bytes";
                    meet();
                }
        },
        [&](Rank& r) {
            for (std::size_t n : stored_sizes)
                for (int mode = 0; mode < 3; ++mode) {
                    Posted in(r, n + 100, 0, mode ? 1 : any_tag);
                    meet(), meet();
                    EXPECT_EQ(in.value(n), 9) << n << " bytes";
                    EXPECT_EQ(in.data[n], std::byte{0});
                    EXPECT_EQ(in.request->status.source, 0);
                    EXPECT_EQ(in.request->status.tag, 1);
                    r.drop();
                }
        });
}

TEST_P(Store, IsNotUsedForSmallOrUnreachableMessages) {
    struct Case {
        std::size_t bytes;
        bool in_arena;
    };
    Case const cases[] = {{255, true}, {4096, false}};
    run(
        [&](Rank& r) {
            for (Case c : cases) {
                meet();
                EXPECT_EQ(direct(r, [&] { send(r, c.bytes, 9, 1); }), 0u) << c.bytes << " bytes";
                meet();
            }
        },
        [&](Rank& r) {
            for (Case c : cases) {
                Posted in(r, 10'000, 0, 1, c.in_arena);
                meet(), meet();
                EXPECT_EQ(in.value(c.bytes), 9);
            }
        });
}

TEST_P(Store, DoesNotWaitIfNoReceiveIsPosted) {
    run(
        [&](Rank& r) {
            for (int i = 0; i < 3; ++i) EXPECT_EQ(direct(r, [&] { send(r, 16384, i, 1); }), 0u);
            meet();
            send(r, 8, 0, 2);
        },
        [&](Rank& r) {
            meet();
            for (int i = 0; i < 3; ++i) {
                Posted in(r, 16384, 0, 1);
                EXPECT_EQ(in.value(16384), i);
                r.drop();
            }
            r.recv(2, 0, 2);
        });
}

TEST_P(Store, LeavesAReceiveToTheMatchingMessage) {
    run(
        [&](Rank& r) {
            Ref<Comm> const other = another(r);
            meet();
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 1, 8); }), 0u) << "another tag";
            EXPECT_EQ(direct(r, [&] { send(r, *other, 4096, 2, 7); }), 0u) << "another communicator";
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 3, 7); }), 0u) << "behind unmatched messages";
            meet();
            meet();
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 4, 7); }), 4096u) << "announced after other messages had arrived";
        },
        [&](Rank& r) {
            Ref<Comm> const other = another(r);
            {
                Posted in(r, 5000, 0, 7);
                meet(), meet();
                EXPECT_EQ(in.value(4096), 3);
            }
            Posted last(r, 5000, 0, 7);
            meet();
            EXPECT_EQ(last.value(4096), 4);
            EXPECT_EQ(Posted(r, *other, 5000, 0, 7).value(4096), 2);
            EXPECT_EQ(Posted(r, 5000, 0, 8).value(4096), 1);
        });
}

TEST_P(Store, AnnouncesPendingReceivesAgainAfterOtherMessages) {
    run(
        [&](Rank& r) {
            meet();
            for (int i = 0; i < 5; ++i) send(r, 4096, 100 + i, 8);
            send(r, 8, 0, 2);
            meet();
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 1, 7); }), 4096u);
        },
        [&](Rank& r) {
            Posted in(r, 5000, 0, 7);
            meet();
            r.recv(2, 0, 2);
            meet();
            EXPECT_EQ(in.value(4096), 1);
            for (int i = 0; i < 5; ++i) EXPECT_EQ(Posted(r, 5000, 0, 8).value(4096), 100 + i);
        });
}

TEST_P(Store, MatchesTheOldestOfSeveralReceives) {
    run(
        [&](Rank& r) {
            for (int wildcard = 0; wildcard < 3; ++wildcard) {
                meet();
                std::uint64_t const stored = direct(r, [&] {
                    for (int i = 0; i < 3; ++i) send(r, 4096, i, 7);
                });
                EXPECT_EQ(stored, wildcard ? 0u : 4096u) << "only a receive that must match first is announced";
                meet();
            }
        },
        [&](Rank& r) {
            for (int wildcard = 0; wildcard < 3; ++wildcard) {
                Posted first(r, 5000, wildcard == 1 ? any_source : 0, wildcard == 2 ? any_tag : 7, wildcard != 2);
                Posted second(r, 5000, 0, 7), third(r, 5000, 0, 7);
                meet(), meet();
                EXPECT_EQ(first.value(4096), 0);
                EXPECT_EQ(second.value(4096), 1);
                EXPECT_EQ(third.value(4096), 2);
                r.drop();
            }
        });
}

TEST_P(Store, IsNotTriedForACancelledReceive) {
    run(
        [&](Rank& r) {
            meet();
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 5, 7); }), 0u);
            meet(), meet();
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 6, 7); }), 4096u);
            meet();
        },
        [&](Rank& r) {
            Posted gone(r, 5000, 0, 7);
            gone.request->cancel();
            r.wait(*gone.request);
            EXPECT_TRUE(gone.request->status.cancelled);
            meet(), meet();
            EXPECT_EQ(Posted(r, 5000, 0, 7).value(4096), 5);
            EXPECT_EQ(gone.data[0], std::byte{0});
            Posted late(r, 5000, 0, 7);
            meet(), meet();
            late.request->cancel();   // its message has arrived
            EXPECT_EQ(late.value(4096), 6);
            EXPECT_FALSE(late.request->status.cancelled);
        });
}

TEST_P(Store, ReportsTruncation) {
    run(
        [&](Rank& r) {
            meet();
            EXPECT_EQ(direct(r, [&] { send(r, 4096, 5, 7); }), 0u);
        },
        [&](Rank& r) {
            std::byte* const data = r.memory(4096, true);
            Status s;
            Posted warm(r, 2000, 0, 8);
            meet();
            EXPECT_THROW(p2p::recv(*r.comm, Data::of_bytes(data, 4000), 0, 7, s, "recv"), Error);
            EXPECT_EQ(s.error, ErrorClass::truncate);
            EXPECT_EQ(s.bytes, 4000u);
            EXPECT_EQ(data[3999], std::byte{5});
            EXPECT_EQ(data[4000], std::byte{0});
            warm.request->cancel();
            r.wait(*warm.request);
        });
}

TEST_P(Store, ServesManyBlockingExchanges) {
    std::atomic<std::uint64_t> stored{0};
    constexpr int rounds = 300;
    auto const body = [&](Rank& r) {
        int const other = 1 - r.me();
        stored += direct(r, [&] {
            for (int round = 0; round < rounds; ++round) {
                std::size_t const n = stored_sizes[static_cast<std::size_t>(round) % 7];
                r.drop();
                std::byte *out = r.memory(n, true), *in = r.memory(n, true);
                std::memset(out, round + other, n);
                Status s;
                sendrecv(*r.comm, Data::of_bytes(out, n), other, round % 3, Data::of_bytes(in, n), other, round % 3, s,
                         "sendrecv");
                std::memset(out, 255, n);
                ASSERT_EQ(s.bytes, n);
                auto const expected = static_cast<std::byte>(round + r.me());
                for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(in[i], expected) << "round " << round << " byte " << i;
            }
        });
    };
    run(body, body);
    EXPECT_GT(stored.load(), 0u);
}

}   // namespace
}   // namespace tutti::p2p::test
