// SPDX-License-Identifier: BSD-3-Clause
// Tests operations of several threads of one rank, as under MPI_THREAD_MULTIPLE: while one thread waits for space for
// its next piece, other threads use the same target.
#include "runtime/datatype/datatype.hpp"
#include "tests/rma/am_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

constexpr std::int64_t many = 700'000;   // 43 pieces: more than can be in flight

/// Every n-th of `count` numbers.
Ref<Datatype> every(std::int64_t n, std::int64_t count) {
    Ref<Datatype> const type = type_of(Basic::int64);
    Ref<Datatype> made = TypeBuilder::hvector(count, 1, n * type->extent(), *type);
    TypeBuilder::set_recipe(*made, {Combiner::hvector, {}, {}, {type}});
    return made;
}

/// Rank 0 adds `many` numbers to every second element of rank 1 and fetches the old values. Rank 1 sends no answer
/// until `meanwhile` runs in another thread of rank 0; the call of rank 0 waits at that time. `then` runs after the
/// call.
void add_and_meanwhile(std::function<void(Member&)> const& meanwhile, std::function<void(Member&)> const& then) {
    std::atomic<bool> locked = false, begun = false;
    run_windows({"two_nodes", {0, 1}}, 2 * many + 1000, [&](Member& me) {
        if (me.rank() == 1) {
            lock(me.window, true, 1, {}, "lock");
            locked = true;
            me.compute_until(begun);
            let_others_run(me);
            unlock(me.window, 1, "unlock");
        } else {
            me.compute_until(locked);
            Ref<Datatype> const places = every(2, many), type = type_of(Basic::int64);
            std::vector<std::int64_t> numbers(many);
            std::vector<std::int64_t> old(many, -1);
            std::iota(numbers.begin(), numbers.end(), 1);
            lock(me.window, false, 1, {}, "lock");
            std::thread other([&] {
                RankLock::ScopedLock guard(me.comm.process.lock);   // not before the main thread waits
                begun = true;
                meanwhile(me);
            });
            get_accumulate(me.window, Local::of(numbers.data(), many, *type), Local::of(old.data(), many, *type),
                           {1, 0, 1, *places}, Operator(BuiltinOp::sum));
            then(me);
            {
                RankLock::ScopedUnlock unlocked(me.comm.process.lock);
                other.join();
            }
            unlock(me.window, 1, "unlock");
            EXPECT_EQ(std::ranges::count(old, 0), many);
        }
        coll::barrier(me.comm);
        if (me.rank() == 1)
            for (std::size_t i = 0; i < many; ++i) {
                ASSERT_EQ(me.memory[2 * i], static_cast<std::int64_t>(i) + 1) << i;
                ASSERT_EQ(me.memory[2 * i + 1], 0) << i;
            }
        coll::barrier(me.comm);
    });
}

TEST(MessageThreads, AFlushConfirmsPiecesBehindThatOfAnotherThread) {
    add_and_meanwhile([](Member& me) { flush(me.window, 1, "flush"); },
                      [](Member& me) {
                          ActiveMessages::Sent const before = me.sent();
                          flush(me.window, 1, "flush");
                          EXPECT_EQ(me.sent().commands - before.commands, 1u) << "the last pieces need a flush";
                      });
}

TEST(MessageThreads, ADatatypeIsDescribedAgainIfItsNumberWasReused) {
    add_and_meanwhile(
        [](Member& me) {
            std::int64_t const values[] = {-1, -2};
            Ref<Datatype> const type = type_of(Basic::int64);
            for (std::int64_t n = 3; n < 40; ++n)
                put(me.window, Local::of(values, 2, *type), {1, 2 * many, 1, *every(n, 2)});
        },
        [](Member&) {});
}

}   // namespace
}   // namespace tutti::rma::ranks_as_threads
