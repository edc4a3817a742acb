// SPDX-License-Identifier: BSD-3-Clause
// Requests: modes, cancellation, persistence, messages to self, datatypes with gaps, buffered sends.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

using testing::HasSubstr;

struct Ints {
    Ref<Datatype> type = TypeBuilder::predefined(Basic::int32);
    Ref<Request> isend(Rank& r, std::vector<int> const& v, int dest, int tag, Mode mode = Mode::standard) {
        return p2p::isend(*r.comm, v.data(), static_cast<std::int64_t>(v.size()), *type, dest, tag, mode);
    }
    Ref<Request> irecv(Rank& r, std::vector<int>& v, int source, int tag) {
        return p2p::irecv(*r.comm, v.data(), static_cast<std::int64_t>(v.size()), *type, source, tag);
    }
};

/// An inline message, an eager one, an offered one.
std::vector<std::size_t> const sizes = {0, 3, 1000, 50'000};

using Synchronous = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Synchronous, every_layout, layout_name);
using Cancel = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Cancel, every_layout, layout_name);
using Persistent = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Persistent, every_layout, layout_name);
using Free = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Free, every_layout, layout_name);
using Gaps = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Gaps, every_layout, layout_name);
using Buffered = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Buffered, every_layout, layout_name);
using Truncation = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Truncation, every_layout, layout_name);
using SendReceive = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, SendReceive, every_layout, layout_name);

TEST_P(Synchronous, IsCompleteOnlyOnceMatched) {
    for (std::size_t n : sizes)
        run(2, [n](Rank& r) {
            Ints ints;
            if (r.me() == 0) {
                auto v = numbers(n, 1);
                auto request = ints.isend(r, v, 1, 3, Mode::synchronous);
                r.send({1}, 1, 1);
                r.recv(1, 1, 2);   // rank 1 has seen the message but not received it
                EXPECT_FALSE(request->complete);
                r.send({1}, 1, 4);
                r.wait(*request);
            } else {
                r.recv(1, 0, 1);
                r.send({1}, 0, 2);
                r.recv(1, 0, 4);
                EXPECT_EQ(r.recv(n, 0, 3), numbers(n, 1));
            }
        });
}

TEST_P(Cancel, AReceiveThatNothingMatched) {
    run(2, [](Rank& r) {
        Ints ints;
        if (r.me() == 0) return r.send({5}, 1, 1);
        std::vector<int> a(1, -1), b(1, -1);
        auto never = ints.irecv(r, a, 0, 9), first = ints.irecv(r, b, any_source, 1);
        never->cancel();
        EXPECT_TRUE(never->complete && never->status.cancelled);
        r.wait(*first);
        first->cancel();   // no effect after completion
        EXPECT_FALSE(first->status.cancelled);
        EXPECT_EQ(b[0], 5);
        EXPECT_EQ(a[0], -1);
    });
}

TEST_P(Cancel, ASendWithoutReceive) {
    for (Mode mode : {Mode::standard, Mode::synchronous})
        for (std::size_t n : sizes)
            run(2, [n, mode](Rank& r) {
                Ints ints;
                r.barrier();   // a send that waits for a connection would be cancelled locally
                if (r.me() == 0) {
                    auto v = numbers(n, 1);
                    auto kept = ints.isend(r, v, 1, 3, mode), gone = ints.isend(r, v, 1, 3, mode);
                    gone->cancel();
                    EXPECT_FALSE(gone->complete);   // rank 1 decides
                    r.wait(*gone);
                    EXPECT_TRUE(gone->status.cancelled);
                    r.send({}, 1, 4);
                    r.send({8}, 1, 3);
                    r.wait(*kept);
                    EXPECT_FALSE(kept->status.cancelled);
                } else {
                    r.recv(0, 0, 4);
                    EXPECT_EQ(r.recv(n, 0, 3), numbers(n, 1));
                    EXPECT_EQ(r.recv(n + 1, 0, 3), std::vector{8});
                }
            });
}

TEST_P(Cancel, HasNoEffectOnASendThatWasReceived) {
    for (Mode mode : {Mode::standard, Mode::synchronous})
        for (std::size_t n : sizes)
            run(2, [n, mode](Rank& r) {
                Ints ints;
                if (r.me() == 0) {
                    auto v = numbers(n, 1);
                    auto request = ints.isend(r, v, 1, 3, mode);
                    r.recv(1, 1, 2);
                    request->cancel();
                    r.wait(*request);
                    EXPECT_FALSE(request->status.cancelled);
                } else {
                    std::vector<int> v(n);
                    auto request = ints.irecv(r, v, 0, 3);
                    r.wait(*request);
                    r.send({}, 0, 2);
                    EXPECT_EQ(v, numbers(n, 1));
                }
            });
}

TEST(Room, APendingMessageIsWithdrawnImmediately) {
    std::atomic<bool> awake = false;
    run(2, [&](Rank& r) {
        Ints ints;
        if (r.me() == 0) {
            auto v = numbers(1000, 1);
            std::vector<Ref<Request>> requests;
            for (int i = 0; i < 200; ++i) requests.push_back(ints.isend(r, v, 1, i));
            auto& last = requests.back();
            last->cancel();
            EXPECT_TRUE(last->complete && last->status.cancelled);
            awake = true;
            r.send({}, 1, 500);
            for (auto& q : requests) r.wait(*q);
        } else {
            while (!awake) std::this_thread::yield();   // outside the library: the ring stays full
            r.recv(0, 0, 500);
            Status s;
            EXPECT_FALSE(iprobe(*r.comm, 0, 199, s));
            for (int i = 0; i < 199; ++i) EXPECT_EQ(r.recv(1000, 0, i).size(), 1000u);
        }
    });
}

TEST(Self, EveryOrderAndMode) {
    run(1, [](Rank& r) {
        Ints ints;
        for (Mode mode : {Mode::standard, Mode::synchronous, Mode::ready})
            for (std::size_t n : sizes)
                for (bool receive_first : {false, true}) {
                    auto v = numbers(n, 4);
                    std::vector<int> in(n, -1);
                    Ref<Request> receive, send;
                    if (receive_first) receive = ints.irecv(r, in, 0, 1);
                    send = ints.isend(r, v, 0, 1, mode);
                    EXPECT_EQ(send->complete, receive_first || (mode != Mode::synchronous && n < 4096));
                    if (!receive_first) receive = ints.irecv(r, in, any_source, any_tag);
                    EXPECT_TRUE(send->complete && receive->complete);
                    EXPECT_EQ(in, v);
                    EXPECT_EQ(receive->status.source, 0);
                }
    });
}

TEST(Self, ABlockingSendThatCannotCompleteIsAnError) {
    run(1, [](Rank& r) {
        r.comm->errhandler = Ref<Errhandler>::adopt(new Errhandler);   // without it, the job ends with a report
        r.comm->errhandler->kind = Errhandler::Kind::returning;
        r.send({1, 2}, 0, 1);   // eager: kept
        EXPECT_EQ(r.recv(2, 0, 1), (std::vector{1, 2}));
        try {
            r.send({1, 2}, 0, 1, Mode::synchronous);
            FAIL();
        } catch (Error const& e) {
            EXPECT_THAT(e.what(), HasSubstr("a synchronous send of 8 bytes with tag 1 to this rank itself (0)"));
        }
        Status s;
        EXPECT_FALSE(iprobe(*r.comm, 0, 1, s));
    });
}

TEST(Self, CancelSucceedsOnlyWhileUnmatched) {
    run(1, [](Rank& r) {
        Ints ints;
        for (std::size_t n : sizes) {
            auto v = numbers(n, 4);
            auto first = ints.isend(r, v, 0, 1);
            first->cancel();
            EXPECT_TRUE(first->complete && first->status.cancelled);
            Status s;
            EXPECT_FALSE(iprobe(*r.comm, 0, 1, s));
            auto second = ints.isend(r, v, 0, 1);
            EXPECT_EQ(r.recv(n, 0, 1), v);
            second->cancel();
            EXPECT_TRUE(second->complete);
            EXPECT_FALSE(second->status.cancelled);
        }
    });
}

TEST_P(Persistent, StartsManyTimes) {
    for (std::size_t n : sizes)
        run(2, [n](Rank& r) {
            Ints ints;
            std::vector<int> v(n);
            auto count = static_cast<std::int64_t>(n);
            int other = 1 - r.me();
            auto request = r.me() == 0 ? send_init(*r.comm, v.data(), count, *ints.type, other, 1, Mode::standard)
                                       : recv_init(*r.comm, v.data(), count, *ints.type, other, 1);
            EXPECT_TRUE(request->persistent);
            EXPECT_FALSE(request->active);
            for (int round = 0; round < 20; ++round) {
                if (r.me() == 0) std::ranges::copy(numbers(n, round), v.begin());
                request->start();
                EXPECT_TRUE(request->active);
                r.wait(*request);
                EXPECT_EQ(v, numbers(n, round));
                request->active = false;
            }
        });
}

TEST_P(Free, APendingRequestCompletesWithoutItsHandle) {
    for (std::size_t n : sizes)
        run(2, [n](Rank& r) {
            Ints ints;
            static std::vector<int> v;   // must exist until completion, as MPI requires
            if (r.me() == 0) {
                v = numbers(n, 1);
                ints.isend(r, v, 1, 1, Mode::synchronous);   // releases the only reference immediately
            } else {
                EXPECT_EQ(r.recv(n, 0, 1), numbers(n, 1));
            }
        });
}

TEST_P(Gaps, EveryPairOfLayoutsOnEveryPath) {
    for (bool cma : {true, false}) {
        Variables variables = shared_wait();
        variables.cma = cma;
        run(
            2,
            [](Rank& r) {
                Ints ints;
                auto strided = TypeBuilder::hvector(2, 1, 3 * sizeof(int), *ints.type);   // two of every four ints
                for (std::int64_t n : {1, 4, 300, 3000, 60'000})
                    for (int pair = 0; pair < 4; ++pair) {
                        bool gaps = r.me() == 0 ? pair & 1 : pair & 2;
                        Datatype const& type = gaps ? *strided : *ints.type;
                        std::int64_t count = gaps ? n : 2 * n;
                        std::size_t ints_wide =
                            gaps ? static_cast<std::size_t>(4 * n) : static_cast<std::size_t>(2 * n);
                        std::vector<int> v(ints_wide, -1);
                        auto place = [&](std::int64_t i) {
                            return static_cast<std::size_t>(gaps ? i / 2 * 4 + i % 2 * 3 : i);
                        };
                        if (r.me() == 0) {
                            for (int i = 0; i < 2 * n; ++i) v[place(i)] = i;
                            p2p::send(*r.comm, Data::of(v.data(), count, type), 1, 1, Mode::standard, "send");
                            continue;
                        }
                        Status s;
                        p2p::recv(*r.comm, Data::of(v.data(), count, type), 0, 1, s, "recv");
                        EXPECT_EQ(s.bytes, static_cast<std::size_t>(2 * n) * sizeof(int));
                        for (int i = 0; i < 2 * n; ++i) ASSERT_EQ(v[place(i)], i) << n << " elements, pair " << pair;
                        ASSERT_EQ(std::count(v.begin(), v.end(), -1), gaps ? 2 * n : 0) << "gaps were written to";
                    }
            },
            variables);
    }
}

TEST_P(Buffered, ReturnsImmediatelyAndDetachWaits) {
    for (std::size_t n : sizes)
        run(2, [n](Rank& r) {
            if (r.me() == 1) {
                r.recv(1, 0, 2);
                for (int i = 0; i < 5; ++i) EXPECT_EQ(r.recv(n, 0, 1), numbers(n, i));
                return;
            }
            std::vector<std::byte> memory(5 * (n * sizeof(int) + SendBuffer::overhead + 16));
            SendBuffer& buffer = buffer_of(r.process);
            buffer.attach(memory.data(), memory.size());
            EXPECT_THROW(buffer.attach(memory.data(), 1), Error);
            for (int i = 0; i < 5; ++i) r.send(numbers(n, i), 1, 1, Mode::buffered);
            r.send({1}, 1, 2);
            flush(r.process, buffer, "detach");
            auto [address, bytes] = buffer.detach();
            EXPECT_EQ(address, memory.data());
            EXPECT_EQ(bytes, memory.size());
            EXPECT_THROW(buffer.detach(), Error);
        });
}

TEST(Room, AFullBufferIsAnErrorWithItsSizes) {
    run(1, [](Rank& r) {
        auto send_error = [&](std::size_t n) -> std::string {
            try {
                r.send(numbers(n, 1), 0, 1, Mode::buffered);
                return "";
            } catch (Error const& e) {
                EXPECT_EQ(e.error_class, ErrorClass::buffer);
                return e.what();
            }
        };
        EXPECT_THAT(send_error(1), HasSubstr("no buffer is attached"));
        std::vector<std::byte> small(99), memory(100'000);
        buffer_of(r.process).attach(small.data(), small.size());
        EXPECT_THAT(send_error(1), HasSubstr("4 bytes and 96 bytes of overhead do not fit into the attached buffer"));
        buffer_of(r.process).detach();
        buffer_of(r.process).attach(memory.data(), memory.size());
        EXPECT_EQ(send_error(10'000), "");   // 40 KB, which exceeds the eager limit, and no receive is posted
        EXPECT_EQ(send_error(10'000), "");
        EXPECT_THAT(send_error(10'000), HasSubstr("2 messages in it have not been sent yet"));
        EXPECT_EQ(r.recv(10'000, 0, 1), numbers(10'000, 1));
        EXPECT_EQ(send_error(10'000), "");
        r.recv(10'000, 0, 1);
        r.recv(10'000, 0, 1);
        flush(r.process, buffer_of(r.process), "detach");
        buffer_of(r.process).detach();
    });
}

TEST_P(Truncation, OfARequestIsReportedInItsStatus) {
    run(2, [](Rank& r) {
        Ints ints;
        if (r.me() == 0) return r.send(numbers(10, 1), 1, 1);
        std::vector<int> v(4);
        auto request = ints.irecv(r, v, 0, any_tag);
        r.wait(*request);
        EXPECT_EQ(request->status.error, ErrorClass::truncate);
        EXPECT_THAT(request->error_text, HasSubstr("with tag 1 has 40 bytes but the receive has room for 16"));
    });
}

TEST_P(SendReceive, RoundTheRingAndInPlace) {
    run(3, [](Rank& r) {
        int right = (r.me() + 1) % 3, left = (r.me() + 2) % 3;
        for (std::size_t n : sizes) {
            auto out = numbers(n, r.me());
            std::vector<int> in(n);
            Status s;
            std::size_t bytes = n * sizeof(int);
            sendrecv(*r.comm, Data::of_bytes(out.data(), bytes), right, 1, Data::of_bytes(in.data(), bytes), left, 1, s,
                     "sendrecv");
            EXPECT_EQ(in, numbers(n, left));
            sendrecv_replace(*r.comm, Data::of_bytes(out.data(), bytes), right, 2, any_source, 2, s, "replace");
            EXPECT_EQ(out, numbers(n, left));
            EXPECT_EQ(s.source, left);
            sendrecv_replace(*r.comm, Data::of_bytes(out.data(), bytes), proc_null, 2, proc_null, 2, s, "replace");
            EXPECT_EQ(out, numbers(n, left));
        }
    });
}

}   // namespace
}   // namespace tutti::p2p::test
