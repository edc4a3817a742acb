// SPDX-License-Identifier: BSD-3-Clause
// ranks: 2 8
// All one-sided operations from four concurrent threads of each rank, on windows over the same memory: one that is
// always locked by lock_all, and one for each thread's exclusive locks. A seed determines all operations, so each rank
// can repeat them in a serial model of its own part and compare. Arguments: the seed, and the steps of each thread;
// with 0 steps, the program runs until the rank is killed.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/ranks/check.h"

namespace {

constexpr int threads = 4, max_steps = 1000, max_ranks = 16, most_taken = max_ranks * threads * max_steps;

// The memory that each rank exposes; initially zero.
struct Part {
    double sums[16];
    std::int64_t bits[16], greatest[8];
    long double wide[4];   // no processor adds these atomically
    std::int64_t counter;
    std::int64_t lock, guarded[2];          // by compare-and-swap; both count how often the lock was held
    std::int64_t blocks[threads][8];        // under the exclusive locks of each thread's window
    std::int64_t own[max_ranks][threads];   // written by one thread alone
    std::int32_t taken[most_taken];         // how often the counter returned this number
};

enum Kind { sum, exclusive_or, maximum, wide_sum, count, swap_lock, exclusive_lock, own_slot, kinds };

struct Step {
    Kind kind;
    int target, place, amount;
};

class Steps {
public:
    Steps(unsigned seed, int rank, int thread)
        : state_(seed * 2654435761u + unsigned(rank * threads + thread) * 40503u + 1) {}
    Step next(int ranks) {
        const Kind kind = Kind(draw(kinds));
        const int target = int(draw(unsigned(ranks))), place = int(draw(8));
        return {kind, target, place, 1 + int(draw(1000))};
    }

private:
    unsigned draw(unsigned limit) {
        state_ = state_ * 1664525u + 1013904223u;
        return (state_ >> 8) % limit;
    }
    unsigned state_;
};

struct Storm {
    int rank = 0, ranks = 1;
    unsigned seed = 1;
    int steps = 0;
    std::unique_ptr<Part> part = std::make_unique<Part>();
    MPI_Win all = MPI_WIN_NULL;
    std::array<MPI_Win, threads> locked{};
    MPI_Datatype every_second = MPI_DATATYPE_NULL;
};

#define AT(field) MPI_Aint(offsetof(Part, field))

template <class Number>
MPI_Aint at(MPI_Aint array, int place) {
    return array + place * MPI_Aint(sizeof(Number));
}

void add(Storm& s, Step const& step) {
    std::array<double, 8> const amounts{double(step.amount), 1, 2, 3, 4, 5, 6, 7};
    MPI_Request request;
    MPI_Raccumulate(amounts.data(), 8, MPI_DOUBLE, step.target, at<double>(AT(sums), step.place), 8, MPI_DOUBLE,
                    MPI_SUM, s.all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void flip(Storm& s, Step const& step) {
    std::int64_t const amounts[4] = {step.amount, step.amount << 3, step.amount << 6, step.amount << 9};
    MPI_Accumulate(amounts, 4, MPI_INT64_T, step.target, at<std::int64_t>(AT(bits), step.place), 1, s.every_second,
                   MPI_BXOR, s.all);
    MPI_Win_flush_local(step.target, s.all);   // the origin buffers go out of scope
}

void raise(Storm& s, Step const& step) {
    std::int64_t const amount = step.amount;
    std::int64_t before = -1, after = -1;
    MPI_Aint const place = at<std::int64_t>(AT(greatest), step.place);
    MPI_Get_accumulate(&amount, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, step.target, place, 1, MPI_INT64_T, MPI_MAX,
                       s.all);
    MPI_Win_flush(step.target, s.all);
    MPI_Fetch_and_op(nullptr, &after, MPI_INT64_T, step.target, place, MPI_NO_OP, s.all);
    MPI_Win_flush(step.target, s.all);
    CHECK(before >= 0 && after >= amount && after >= before, "%lld became %lld by the maximum with %lld",
          (long long)before, (long long)after, (long long)amount);
}

void add_wide(Storm& s, Step const& step) {
    long double const amount = step.amount;
    MPI_Accumulate(&amount, 1, MPI_LONG_DOUBLE, step.target, at<long double>(AT(wide), step.place % 4), 1,
                   MPI_LONG_DOUBLE, MPI_SUM, s.all);
    MPI_Win_flush(step.target, s.all);
}

void take_number(Storm& s, Step const& step) {
    std::int64_t const one = 1;
    std::int32_t const once = 1;
    std::int64_t number = -1;
    MPI_Fetch_and_op(&one, &number, MPI_INT64_T, step.target, AT(counter), MPI_SUM, s.all);
    MPI_Win_flush(step.target, s.all);
    CHECK(number >= 0, "a counter gave %lld", (long long)number);
    if (number < most_taken)
        MPI_Accumulate(&once, 1, MPI_INT32_T, step.target, at<std::int32_t>(AT(taken), int(number)), 1, MPI_INT32_T,
                       MPI_SUM, s.all);
    MPI_Win_flush(step.target, s.all);
}

void hold_swap_lock(Storm& s, Step const& step) {
    std::int64_t const free = 0, mine = s.rank + 1;
    std::int64_t before = -1, guarded[2];
    for (;;) {
        MPI_Compare_and_swap(&mine, &free, &before, MPI_INT64_T, step.target, AT(lock), s.all);
        MPI_Win_flush(step.target, s.all);
        if (before == free) break;
        sched_yield();
    }
    MPI_Get(guarded, 2, MPI_INT64_T, step.target, AT(guarded), 2, MPI_INT64_T, s.all);
    MPI_Win_flush(step.target, s.all);
    CHECK(guarded[0] == guarded[1], "under the lock %lld and %lld", (long long)guarded[0], (long long)guarded[1]);
    ++guarded[0], ++guarded[1];
    MPI_Put(guarded, 2, MPI_INT64_T, step.target, AT(guarded), 2, MPI_INT64_T, s.all);
    MPI_Win_flush(step.target, s.all);
    MPI_Accumulate(&free, 1, MPI_INT64_T, step.target, AT(lock), 1, MPI_INT64_T, MPI_REPLACE, s.all);
    MPI_Win_flush(step.target, s.all);
}

void hold_exclusive_lock(Storm& s, Step const& step, int thread) {
    MPI_Win const window = s.locked[std::size_t(thread)];
    MPI_Aint const place = at<std::int64_t>(AT(blocks), 8 * thread);
    std::int64_t block[8];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, step.target, 0, window);
    MPI_Get(block, 8, MPI_INT64_T, step.target, place, 8, MPI_INT64_T, window);
    MPI_Win_flush(step.target, window);
    for (int i = 0; i < 8; ++i) {
        CHECK(block[i] == block[0], "in an exclusive lock number %d is %lld and the first %lld", i, (long long)block[i],
              (long long)block[0]);
    }
    for (auto& number : block) ++number;
    MPI_Put(block, 8, MPI_INT64_T, step.target, place, 8, MPI_INT64_T, window);
    MPI_Win_unlock(step.target, window);
}

void use_own_slot(Storm& s, Step const& step, int thread) {
    std::int64_t const number = step.amount;
    std::int64_t back = -1;
    MPI_Aint const place = at<std::int64_t>(AT(own), s.rank * threads + thread);
    MPI_Request request;
    MPI_Rput(&number, 1, MPI_INT64_T, step.target, place, 1, MPI_INT64_T, s.all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(step.target, s.all);
    MPI_Rget(&back, 1, MPI_INT64_T, step.target, place, 1, MPI_INT64_T, s.all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(back == number, "put %lld, got %lld", (long long)number, (long long)back);
}

void work(Storm& s, int thread) {
    Steps steps(s.seed, s.rank, thread);
    for (int i = 0; s.steps == 0 || i < s.steps; ++i) {
        Step const step = steps.next(s.ranks);
        switch (step.kind) {
        case sum: add(s, step); break;
        case exclusive_or: flip(s, step); break;
        case maximum: raise(s, step); break;
        case wide_sum: add_wide(s, step); break;
        case count: take_number(s, step); break;
        case swap_lock: hold_swap_lock(s, step); break;
        case exclusive_lock: hold_exclusive_lock(s, step, thread); break;
        default: use_own_slot(s, step, thread);
        }
    }
}

// Applies the step to the model of its target.
void do_serially(Part& part, Step const& step, int rank, int thread) {
    switch (step.kind) {
    case sum:
        for (int i = 0; i < 8; ++i) part.sums[step.place + i] += i == 0 ? step.amount : i;
        break;
    case exclusive_or:
        for (int i = 0; i < 4; ++i) part.bits[step.place + 2 * i] ^= std::int64_t(step.amount) << 3 * i;
        break;
    case maximum: part.greatest[step.place] = std::max(part.greatest[step.place], std::int64_t(step.amount)); break;
    case wide_sum: part.wide[step.place % 4] += step.amount; break;
    case count: part.taken[part.counter++] = 1; break;
    case swap_lock:
        for (auto& number : part.guarded) ++number;
        break;
    case exclusive_lock:
        for (auto& number : part.blocks[thread]) ++number;
        break;
    default: part.own[rank][thread] = step.amount;
    }
}

template <class Number, std::size_t count>
void compare(char const* what, Number const (&found)[count], Number const (&right)[count]) {
    for (std::size_t i = 0; i < count; ++i)
        CHECK(found[i] == right[i], "%s %d: %.0Lf instead of %.0Lf", what, int(i), (long double)found[i],
              (long double)right[i]);
}

void check(Storm const& s) {
    auto right = std::make_unique<Part>();
    for (int rank = 0; rank < s.ranks; ++rank)
        for (int thread = 0; thread < threads; ++thread) {
            Steps steps(s.seed, rank, thread);
            for (int i = 0; i < s.steps; ++i)
                if (Step const step = steps.next(s.ranks); step.target == s.rank)
                    do_serially(*right, step, rank, thread);
        }
    Part const& part = *s.part;
    compare("sum", part.sums, right->sums);
    compare("exclusive or", part.bits, right->bits);
    compare("maximum", part.greatest, right->greatest);
    compare("wide sum", part.wide, right->wide);
    compare("guarded", part.guarded, right->guarded);
    CHECK(part.lock == 0 && part.counter == right->counter, "lock %lld, counter %lld instead of %lld",
          (long long)part.lock, (long long)part.counter, (long long)right->counter);
    compare("taken", part.taken, right->taken);
    for (int thread = 0; thread < threads; ++thread) compare("block", part.blocks[thread], right->blocks[thread]);
    for (int rank = 0; rank < s.ranks; ++rank) compare("own slot", part.own[rank], right->own[rank]);
}

void make_windows(Storm& s) {
    for (MPI_Win* window : {&s.all, &s.locked[0], &s.locked[1], &s.locked[2], &s.locked[3]})
        MPI_Win_create(s.part.get(), sizeof(Part), 1, MPI_INFO_NULL, MPI_COMM_WORLD, window);
    MPI_Type_vector(4, 1, 2, MPI_INT64_T, &s.every_second);
    MPI_Type_commit(&s.every_second);
    MPI_Win_lock_all(0, s.all);
    MPI_Barrier(MPI_COMM_WORLD);
}

void free_windows(Storm& s) {
    MPI_Win_unlock_all(s.all);
    MPI_Type_free(&s.every_second);
    for (MPI_Win* window : {&s.all, &s.locked[0], &s.locked[1], &s.locked[2], &s.locked[3]}) MPI_Win_free(window);
}

}   // namespace

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    Storm storm;
    storm.seed = argc > 1 ? unsigned(std::atoi(argv[1])) : 1;
    storm.steps = argc > 2 ? std::atoi(argv[2]) : 300;
    MPI_Comm_rank(MPI_COMM_WORLD, &storm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &storm.ranks);
    CHECK(storm.ranks <= max_ranks && storm.steps <= max_steps, "too many ranks or steps");
    make_windows(storm);
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) workers.emplace_back(work, std::ref(storm), thread);
    for (auto& worker : workers) worker.join();
    MPI_Win_flush_all(storm.all);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(storm.all);
    check(storm);
    MPI_Barrier(MPI_COMM_WORLD);
    free_windows(storm);
    MPI_Finalize();
    return 0;
}
