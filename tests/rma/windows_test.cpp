// SPDX-License-Identifier: BSD-3-Clause
// Tests windows of every flavor among ranks of one node: in each kind of epoch, data arrives at its target
// displacement.
#include <numeric>

#include "tests/rma/world.hpp"

using namespace tutti;
using namespace tutti::rma;
using namespace tutti::rma::ranks_as_threads;

namespace {

Local ints(std::vector<int>& v, Datatype const& type) {
    return Local::of(v.data(), static_cast<std::int64_t>(v.size()), type);
}

Ref<Group> group_of(Window& w, std::vector<int> ranks) {
    return Ref<Group>::adopt(new Group(std::move(ranks), w.process.rank()));
}

struct Made {
    Ref<Window> window;
    int* mine;
};

/// A window of `n` ints per rank. If the caller provides the memory, it is `room`.
Made make(Comm& comm, Flavor flavor, int n, std::vector<int>& room) {
    auto const bytes = static_cast<std::int64_t>(n * sizeof(int));
    room.assign(static_cast<std::size_t>(n), 0);
    switch (flavor) {
    case Flavor::create: return {create(comm, room.data(), bytes, sizeof(int), nullptr), room.data()};
    case Flavor::allocate: {
        Ref<Window> w = allocate(comm, bytes, sizeof(int), nullptr);
        int* const base = static_cast<int*>(w->base);
        return {std::move(w), base};
    }
    case Flavor::shared: {
        Ref<Window> w = allocate_shared(comm, bytes, sizeof(int), nullptr);
        int* const base = static_cast<int*>(w->base);
        return {std::move(w), base};
    }
    case Flavor::dynamic: break;
    }
    Ref<Window> w = create_dynamic(comm, nullptr);
    attach(*w, room.data(), bytes);
    return {std::move(w), room.data()};
}

class Windows : public testing::TestWithParam<Flavor> {
protected:
    /// The displacement of the i-th int at `rank`.
    static std::int64_t at(Window& w, std::vector<std::int64_t> const& bases, int rank, int i) {
        return w.flavor == Flavor::dynamic ? bases[static_cast<std::size_t>(rank)] + i * 4 : i;
    }
    static std::vector<std::int64_t> everybodys(Comm& comm, void* base) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()));
        auto const mine = reinterpret_cast<std::int64_t>(base);
        coll::allgather_bytes(comm, &mine, sizeof mine, all.data());
        return all;
    }
};

TEST_P(Windows, neighbours_put_and_get_between_fences) {
    for (int ranks : {1, 2, 5})
        run(ranks, [&](Comm& comm) {
            constexpr int n = 3000;
            std::vector<int> room;
            auto [window, mine] = make(comm, GetParam(), n, room);
            auto const bases = everybodys(comm, mine);
            auto const type = type_of(Basic::int32);
            int const me = comm.rank(), next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
            for (int round = 0; round < 3; ++round) {
                std::vector<int> out(n), in(n, -1);
                std::iota(out.begin(), out.end(), 1000 * me + round);
                fence(*window, {}, "fence");
                put(*window, ints(out, *type), {next, at(*window, bases, next, 0), n, *type});
                fence(*window, {}, "fence");
                EXPECT_EQ(mine[17], 1000 * before + round + 17);
                get(*window, ints(in, *type), {next, at(*window, bases, next, 0), n, *type});
                fence(*window, {.no_succeed = true}, "fence");
                EXPECT_EQ(in, out);
                EXPECT_EQ(open_epochs(*window), "");
            }
            free(std::move(window));
        });
}

TEST_P(Windows, groups_take_turns) {
    run(3, [&](Comm& comm) {
        std::vector<int> room;
        auto [window, mine] = make(comm, GetParam(), 4, room);
        auto const bases = everybodys(comm, mine);
        auto const type = type_of(Basic::int32);
        // Rank 0 is the target of both other ranks in each turn; they run ahead as far as the epochs allow.
        for (int round = 1; round <= 200; ++round) {
            if (comm.rank() == 0) {
                post(*window, group_of(*window, {1, 2}), {}, "post");
                if (round % 2) wait(*window, "wait");
                else
                    while (!test(*window, "test")) {}
                ASSERT_EQ(mine[1], round);
                ASSERT_EQ(mine[2], 2 * round);
            } else {
                std::vector<int> value{round * comm.rank()};
                start(*window, group_of(*window, {0}), {}, "start");
                put(*window, ints(value, *type), {0, at(*window, bases, 0, comm.rank()), 1, *type});
                complete(*window, "complete");
            }
        }
        free(std::move(window));
    });
}

TEST_P(Windows, exclusive_locks_protect_a_counter) {
    run(4, [&](Comm& comm) {
        std::vector<int> room;
        auto [window, mine] = make(comm, GetParam(), 1, room);
        auto const bases = everybodys(comm, mine);
        auto const type = type_of(Basic::int32);
        std::vector<int> value(1);
        for (int i = 0; i < 300; ++i) {
            lock(*window, true, 0, {}, "lock");
            get(*window, ints(value, *type), {0, at(*window, bases, 0, 0), 1, *type});
            ++value[0];
            put(*window, ints(value, *type), {0, at(*window, bases, 0, 0), 1, *type});
            unlock(*window, 0, "unlock");
        }
        coll::barrier(comm);
        lock(*window, false, 0, {}, "lock");
        get(*window, ints(value, *type), {0, at(*window, bases, 0, 0), 1, *type});
        unlock(*window, 0, "unlock");
        EXPECT_EQ(value[0], 1200);
        free(std::move(window));
    });
}

TEST_P(Windows, accumulates_of_all_ranks_add_up) {
    run(4, [&](Comm& comm) {
        std::vector<int> room;
        auto [window, mine] = make(comm, GetParam(), 600, room);
        auto const bases = everybodys(comm, mine);
        auto const type = type_of(Basic::int32);
        Operator const sum(BuiltinOp::sum);
        std::vector<int> ones(600, 1), old(600);
        lock_all(*window, {}, "lock_all");
        for (int i = 0; i < 100; ++i)
            for (int r = 0; r < 4; ++r) {
                if (i % 2) accumulate(*window, ints(ones, *type), {r, at(*window, bases, r, 0), 600, *type}, sum);
                else
                    get_accumulate(*window, ints(ones, *type), ints(old, *type),
                                   {r, at(*window, bases, r, 0), 600, *type}, sum);
            }
        flush_all(*window, "flush_all");
        unlock_all(*window, "unlock_all");
        coll::barrier(comm);
        for (int i = 0; i < 600; ++i) ASSERT_EQ(mine[i], 400);
        free(std::move(window));
    });
}

INSTANTIATE_TEST_SUITE_P(Flavors, Windows,
                         testing::Values(Flavor::create, Flavor::allocate, Flavor::shared, Flavor::dynamic));

TEST(Operations, layouts_on_both_sides) {
    run(2, [](Comm& comm) {
        auto const type = type_of(Basic::int32);
        auto const every_third = TypeBuilder::hvector(5, 1, 12, *type), pairs = TypeBuilder::hvector(3, 2, 16, *type);
        Ref<Window> window = allocate(comm, 4 * 40, 4, nullptr);
        auto* const mine = static_cast<int*>(window->base);
        fence(*window, {}, "fence");
        if (comm.rank() == 0) {
            std::vector<int> out(40);
            std::iota(out.begin(), out.end(), 1);
            put(*window, Local::of(out.data(), 1, *pairs), {1, 2, 6, *type});   // 1 2 5 6 9 10
            put(*window, Local::of(out.data(), 5, *type), {1, 10, 1, *every_third});
        }
        fence(*window, {}, "fence");
        if (comm.rank() == 1) {
            EXPECT_EQ(std::vector<int>(mine + 2, mine + 8), (std::vector<int>{1, 2, 5, 6, 9, 10}));
            for (int i = 0; i < 5; ++i) EXPECT_EQ(mine[10 + 3 * i], i + 1);
            EXPECT_EQ(mine[11], 0);
        }
        free(std::move(window));
    });
}

TEST(Operations, errors_are_reported) {
    run(2, [](Comm& comm) {
        auto const type = type_of(Basic::int32);
        Ref<Window> window = allocate(comm, 40, 4, nullptr);
        std::vector<int> v(4);
        Window& w = *window;
        expect_error(ErrorClass::rma_sync, [&] { put(w, ints(v, *type), {1, 0, 4, *type}); });
        expect_error(ErrorClass::rma_sync, [&] { unlock(w, 1, "unlock"); });
        expect_error(ErrorClass::rma_sync, [&] { complete(w, "complete"); });
        expect_error(ErrorClass::rma_sync, [&] { flush(w, 0, "flush"); });
        lock_all(w, {}, "lock_all");
        expect_error(ErrorClass::rma_range, [&] { put(w, ints(v, *type), {1, 7, 4, *type}); });
        expect_error(ErrorClass::rma_range, [&] { get(w, ints(v, *type), {1, -1, 4, *type}); });
        expect_error(ErrorClass::truncate, [&] { get(w, ints(v, *type), {1, 0, 5, *type}); });
        expect_error(ErrorClass::rma_sync, [&] { lock(w, true, 0, {}, "lock"); });
        expect_error(ErrorClass::rma_sync, [&] { fence(w, {}, "fence"); });
        unlock_all(w, "unlock_all");
        expect_error(ErrorClass::rma_flavor, [&] { attach(w, v.data(), 16); });
        free(std::move(window));
    });
}

TEST(Operations, parts_of_a_shared_window_are_contiguous) {
    run(3, [](Comm& comm) {
        Ref<Window> window = allocate_shared(comm, comm.rank() == 0 ? 0 : 1000 * comm.rank(), 1, nullptr);
        EXPECT_EQ(shared_query(*window, proc_null).base, shared_query(*window, 1).base);
        EXPECT_EQ(shared_query(*window, 2).bytes, 2000);
        EXPECT_EQ(static_cast<char*>(shared_query(*window, 1).base) + 1000, shared_query(*window, 2).base);
        std::memset(window->base, comm.rank(), static_cast<std::size_t>(window->bytes));
        fence(*window, {}, "fence");
        for (int r = 1; r < 3; ++r) EXPECT_EQ(static_cast<char*>(shared_query(*window, r).base)[500], r);
        free(std::move(window));
    });
}

}   // namespace
