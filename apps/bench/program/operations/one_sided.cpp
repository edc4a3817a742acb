// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations with their synchronisation, as --sync and --per-sync say, and synchronisations alone. In loops
// the target's window is not written anew between the calls, so what accumulates there is a multiple of what is sent.
#include "operation.hpp"

#include <cstring>

namespace bench {
namespace {

bool is_origin(const Call &call) { return call.rank == 0; }
bool nowhere(const Call &) { return false; }

double from_origin(const Call &, std::size_t index, int iteration) { return value(0, index, iteration); }
double from_target(const Call &call, std::size_t index, int iteration)
{
    return value(call.one_sided.target, index, iteration);
}
double sum_in_window(const Call &call, std::size_t index, int iteration)
{
    return -1 + call.calls * value(0, index, iteration);
}
double sum_before(const Call &call, std::size_t index, int iteration)
{
    return -1 + (call.calls - 1) * value(0, index, iteration);
}
// The first call finds what it compares with, and swaps.
double swapped_before(const Call &call, std::size_t index, int iteration)
{
    return call.calls == 1 ? -1 : value(0, index, iteration);
}

// Block `number` of the buffers, and where it goes in the target's window.
std::size_t block(const Call &c, int number) { return std::size_t(number) * std::size_t(c.count); }
MPI_Aint place(const Call &c, int number)
{
    const MPI_Aint unit = c.one_sided.place ? sizeof(double) : 1; // of a dynamic window, a byte
    return c.one_sided.place + MPI_Aint(block(c, number)) * unit;
}

void put(const Call &c, int n)
{
    MPI_Put(c.send + block(c, n), c.count, MPI_DOUBLE, c.one_sided.target, place(c, n), c.count, MPI_DOUBLE,
            c.one_sided.win);
}
void get(const Call &c, int n)
{
    MPI_Get(c.receive + block(c, n), c.count, MPI_DOUBLE, c.one_sided.target, place(c, n), c.count, MPI_DOUBLE,
            c.one_sided.win);
}
void accumulate(const Call &c, int n)
{
    MPI_Accumulate(c.send + block(c, n), c.count, MPI_DOUBLE, c.one_sided.target, place(c, n), c.count, MPI_DOUBLE,
                   MPI_SUM, c.one_sided.win);
}
void get_accumulate(const Call &c, int n)
{
    MPI_Get_accumulate(c.send + block(c, n), c.count, MPI_DOUBLE, c.receive + block(c, n), c.count, MPI_DOUBLE,
                       c.one_sided.target, place(c, n), c.count, MPI_DOUBLE, MPI_SUM, c.one_sided.win);
}
void fetch_and_op(const Call &c, int n)
{
    MPI_Fetch_and_op(c.send + n, c.receive + n, MPI_INT64_T, c.one_sided.target, place(c, n), MPI_SUM,
                     c.one_sided.win);
}
void compare_and_swap(const Call &c, int n)
{
    static const std::int64_t compare = -1;
    MPI_Compare_and_swap(c.send + n, &compare, c.receive + n, MPI_INT64_T, c.one_sided.target, place(c, n),
                         c.one_sided.win);
}

template <void (*operate)(const Call &, int number)>
void operate_all(const Call &c)
{
    for (int number = 0; number < c.one_sided.operations; ++number)
        operate(c, number);
}

template <void (*operate)(const Call &, int number)>
void operate_between_groups(const Call &c)
{
    const OneSided &w = c.one_sided;
    const bool origin = c.rank == 0, target = c.rank == w.target;
    if (target)
        MPI_Win_post(w.partner, 0, w.win);
    if (origin) {
        MPI_Win_start(w.partner, 0, w.win);
        operate_all<operate>(c);
        MPI_Win_complete(w.win);
    }
    if (target)
        MPI_Win_wait(w.win);
}

template <void (*operate)(const Call &, int number)>
void run(const Call &c)
{
    const OneSided &w = c.one_sided;
    const bool origin = c.rank == 0;
    switch (w.sync) {
    case Sync::flush:
        if (origin) {
            operate_all<operate>(c);
            MPI_Win_flush(w.target, w.win);
        }
        return;
    case Sync::lock:
        if (origin) {
            MPI_Win_lock(MPI_LOCK_SHARED, w.target, 0, w.win);
            operate_all<operate>(c);
            MPI_Win_unlock(w.target, w.win);
        }
        return;
    case Sync::fence:
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
        if (origin)
            operate_all<operate>(c);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        return;
    case Sync::pscw: return operate_between_groups<operate>(c);
    }
}

template <bool stores>
void load_or_store(const Call &c)
{
    if (!is_origin(c))
        return;
    const OneSided &w = c.one_sided;
    for (int n = 0; n < w.operations; ++n) {
        const std::size_t at = block(c, n), bytes = std::size_t(c.count) * sizeof(double);
        if constexpr (stores)
            std::memcpy(w.there + at, c.send + at, bytes);
        else
            std::memcpy(c.receive + at, w.there + at, bytes);
    }
    MPI_Win_sync(w.win);
}

void run_fence(const Call &c) { MPI_Win_fence(0, c.one_sided.win); }
void run_pscw(const Call &c)
{
    const OneSided &w = c.one_sided;
    MPI_Win_post(w.neighbors, 0, w.win);
    MPI_Win_start(w.neighbors, 0, w.win);
    MPI_Win_complete(w.win);
    MPI_Win_wait(w.win);
}
void run_lock(const Call &c)
{
    const int next = (c.rank + 1) % c.ranks;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, c.one_sided.win);
    MPI_Win_unlock(next, c.one_sided.win);
}
void run_lock_all(const Call &c)
{
    MPI_Win_lock_all(0, c.one_sided.win);
    MPI_Win_flush_all(c.one_sided.win);
    MPI_Win_unlock_all(c.one_sided.win);
}

using Expected = double (*)(const Call &call, std::size_t index, int iteration);

// `fetched` is null where nothing comes back to the origin, `left` where the window stays as it is.
Operation record(Access access, const std::string &name, const std::string &sentence, void (*run)(const Call &),
                 Expected fetched, Expected left)
{
    const Blocks send = left ? Blocks::one : Blocks::none, receive = fetched ? Blocks::one : Blocks::none;
    Operation operation{name, sentence, send, receive, false, 1, run, fetched ? is_origin : nowhere, fetched};
    operation.access = access;
    operation.expected_in_window = left;
    return operation;
}

// Of one integer of 64 bits.
Operation atomic(Operation operation)
{
    operation.integers = true;
    operation.only_size = sizeof(std::int64_t);
    return operation;
}

Operation synchronization(const std::string &name, const std::string &sentence, void (*run)(const Call &))
{
    Operation operation{name, sentence, Blocks::none, Blocks::none, false, 1, run, nowhere, nullptr};
    operation.access = Access::synchronization;
    return operation;
}

} // namespace

std::vector<Operation> one_sided_operations()
{
    return {
        record(Access::call, "put", "MPI_Put", run<put>, nullptr, from_origin),
        record(Access::call, "get", "MPI_Get", run<get>, from_target, nullptr),
        record(Access::call, "accumulate", "MPI_Accumulate, sum of doubles", run<accumulate>, nullptr, sum_in_window),
        record(Access::call, "get_accumulate", "MPI_Get_accumulate, sum of doubles", run<get_accumulate>, sum_before,
               sum_in_window),
        atomic(record(Access::call, "fetch_and_op", "MPI_Fetch_and_op, sum of integers of 64 bits", run<fetch_and_op>,
                      sum_before, sum_in_window)),
        atomic(record(Access::call, "compare_and_swap", "MPI_Compare_and_swap of integers of 64 bits",
                      run<compare_and_swap>, swapped_before, from_origin)),
        record(Access::load_store, "store", "storing into the target's part of MPI_Win_allocate_shared, MPI_Win_sync",
               load_or_store<true>, nullptr, from_origin),
        record(Access::load_store, "load", "loading from there, MPI_Win_sync", load_or_store<false>, from_target,
               nullptr),
        synchronization("fence", "MPI_Win_fence", run_fence),
        synchronization("pscw", "MPI_Win_post, start, complete and wait, with the rank before and the one after",
                        run_pscw),
        synchronization("lock", "MPI_Win_lock, exclusively, and MPI_Win_unlock, of the next rank", run_lock),
        synchronization("lock_all", "MPI_Win_lock_all, MPI_Win_flush_all and MPI_Win_unlock_all", run_lock_all),
    };
}

} // namespace bench
