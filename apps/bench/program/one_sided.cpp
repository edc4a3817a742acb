// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations with the synchronization that --sync and --per-sync select, and synchronizations alone. In
// loops, the target's window is not rewritten between the calls, so the value accumulated there is a multiple of the
// value sent.
#include <algorithm>
#include <cstring>
#include <set>

#include "measure.hpp"
#include "operation.hpp"

namespace bench {
namespace {

bool is_origin(Call const& call) { return call.rank == 0; }
bool at_no_rank(Call const&) { return false; }

double from_origin(Call const&, std::size_t index, int iteration) { return value(0, index, iteration); }
double from_target(Call const& call, std::size_t index, int iteration) {
    return value(call.one_sided.target, index, iteration);
}
double sum_in_window(Call const& call, std::size_t index, int iteration) {
    return -1 + call.calls * value(0, index, iteration);
}
double sum_before(Call const& call, std::size_t index, int iteration) {
    return -1 + (call.calls - 1) * value(0, index, iteration);
}
/// Only the first call finds the value that it compares with, and swaps.
double swapped_before(Call const& call, std::size_t index, int iteration) {
    return call.calls == 1 ? -1 : value(0, index, iteration);
}

/// Block `number` of the buffers, and its displacement in the target's window.
std::size_t block(Call const& c, int number) { return std::size_t(number) * std::size_t(c.count); }
MPI_Aint target_displacement(Call const& c, int number) {
    const MPI_Aint unit = c.one_sided.displacement ? sizeof(double) : 1;   // the unit of a dynamic window is a byte
    return c.one_sided.displacement + MPI_Aint(block(c, number)) * unit;
}

void put(Call const& c, int n) {
    MPI_Put(c.send + block(c, n), c.count, MPI_DOUBLE, c.one_sided.target, target_displacement(c, n), c.count,
            MPI_DOUBLE, c.one_sided.win);
}
void get(Call const& c, int n) {
    MPI_Get(c.receive + block(c, n), c.count, MPI_DOUBLE, c.one_sided.target, target_displacement(c, n), c.count,
            MPI_DOUBLE, c.one_sided.win);
}
void accumulate(Call const& c, int n) {
    MPI_Accumulate(c.send + block(c, n), c.count, MPI_DOUBLE, c.one_sided.target, target_displacement(c, n), c.count,
                   MPI_DOUBLE, MPI_SUM, c.one_sided.win);
}
void get_accumulate(Call const& c, int n) {
    MPI_Get_accumulate(c.send + block(c, n), c.count, MPI_DOUBLE, c.receive + block(c, n), c.count, MPI_DOUBLE,
                       c.one_sided.target, target_displacement(c, n), c.count, MPI_DOUBLE, MPI_SUM, c.one_sided.win);
}
void fetch_and_op(Call const& c, int n) {
    MPI_Fetch_and_op(c.send + n, c.receive + n, MPI_INT64_T, c.one_sided.target, target_displacement(c, n), MPI_SUM,
                     c.one_sided.win);
}
void compare_and_swap(Call const& c, int n) {
    static const std::int64_t compare = -1;
    MPI_Compare_and_swap(c.send + n, &compare, c.receive + n, MPI_INT64_T, c.one_sided.target,
                         target_displacement(c, n), c.one_sided.win);
}

template <void (*operate)(Call const&, int number)>
void operate_all(Call const& c) {
    for (int number = 0; number < c.one_sided.operations; ++number) operate(c, number);
}

template <void (*operate)(Call const&, int number)>
void operate_between_groups(Call const& c) {
    OneSided const& w = c.one_sided;
    bool const origin = c.rank == 0, target = c.rank == w.target;
    if (target) MPI_Win_post(w.partner, 0, w.win);
    if (origin) {
        MPI_Win_start(w.partner, 0, w.win);
        operate_all<operate>(c);
        MPI_Win_complete(w.win);
    }
    if (target) MPI_Win_wait(w.win);
}

template <void (*operate)(Call const&, int number)>
void run(Call const& c) {
    OneSided const& w = c.one_sided;
    bool const origin = c.rank == 0;
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
        if (origin) operate_all<operate>(c);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        return;
    case Sync::pscw: return operate_between_groups<operate>(c);
    }
}

template <bool stores>
void load_or_store(Call const& c) {
    if (!is_origin(c)) return;
    OneSided const& w = c.one_sided;
    for (int n = 0; n < w.operations; ++n) {
        const std::size_t at = block(c, n), bytes = std::size_t(c.count) * sizeof(double);
        if constexpr (stores) std::memcpy(w.target_memory + at, c.send + at, bytes);
        else std::memcpy(c.receive + at, w.target_memory + at, bytes);
    }
    MPI_Win_sync(w.win);
}

void run_fence(Call const& c) { MPI_Win_fence(0, c.one_sided.win); }
void run_pscw(Call const& c) {
    OneSided const& w = c.one_sided;
    MPI_Win_post(w.neighbors, 0, w.win);
    MPI_Win_start(w.neighbors, 0, w.win);
    MPI_Win_complete(w.win);
    MPI_Win_wait(w.win);
}
void run_lock(Call const& c) {
    int const next = (c.rank + 1) % c.ranks;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, c.one_sided.win);
    MPI_Win_unlock(next, c.one_sided.win);
}
void run_lock_all(Call const& c) {
    MPI_Win_lock_all(0, c.one_sided.win);
    MPI_Win_flush_all(c.one_sided.win);
    MPI_Win_unlock_all(c.one_sided.win);
}

using Expected = double (*)(Call const& call, std::size_t index, int iteration);

/// `fetched` is null if the origin receives nothing, `left` if the window remains unchanged.
Operation make_operation(Access access, std::string const& name, std::string const& description,
                         void (*run)(Call const&), Expected fetched, Expected left) {
    const Blocks send = left ? Blocks::one : Blocks::none, receive = fetched ? Blocks::one : Blocks::none;
    Operation operation{name, description, send, receive, false, 1, run, fetched ? is_origin : at_no_rank, fetched};
    operation.access = access;
    operation.expected_in_window = left;
    return operation;
}

/// Makes the operation one on a single 64-bit integer.
Operation atomic(Operation operation) {
    operation.integers = true;
    operation.only_size = sizeof(std::int64_t);
    return operation;
}

Operation synchronization(std::string const& name, std::string const& description, void (*run)(Call const&)) {
    Operation operation{name, description, Blocks::none, Blocks::none, false, 1, run, at_no_rank, nullptr};
    operation.access = Access::synchronization;
    return operation;
}

}   // namespace

std::vector<Operation> one_sided_operations() {
    return {
        make_operation(Access::call, "put", "MPI_Put", run<put>, nullptr, from_origin),
        make_operation(Access::call, "get", "MPI_Get", run<get>, from_target, nullptr),
        make_operation(Access::call, "accumulate", "MPI_Accumulate, sum of doubles", run<accumulate>, nullptr,
                       sum_in_window),
        make_operation(Access::call, "get_accumulate", "MPI_Get_accumulate, sum of doubles", run<get_accumulate>,
                       sum_before, sum_in_window),
        atomic(make_operation(Access::call, "fetch_and_op", "MPI_Fetch_and_op, sum of integers of 64 bits",
                              run<fetch_and_op>, sum_before, sum_in_window)),
        atomic(make_operation(Access::call, "compare_and_swap", "MPI_Compare_and_swap of integers of 64 bits",
                              run<compare_and_swap>, swapped_before, from_origin)),
        make_operation(Access::load_store, "store",
                       "storing into the target's part of MPI_Win_allocate_shared, MPI_Win_sync", load_or_store<true>,
                       nullptr, from_origin),
        make_operation(Access::load_store, "load", "loading from there, MPI_Win_sync", load_or_store<false>,
                       from_target, nullptr),
        synchronization("fence", "MPI_Win_fence", run_fence),
        synchronization("pscw", "MPI_Win_post, start, complete and wait, with the rank before and the one after",
                        run_pscw),
        synchronization("lock", "MPI_Win_lock, exclusively, and MPI_Win_unlock, of the next rank", run_lock),
        synchronization("lock_all", "MPI_Win_lock_all, MPI_Win_flush_all and MPI_Win_unlock_all", run_lock_all),
    };
}

namespace {

MPI_Group group_of(std::set<int> const& ranks, MPI_Comm comm) {
    const std::vector<int> members(ranks.begin(), ranks.end());
    MPI_Group all, some;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, int(members.size()), members.data(), &some);
    MPI_Group_free(&all);
    return some;
}

}   // namespace

Window::Window(Settings const& settings, BufferSizes const& sizes, MPI_Comm comm)
    : flavor_(sizes.operation.access == Access::load_store ? Flavor::shared : settings.window) {
    bool const is_load_store = sizes.operation.access == Access::load_store;
    access_.target = sizes.ranks > 1 ? 1 : 0;
    access_.operations = settings.per_sync;
    access_.sync = settings.sync;
    access_.locked = is_load_store || (sizes.operation.accesses() && settings.sync == Sync::flush);
    access_.own_memory = create(flavor_, MPI_Aint(sizes.window * sizeof(double)), comm);
    find_target(flavor_, is_load_store, comm);
    create_groups(comm);
    if (access_.locked) MPI_Win_lock_all(0, access_.win);
}

Window::~Window() {
    if (access_.locked) MPI_Win_unlock_all(access_.win);
    if (flavor_ == Flavor::dynamic) MPI_Win_detach(access_.win, access_.own_memory);
    MPI_Win_free(&access_.win);
    MPI_Group_free(&access_.partner);
    MPI_Group_free(&access_.neighbors);
}

double* Window::create(Flavor flavor, MPI_Aint bytes, MPI_Comm comm) {
    constexpr int unit = sizeof(double);
    double* own = nullptr;
    if (flavor == Flavor::create || flavor == Flavor::dynamic) {
        constexpr std::size_t least = 1 << 20;   // programs seldom expose less
        memory_.resize(std::max(std::size_t(bytes), least) / sizeof(double));
        own = memory_.data();
    }
    switch (flavor) {
    case Flavor::create: MPI_Win_create(own, bytes, unit, MPI_INFO_NULL, comm, &access_.win); break;
    case Flavor::allocate: MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &own, &access_.win); break;
    case Flavor::shared: MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, &own, &access_.win); break;
    case Flavor::dynamic:
        MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &access_.win);
        MPI_Win_attach(access_.win, own, bytes);
    }
    return own;
}

void Window::find_target(Flavor flavor, bool is_load_store, MPI_Comm comm) {
    if (flavor == Flavor::dynamic) {
        MPI_Get_address(access_.own_memory, &access_.displacement);
        MPI_Bcast(&access_.displacement, 1, MPI_AINT, access_.target, comm);
    }
    if (is_load_store) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(access_.win, access_.target, &bytes, &unit, &access_.target_memory);
    }
}

void Window::create_groups(MPI_Comm comm) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    access_.partner = group_of({rank == 0 ? access_.target : 0}, comm);
    access_.neighbors = group_of({(rank + ranks - 1) % ranks, (rank + 1) % ranks}, comm);
}

}   // namespace bench
