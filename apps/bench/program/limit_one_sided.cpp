// SPDX-License-Identifier: BSD-3-Clause
// Limit kernels of one-sided operations: the processor's work with the target's memory mapped and nothing
// checked. Numbers that other origins may accumulate to are updated one by one with atomic instructions, or all
// together under a lock.
#include "limit.hpp"

#include <atomic>

namespace bench {
namespace {

/// Calls `operate(first number)` for each of the call's operations, on the origin only.
template <class Operate>
void at_origin(LimitCall const& l, Operate operate) {
    OneSided const& w = l.call.one_sided;
    for (int number = 0; l.call.rank == 0 && number < w.operations; ++number)
        operate(std::size_t(number) * std::size_t(l.call.count));
}

double* window(LimitCall const& l) { return l.windows[std::size_t(l.call.one_sided.target)]; }

using Atomic = std::atomic_ref<std::int64_t>;
std::int64_t& integer(double const& number) { return *reinterpret_cast<std::int64_t*>(const_cast<double*>(&number)); }

void limit_put(LimitCall const& l) {
    at_origin(l, [&](std::size_t at) {
        copy(window(l) + at, l.call.send + at, std::size_t(l.call.count), l.traffic);
        std::atomic_thread_fence(std::memory_order_release);
    });
}

void limit_get(LimitCall const& l) {
    at_origin(l, [&](std::size_t at) {
        copy(l.call.receive + at, window(l) + at, std::size_t(l.call.count), l.traffic);
        std::atomic_thread_fence(std::memory_order_acquire);
    });
}

/// Stores the previous values in `before`, unless it is null.
void add_one_by_one(double* to, double const* from, double* before, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        std::atomic_ref<double> number(to[i]);
        double old = number.load(std::memory_order_relaxed);
        while (
            !number.compare_exchange_weak(old, old + from[i], std::memory_order_acq_rel, std::memory_order_relaxed)) {}
        if (before) before[i] = old;
    }
}

template <bool fetches>
void limit_accumulate(LimitCall const& l) {
    at_origin(l, [&](std::size_t at) {
        add_one_by_one(window(l) + at, l.call.send + at, fetches ? l.call.receive + at : nullptr,
                       std::size_t(l.call.count));
    });
}

/// The lock belongs to this kernel and is never contended.
template <bool fetches>
void limit_accumulate_under_lock(LimitCall const& l) {
    static std::atomic<bool> held;
    at_origin(l, [&](std::size_t at) {
        double* to = window(l) + at;
        const double* operands[] = {to, l.call.send + at};
        while (held.exchange(true, std::memory_order_acquire)) {}
        if (fetches) copy(l.call.receive + at, to, std::size_t(l.call.count), l.traffic);
        sum(&to, 1, operands, 2, std::size_t(l.call.count), l.traffic);
        held.store(false, std::memory_order_release);
    });
}

void limit_fetch_and_op(LimitCall const& l) {
    at_origin(l, [&](std::size_t at) {
        integer(l.call.receive[at]) = Atomic(integer(window(l)[at])).fetch_add(integer(l.call.send[at]));
    });
}

void limit_compare_and_swap(LimitCall const& l) {
    at_origin(l, [&](std::size_t at) {
        std::int64_t expected = -1;
        Atomic(integer(window(l)[at])).compare_exchange_strong(expected, integer(l.call.send[at]));
        integer(l.call.receive[at]) = expected;
    });
}

void synchronize_neighbors(LimitCall const& l) {
    l.page.arrive();
    l.page.await((l.call.rank + l.call.ranks - 1) % l.call.ranks);
    l.page.await((l.call.rank + 1) % l.call.ranks);
}

/// The first barrier stands for the posts that access epochs wait for, the second one for the completions that
/// exposure epochs wait for.
void limit_pscw(LimitCall const& l) {
    synchronize_neighbors(l);
    synchronize_neighbors(l);
}

void limit_lock(LimitCall const& l) {
    Atomic lock(integer(l.windows[std::size_t((l.call.rank + 1) % l.call.ranks)][0]));
    lock.exchange(1);
    lock.store(0, std::memory_order_release);
}

/// Sets a word of this rank, which only origins that want an exclusive lock would check.
void limit_lock_all(LimitCall const& l) {
    Atomic lock(integer(l.windows[std::size_t(l.call.rank)][0]));
    lock.exchange(1);
    lock.store(0, std::memory_order_release);
}

std::vector<LimitKernel> copies(std::string const& name, void (*run)(LimitCall const&), std::size_t bytes) {
    std::vector<LimitKernel> kernels;
    for (Traffic traffic : all_traffic)
        if (bytes > max_channel_bytes || traffic != Traffic::streaming) kernels.push_back({name, run, traffic});
    return kernels;
}

template <bool fetches>
std::vector<LimitKernel> accumulates(std::size_t bytes) {
    std::vector<LimitKernel> kernels = copies("sum under a lock", limit_accumulate_under_lock<fetches>, bytes);
    kernels.push_back({"atomic, one by one", limit_accumulate<fetches>});
    return kernels;
}

}   // namespace

std::vector<LimitKernel> one_sided_kernels(std::string const& operation, std::size_t bytes) {
    if (operation == "put" || operation == "store") return copies("store", limit_put, bytes);
    if (operation == "get" || operation == "load") return copies("load", limit_get, bytes);
    if (operation == "accumulate") return accumulates<false>(bytes);
    if (operation == "get_accumulate") return accumulates<true>(bytes);
    if (operation == "fetch_and_op") return {{"atomic", limit_fetch_and_op}};
    if (operation == "compare_and_swap") return {{"atomic", limit_compare_and_swap}};
    if (operation == "pscw") return {{"flags", limit_pscw}};
    if (operation == "lock" || operation == "lock_all")
        return {{"atomic", operation == "lock" ? limit_lock : limit_lock_all}};
    return {};
}

}   // namespace bench
