// SPDX-License-Identifier: BSD-3-Clause
// Messages of every size and protocol arrive complete, in order, at the matching receive.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

/// Element counts around every limit: empty, a cell, the eager limit, a piece, several full rings.
std::vector<std::size_t> const message_sizes = {0,    1,    7,    8,    9,     100,     1023,
                                                4095, 4096, 4097, 6000, 20000, 100'000, 300'000};

class EveryWay : public testing::TestWithParam<std::tuple<bool, Layout>> {
protected:
    static void run(unsigned ranks, std::function<void(Rank&)> const& body) {
        Variables v = shared_wait();
        v.cma = std::get<0>(GetParam());
        test::run(ranks, body, v, std::get<1>(GetParam()));
    }
};

TEST_P(EveryWay, EverySizeArrivesCompleteInBothDirections) {
    run(2, [](Rank& r) {
        for (std::size_t n : message_sizes) {
            int other = 1 - r.me();
            auto mine = numbers(n, r.me() + 1), theirs = numbers(n, other + 1);
            if (r.me() == 0) {
                r.send(mine, other, 3);
                EXPECT_EQ(r.recv(n + 5, other, 4), theirs);
            } else {
                Status s;
                EXPECT_EQ(r.recv(n, other, 3, &s), theirs);
                EXPECT_EQ(s.source, 0);
                EXPECT_EQ(s.tag, 3);
                r.send(mine, other, 4, Mode::synchronous);
            }
        }
    });
}

TEST_P(EveryWay, RingsWrapAroundManyTimesInOrder) {
    run(2, [](Rank& r) {
        for (int i = 0; i < 3000; ++i) {
            std::size_t n = static_cast<std::size_t>(i * 37 % 3000);
            if (r.me() == 0) r.send(numbers(n, i), 1, i % 3);
            else EXPECT_EQ(r.recv(3000, 0, i % 3), numbers(n, i)) << "message " << i;
        }
    });
}

TEST_P(EveryWay, ExchangesOfEverySizeDoNotDeadlock) {
    run(2, [](Rank& r) {
        int other = 1 - r.me();
        std::vector<std::vector<int>> in, out;
        std::vector<Ref<Request>> requests;
        auto type = TypeBuilder::predefined(Basic::byte_);
        for (int round = 0; round < 40; ++round)
            for (std::size_t n : message_sizes) {
                if (n > 20000 && round > 2) continue;
                out.push_back(numbers(n, round));
                in.emplace_back(n, -1);
            }
        for (auto& v : out) {
            r.process.waiter.progress();
            requests.push_back(isend(*r.comm, v.data(), static_cast<std::int64_t>(v.size() * sizeof(int)), *type, other,
                                     5, Mode::standard));
        }
        for (auto& v : in)
            requests.push_back(
                irecv(*r.comm, v.data(), static_cast<std::int64_t>(v.size() * sizeof(int)), *type, other, 5));
        for (auto& request : requests) r.wait(*request);
        EXPECT_EQ(in, out);
    });
}

INSTANTIATE_TEST_SUITE_P(Copying, EveryWay, testing::Combine(testing::Bool(), every_layout), [](auto const& info) {
    return (std::get<0>(info.param) ? "once_" : "staged_") + name_of(std::get<1>(info.param));
});

using Message = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Message, every_layout, layout_name);

TEST_P(Message, ManyRanksSendToOneThroughBells) {
    run(12, [](Rank& r) {
        constexpr int rounds = 200;
        if (r.me() == 0) {
            std::vector<int> next(static_cast<std::size_t>(r.size()), 0);
            for (int i = 0; i < rounds * (r.size() - 1); ++i) {
                Status s;
                auto v = r.recv(100, any_source, 1, &s);
                ASSERT_EQ(v, numbers(100, next[static_cast<std::size_t>(s.source)]++)) << "from " << s.source;
            }
        } else {
            for (int i = 0; i < rounds; ++i) r.send(numbers(100, i), 0, 1);
        }
    });
}

TEST_P(Message, ASentMessageArrivesWithoutProgressOfItsSender) {
    constexpr int messages = 60, length = 15000;   // ints: eager to another node; more in total than the sockets buffer
    if (GetParam() == Layout::one_node) GTEST_SKIP() << "through shared memory such messages wait for their receiver";
    std::atomic<int> came{0};
    run(2, [&](Rank& r) {
        if (r.me() == 0) {
            std::vector<int> const out(length, 7);
            for (int i = 0; i < messages; ++i) r.send(out, 1, 1);
            auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
            while (came < messages && std::chrono::steady_clock::now() < limit) std::this_thread::yield();   // computes
            EXPECT_EQ(came, messages);
        } else {
            for (int i = 0; i < messages; ++i, ++came) EXPECT_EQ(r.recv(length, 0, 1).size(), std::size_t{length});
        }
        r.barrier();
    });
}

TEST_P(Message, ReadySendsToAnotherNodeAreEagerUpToAMebibyte) {
    if (GetParam() == Layout::one_node) GTEST_SKIP() << "on one node, the receiver reads them in place";
    run(2, [](Rank& r) {
        constexpr std::size_t most = 1 << 18;   // ints
        auto const receive = [&](std::size_t n) {
            std::vector<int> memory(n);
            auto const type = TypeBuilder::predefined(Basic::int32);
            Ref<Request> const request = irecv(*r.comm, memory.data(), static_cast<std::int64_t>(n), *type, 0, 5);
            r.barrier();
            r.wait(*request);
            EXPECT_EQ(memory, numbers(n, 3));
        };
        auto const send = [&](std::size_t n, Mode mode) {
            std::vector<int> const memory = numbers(n, 3);
            Send op;
            op.data = Data::of_bytes(memory.data(), n * sizeof(int));
            op.key = {r.comm->context, 0, 5};
            op.peer = r.process.cluster.peer_id(1);
            op.mode = mode;
            r.barrier();
            engine(r.process).begin(op);
            EXPECT_EQ(op.eager, mode == Mode::ready && n <= most) << n;
            r.process.waiter.wait_until([&] { return r.process.waiter.progress(), op.done; }, {"send"});
        };
        for (std::size_t n : {most, most + 1})
            for (Mode mode : {Mode::standard, Mode::ready}) r.me() == 1 ? receive(n) : send(n, mode);
    });
}

TEST_P(Message, AFullRingToOneRankDoesNotBlockAnother) {
    std::atomic<bool> awake = false;
    run(3, [&](Rank& r) {
        if (r.me() == 0) {
            std::vector<Ref<Request>> requests;
            auto type = TypeBuilder::predefined(Basic::int32);
            auto v = numbers(1000, 1);
            for (int i = 0; i < 500; ++i)
                requests.push_back(isend(*r.comm, v.data(), 1000, *type, 1, 0, Mode::standard));
            EXPECT_FALSE(requests.back()->complete);
            r.send(v, 2, 0);
            EXPECT_EQ(r.recv(1000, 2, 1), v);
            awake = true;
            for (auto& request : requests) r.wait(*request);
        } else if (r.me() == 2) {
            r.send(r.recv(1000, 0, 0), 0, 1);
        } else {
            while (!awake) std::this_thread::yield();   // outside the library: no poll
            for (int i = 0; i < 500; ++i) EXPECT_EQ(r.recv(1000, 0, 0).size(), 1000u);
        }
    });
}

TEST_P(Message, FloodOfUnexpectedMessagesIsBoundedAndComplete) {
    run(2, [](Rank& r) {
        constexpr int count = 32'000;   // above Outbox::eager_budget
        if (r.me() == 0) {
            auto type = TypeBuilder::predefined(Basic::int32);
            std::vector<int> values(count);
            std::iota(values.begin(), values.end(), 0);
            std::vector<Ref<Request>> requests;
            for (int& v : values) requests.push_back(isend(*r.comm, &v, 1, *type, 1, 0, Mode::standard));
            r.send({7}, 1, 1);
            for (auto& request : requests) r.wait(*request);
        } else {
            EXPECT_EQ(r.recv(1, 0, 1), std::vector{7});   // the last one first
            for (int i = 0; i < count; ++i) ASSERT_EQ(r.recv(1, 0, 0), std::vector{i});
        }
    });
}

TEST_P(Message, AMessageLongerThanTheReceiveIsTruncatedWithAnError) {
    for (std::size_t n : {5u, 100u, 50'000u})
        run(2, [n](Rank& r) {
            if (r.me() == 0) return r.send(numbers(n, 1), 1, 2);
            std::vector<int> v(4, -1);
            Status s;
            try {
                p2p::recv(*r.comm, Data::of_bytes(v.data(), 3 * sizeof(int)), 0, 2, s, "recv");
                FAIL() << "not truncated";
            } catch (Error const& e) {
                EXPECT_EQ(e.error_class, ErrorClass::truncate);
                EXPECT_THAT(e.what(),
                            testing::HasSubstr(join(n * sizeof(int), " bytes but the receive has room for 12")));
            }
            EXPECT_EQ(s.bytes, 12u);
            EXPECT_EQ(v, (std::vector{1000, 1001, 1002, -1}));
        });
}

TEST_P(Message, InternalAndUserMessagesDoNotMatch) {
    run(2, [](Rank& r) {
        int in = 0, internal = 1, user = 2;
        if (r.me() == 0) {
            send_bytes(*r.comm, &internal, sizeof internal, 1, 5, "test");
            p2p::send(*r.comm, Data::of_bytes(&user, sizeof user), 1, 5, Mode::standard, "test");
        } else {
            EXPECT_EQ(r.recv(1, any_source, any_tag), std::vector{2});
            recv_bytes(*r.comm, &in, sizeof in, 0, 5, "test");
            EXPECT_EQ(in, 1);
        }
    });
}

TEST(ProcNull, ExchangesNothing) {
    run(1, [](Rank& r) {
        Status s;
        r.send({1}, proc_null, 0);
        EXPECT_EQ(r.recv(1, proc_null, any_tag, &s).size(), 0u);
        EXPECT_EQ(s.source, proc_null);
        EXPECT_EQ(s.tag, any_tag);
    });
}

}   // namespace
}   // namespace tutti::p2p::test
