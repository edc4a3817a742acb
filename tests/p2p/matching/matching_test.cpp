// SPDX-License-Identifier: BSD-3-Clause
// Matching: wildcards, order, probes, thousands of entries, and its lists in isolation.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

TEST(Posted, OldestMatchingReceiveWinsWhateverItsWildcards) {
    PostedReceives posted;
    std::vector<Key> keys = {{1, any_source, any_tag}, {1, 0, 5}, {1, any_source, 5},
                             {1, 0, any_tag},          {1, 0, 5}, {2, 0, 5}};
    std::vector<Receive> receives(keys.size());
    std::vector<std::size_t> order = {2, 5, 3, 1, 0, 4};
    for (std::size_t i : order) {
        receives[i].key = keys[i];
        posted.add(receives[i]);
    }
    for (std::size_t expected : {2u, 3u, 1u, 0u, 4u})
        EXPECT_EQ(posted.dequeue_match({1, 0, 5}) - receives.data(), expected);
    EXPECT_EQ(posted.dequeue_match({1, 0, 5}), nullptr);
    EXPECT_FALSE(posted.empty());
    EXPECT_EQ(posted.dequeue_match({2, 0, 5}), &receives[5]);
    EXPECT_TRUE(posted.empty());
}

/// Compares the lists with a linear search from the front, over random orders of insertion, matching and removal.
TEST(Posted, AgreesWithAPlainSearch) {
    std::mt19937 random(1);
    auto key = [&] { return Key{1, static_cast<int>(random() % 4) - 1, static_cast<int>(random() % 4) - 1}; };
    auto wild = [](Key k) { return Key{k.context, k.source < 0 ? any_source : k.source, k.tag < 0 ? any_tag : k.tag}; };
    PostedReceives posted;
    std::vector<std::unique_ptr<Receive>> plain;
    for (int step = 0; step < 20000; ++step) {
        if (random() % 2) {
            plain.push_back(std::make_unique<Receive>());
            plain.back()->key = wild(key());
            posted.add(*plain.back());
        } else if (!plain.empty() && random() % 10 == 0) {
            auto victim = plain.begin() + static_cast<long>(random() % plain.size());
            posted.remove(**victim);
            plain.erase(victim);
        } else {
            Key k = key();
            k.source = std::abs(k.source);
            k.tag = std::abs(k.tag);
            auto expected = std::find_if(plain.begin(), plain.end(), [&](auto& r) { return r->key.matches(k); });
            ASSERT_EQ(posted.dequeue_match(k), expected == plain.end() ? nullptr : expected->get()) << "step " << step;
            if (expected != plain.end()) plain.erase(expected);
        }
    }
}

TEST(UnexpectedList, GivesTheOldestMessageForAnyWildcards) {
    FramePool pool;
    UnexpectedList list;
    std::mt19937 random(2);
    std::vector<Unexpected*> plain;
    for (int step = 0; step < 20000; ++step) {
        if (random() % 2) {
            plain.push_back(Unexpected::create(pool, 0));
            plain.back()->key = {1, static_cast<int>(random() % 3), static_cast<int>(random() % 3)};
            list.add(*plain.back());
            continue;
        }
        Key k{1, static_cast<int>(random() % 3), static_cast<int>(random() % 3)};
        if (step > 500) k = k.with_wildcards(static_cast<int>(random() % 4));
        auto expected = std::find_if(plain.begin(), plain.end(), [&](auto* m) { return k.matches(m->key); });
        Unexpected* found = list.find(k);
        ASSERT_EQ(found, expected == plain.end() ? nullptr : *expected) << "step " << step;
        if (!found) continue;
        plain.erase(expected);
        list.remove(*found);
        Unexpected::destroy(found);
    }
}

using Matching = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Matching, every_layout, layout_name);

TEST_P(Matching, TenThousandReceivesInReverseOrder) {
    run(2, [](Rank& r) {
        constexpr int n = 10'000;
        auto type = TypeBuilder::predefined(Basic::int32);
        if (r.me() == 0) {
            std::vector<int> values(n, -1);
            std::vector<Ref<Request>> requests;
            for (int i = 0; i < n; ++i)
                requests.push_back(irecv(*r.comm, &values[static_cast<std::size_t>(i)], 1, *type, 1, n - i));
            r.send({}, 1, 0);
            for (auto& q : requests) r.wait(*q);
            for (int i = 0; i < n; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], n - i);
            for (int i = 0; i < n; ++i) r.send({i}, 1, i);   // unexpected on rank 1
            r.send({}, 1, n);
        } else {
            r.recv(0, 0, 0);
            for (int i = 1; i <= n; ++i) r.send({i}, 0, i);
            r.recv(0, 0, n);
            for (int i = n - 1; i >= 0; --i) ASSERT_EQ(r.recv(1, any_source, i), std::vector{i});
        }
    });
}

TEST_P(Matching, WildcardsMatchMessagesInOrder) {
    run(2, [](Rank& r) {
        if (r.me() == 0) {
            for (int i = 0; i < 100; ++i) r.send({i}, 1, i % 7);
            r.barrier();
        } else {
            r.barrier();   // all messages are unexpected by then
            for (int i = 0; i < 50; ++i) {
                Status s;
                EXPECT_EQ(r.recv(1, i % 2 ? any_source : 0, any_tag, &s), std::vector{i});
                EXPECT_EQ(s.tag, i % 7);
            }
            for (int i = 50; i < 100; ++i) EXPECT_EQ(r.recv(1, any_source, i % 7), std::vector{i});
        }
    });
}

TEST_P(Matching, MessagesOfAllSizesKeepTheirOrder) {
    run(2, [](Rank& r) {
        std::vector<std::size_t> sizes = {1, 10'000, 5, 100'000, 3000, 2, 50'000};
        auto type = TypeBuilder::predefined(Basic::int32);
        if (r.me() == 0) {
            std::vector<std::vector<int>> data;
            std::vector<Ref<Request>> requests;
            for (std::size_t n : sizes) data.push_back(numbers(n, static_cast<int>(n)));
            for (auto& v : data)
                requests.push_back(
                    isend(*r.comm, v.data(), static_cast<std::int64_t>(v.size()), *type, 1, 1, Mode::standard));
            for (auto& q : requests) r.wait(*q);
        } else {
            for (std::size_t n : sizes) EXPECT_EQ(r.recv(100'000, 0, 1), numbers(n, static_cast<int>(n)));
        }
    });
}

using Probe = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, Probe, every_layout, layout_name);

TEST_P(Probe, ReportsAMessageWithoutReceivingIt) {
    for (std::size_t n : {0u, 5u, 1000u, 50'000u})
        run(2, [n](Rank& r) {
            if (r.me() == 0) return r.send(numbers(n, 1), 1, 6);
            Status s;
            EXPECT_FALSE(iprobe(*r.comm, 0, 7, s));
            probe(*r.comm, any_source, any_tag, s, "probe");
            EXPECT_EQ(s.source, 0);
            EXPECT_EQ(s.tag, 6);
            EXPECT_EQ(s.bytes, n * sizeof(int));
            EXPECT_TRUE(iprobe(*r.comm, 0, 6, s));
            EXPECT_EQ(r.recv(n, s.source, s.tag), numbers(n, 1));
            EXPECT_FALSE(iprobe(*r.comm, any_source, any_tag, s));
        });
}

TEST_P(Probe, AMatchedMessageIsInvisibleToOtherReceives) {
    for (std::size_t n : {5u, 1000u, 50'000u})
        run(2, [n](Rank& r) {
            auto type = TypeBuilder::predefined(Basic::int32);
            if (r.me() == 0) {
                std::vector<std::vector<int>> data = {numbers(n, 1), numbers(n, 2), numbers(n, 3)};
                std::vector<Ref<Request>> requests;
                for (auto& v : data)
                    requests.push_back(
                        isend(*r.comm, v.data(), static_cast<std::int64_t>(n), *type, 1, 6, Mode::standard));
                for (auto& q : requests) r.wait(*q);
                return;
            }
            Status s;
            auto first = mprobe(*r.comm, 0, 6, s, "mprobe");
            auto second = mprobe(*r.comm, any_source, any_tag, s, "mprobe");
            EXPECT_EQ(r.recv(n, 0, 6), numbers(n, 3));
            EXPECT_FALSE(improbe(*r.comm, 0, 6, s));
            std::vector<int> a(n), b(n);
            mrecv(*second, Data::of_bytes(b.data(), n * sizeof(int)), s, "mrecv");
            EXPECT_EQ(s.bytes, n * sizeof(int));
            auto request = imrecv(*first, a.data(), static_cast<std::int64_t>(n), *type);
            r.wait(*request);
            EXPECT_EQ(a, numbers(n, 1));
            EXPECT_EQ(b, numbers(n, 2));
        });
}

TEST(ProcNull, AlwaysMatchesProbes) {
    run(1, [](Rank& r) {
        Status s;
        EXPECT_TRUE(iprobe(*r.comm, proc_null, 1, s));
        EXPECT_EQ(s.source, proc_null);
        auto message = mprobe(*r.comm, proc_null, 1, s, "mprobe");
        EXPECT_EQ(message->content, nullptr);
        mrecv(*message, {}, s, "mrecv");
        EXPECT_EQ(s.source, proc_null);
    });
}

}   // namespace
}   // namespace tutti::p2p::test
