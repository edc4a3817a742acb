// SPDX-License-Identifier: BSD-3-Clause
// Memory that runs out in a target, at each place where it asks for some while it does what others want: every command
// is done once, and in order, when there is memory again.
#include "runtime/datatype/recipe.hpp"
#include "tests/coll/world/allocations.hpp"
#include "tests/rma/messages/messages_world.hpp"

namespace tutti::rma::ranks_as_threads {
namespace {

constexpr std::size_t most = 30;   // more allocations than a round takes

/// Two numbers, `n` apart: each is described once.
Ref<Datatype> apart(std::int64_t n) {
    Ref<Datatype> const type = type_of(Basic::int64);
    Ref<Datatype> made = TypeBuilder::hvector(2, 1, n * type->extent(), *type);
    TypeBuilder::remember(*made, {Combiner::hvector, {}, {}, {type}});
    return made;
}

/// Polls until rank 0 has asked for everything and for some time more, while no allocation but the first `allowed`
/// succeeds. The caller is inside the rank's lock, so nothing else polls.
void poll_without_memory(Member& me, std::size_t allowed, std::atomic<bool> const& asked) {
    coll::test::MemoryEnds const ends(allowed);
    for (int behind = 0; behind < 40; behind += asked.load()) {
        me.comm.process.waiter.progress();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

/// One round of rank 0: all that a target does, and what it fetches.
void use_target(Member& me, std::size_t round, std::atomic<bool>& asked) {
    Ref<Datatype> const type = type_of(Basic::int64), pair = apart(3 + static_cast<std::int64_t>(round));
    Operator const sum(BuiltinOp::sum);
    auto const number = static_cast<std::int64_t>(round);
    std::int64_t const one = 1, next = number + 1, pairs[2] = {number, -number};
    std::int64_t before = -1, swapped = -1, seen[2] = {}, whole = -1;
    lock(me.window, true, 1, {}, "lock");
    fetch_and_op(me.window, &one, &before, *type, 1, 0, sum);
    compare_and_swap(me.window, &next, &number, &swapped, *type, 1, 1);
    put(me.window, Local::of(pairs, 2, *type), {1, 10, 1, *pair});
    accumulate(me.window, Local::of(&one, 1, *type), {1, 2, 1, *type}, sum);
    get(me.window, Local::of(seen, 2, *type), {1, 10, 1, *pair});
    get(me.window, Local::of(&whole, 1, *type), {1, 2, 1, *type});
    asked = true;   // now the commands leave
    unlock(me.window, 1, "unlock");
    EXPECT_EQ(before, number);
    EXPECT_EQ(swapped, number);
    EXPECT_EQ(seen[0], number);
    EXPECT_EQ(seen[1], -number);
    EXPECT_EQ(whole, number + 1);
}

TEST(MessageMemory, EachCommandIsDoneOnceWhenThereIsMemoryAgain) {
    struct Round {
        std::atomic<bool> polling = false, asked = false;
    };
    std::vector<Round> rounds(most);
    run_windows({"two_nodes", {0, 1}}, 100, [&](Member& me) {
        for (std::size_t round = 0; round < most; ++round) {
            auto& [polling, asked] = rounds[round];
            coll::barrier(me.comm);
            if (me.rank() == 0) {
                me.compute_until(polling);
                use_target(me, round, asked);
            } else {
                polling = true;
                poll_without_memory(me, round, asked);
            }
        }
        coll::barrier(me.comm);
        if (me.rank() == 1) {
            EXPECT_EQ(me.memory[0], most);
            EXPECT_EQ(me.memory[1], most);
            EXPECT_EQ(me.memory[2], most);
        }
        coll::barrier(me.comm);
    });
}

}   // namespace
}   // namespace tutti::rma::ranks_as_threads
