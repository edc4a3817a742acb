// SPDX-License-Identifier: BSD-3-Clause
// Thread storm: four ranks with eight threads each, in one process, so that ThreadSanitizer sees all accesses. The
// threads of a rank share its engine and its lock.
#include <atomic>
#include <random>

#include "runtime/wait/progress_thread.hpp"
#include "tests/p2p/world.hpp"

namespace tutti::p2p::test {
namespace {

constexpr unsigned ranks = 4;
constexpr int threads = 8;

/// Makes a call with the locks that mpi_h/ takes.
struct Visit {
    explicit Visit(Rank& r) : waiter(r.process.waiter) { waiter.enter(); }
    ~Visit() { waiter.leave(); }
    Waiter& waiter;
};

/// Runs `body(rank, thread)` in each thread of each rank.
template <class Body>
void storm(Layout layout, Body const& body, bool progress_thread = false) {
    run(
        ranks,
        [&](Rank& r) {
            r.process.thread_multiple = true;
            r.process.lock.enable();
            if (progress_thread) r.process.progress_thread = std::make_unique<ProgressThread>(r.process.waiter);
            std::vector<std::thread> all;
            for (int t = 0; t < threads; ++t) all.emplace_back([&, t] { body(r, t); });
            for (std::thread& t : all) t.join();
            r.process.progress_thread.reset();
        },
        shared_wait(), layout);
}

std::size_t length(int key) { return std::size_t{1} << (key * 7 % 16); }   // up to 128 KiB

void blocking(Rank& r, int t) {
    for (int round = 0; round < 12; ++round) {
        int const step = 1 + round % (r.size() - 1), to = (r.me() + step) % r.size();
        int const from = (r.me() - step + r.size()) % r.size();
        std::vector<int> const out = numbers(length(t + round), r.me() * threads + t);
        std::vector<int> in(out.size(), -1);
        Status status;
        {
            Visit visit(r);
            sendrecv(*r.comm, Data::of_bytes(out.data(), out.size() * sizeof(int)), to, t,
                     Data::of_bytes(in.data(), in.size() * sizeof(int)), from, t, status, "sendrecv");
        }
        ASSERT_EQ(in, numbers(length(t + round), from * threads + t));
        int const other = r.me() ^ (1 + round % 3);
        Visit visit(r);
        if (r.me() < other) r.send(out, other, 100 + t, round % 2 ? Mode::standard : Mode::synchronous);
        else EXPECT_EQ(r.recv(out.size(), other, 100 + t), numbers(out.size(), other * threads + t));
    }
}

/// Half of the threads send; the others receive any message of the rank.
void wildcards(Rank& r, int t, std::vector<std::atomic<int>>& seen, std::vector<std::atomic<int>>& left) {
    constexpr int each = 30;
    if (t % 2 == 0) {
        std::mt19937 random(static_cast<unsigned>(r.me() * threads + t));
        Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);   // programs never free predefined types
        for (int i = 0; i < each; ++i)
            for (int to = 0; to < r.size(); ++to) {
                std::vector<int> const out = numbers(length(i), (r.me() * threads + t) * each + i);
                Visit visit(r);
                auto request = isend(*r.comm, out.data(), static_cast<std::int64_t>(out.size()), *type, to,
                                     static_cast<int>(random() % 1000), i % 3 ? Mode::standard : Mode::synchronous);
                r.wait(*request);
            }
        return;
    }
    auto const me = static_cast<std::size_t>(r.me());
    std::vector<int> in(1 << 16);
    while (left[me].fetch_sub(1) > 0) {
        Status status;
        {
            Visit visit(r);
            auto message = mprobe(*r.comm, any_source, any_tag, status, "mprobe");
            mrecv(*message, Data::of_bytes(in.data(), status.bytes), status, "mrecv");
        }
        int const key = in[0] / 1000;
        ASSERT_EQ(status.source, key / each / threads);
        ASSERT_EQ(status.bytes, length(key % each) * sizeof(int));
        for (std::size_t i = 0; i < status.bytes / sizeof(int); ++i) ASSERT_EQ(in[i], in[0] + static_cast<int>(i));
        seen[static_cast<std::size_t>(key)].fetch_add(1);
    }
}

/// Each thread waits for its own requests, which may complete in any thread's call.
void requests(Rank& r, int t) {
    Ref<Datatype> const type = TypeBuilder::predefined(Basic::int32);
    for (int round = 0; round < 10; ++round) {
        std::vector<std::vector<int>> in, out;
        std::vector<Ref<Request>> all;
        for (int peer = 0; peer < r.size(); ++peer) {   // this rank, too
            auto const n = static_cast<std::int64_t>(length(peer + t + round));
            in.emplace_back(length(r.me() + t + round), -1);
            out.push_back(numbers(static_cast<std::size_t>(n), r.me() * threads + t));
            Visit visit(r);
            auto const room = static_cast<std::int64_t>(in.back().size());
            all.push_back(irecv(*r.comm, in.back().data(), room, *type, peer, t));
            all.push_back(isend(*r.comm, out.back().data(), n, *type, peer, t, Mode::standard));
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            Visit visit(r);
            if (i % 3 == 0)
                while (!r.process.waiter.test([&] { return all[i]->complete; })) {}
            else r.wait(*all[i]);
        }
        for (int peer = 0; peer < r.size(); ++peer)
            ASSERT_EQ(in[static_cast<std::size_t>(peer)], numbers(length(r.me() + t + round), peer * threads + t));
        Visit visit(r);
        all.clear();   // the last references
    }
}

using ThreadStorm = OnEveryLayout;
INSTANTIATE_TEST_SUITE_P(Layouts, ThreadStorm, every_layout, layout_name);

TEST_P(ThreadStorm, BlockingMessages) { storm(GetParam(), blocking); }

TEST_P(ThreadStorm, WildcardsAndMatchedProbes) {
    std::vector<std::atomic<int>> seen(ranks * threads * 30), left(ranks);
    for (auto& l : left) l = ranks * threads / 2 * 30;
    storm(GetParam(), [&](Rank& r, int t) { wildcards(r, t, seen, left); });
    for (std::size_t key = 0; key < seen.size(); ++key)
        EXPECT_EQ(seen[key], key / 30 % threads % 2 == 0 ? static_cast<int>(ranks) : 0) << "message " << key;
}

TEST_P(ThreadStorm, Requests) { storm(GetParam(), requests); }
TEST_P(ThreadStorm, RequestsWithAProgressThread) { storm(GetParam(), requests, true); }

TEST_P(ThreadStorm, EverythingConcurrently) {
    storm(
        GetParam(), [&](Rank& r, int t) { t % 2 ? blocking(r, t) : requests(r, t); }, true);
}

}   // namespace
}   // namespace tutti::p2p::test
