// SPDX-License-Identifier: BSD-3-Clause
// Fails a test whose wait names another rank than the one that stores the flag.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_env.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

struct Waiting : ThreadMemory {
    using ThreadMemory::ThreadMemory;

    void store(std::atomic<std::uint64_t>& word) {
        word.store(1, std::memory_order_release);
        wake_waiters(word);
    }
    Task wait(std::atomic<std::uint64_t> const& word, int named) { co_await until(word, 1, named); }
};

/// Rank 0 waits for a flag of rank 1 and names `named` as the rank that stores it.
void wait_naming(int named) {
    ThreadWorld world(3, make_tree(3, 2));
    std::atomic<std::uint64_t>& word = world.area.done(1).value;
    run_as_ranks(3, [&](int rank) {
        FramePool frames;
        Waiting memory(world, rank, frames);
        if (rank == 1) memory.store(word);
        if (rank != 0) return;
        wait_until([&] { return word.load(std::memory_order_acquire) == 1; });
        Task task = memory.wait(word, named);
        task.resume();
        task.check();
    });
}

TEST(Writers, AWaitNamesTheRankThatStores) { wait_naming(1); }
TEST(Writers, AWaitMayNameNoRank) { wait_naming(any_peer); }
TEST(Writers, AWaitThatNamesAnotherRankFails) {
    EXPECT_NONFATAL_FAILURE(wait_naming(2), "rank 0 waits for rank 2, but rank 1 stored the word");
}

}   // namespace
}   // namespace tutti::coll::test
