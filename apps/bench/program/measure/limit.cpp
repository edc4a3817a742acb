// SPDX-License-Identifier: BSD-3-Clause
#include "limit.hpp"

#include <algorithm>
#include <map>

namespace bench {
namespace {

// A rank's share of `count` numbers, in whole lines.
struct Share {
    Share(std::size_t count, int part, int parts)
        : first(place(count, part, parts)), last(place(count, part + 1, parts))
    {
    }
    static std::size_t place(std::size_t count, int part, int parts)
    {
        return part == parts ? count : count * std::size_t(part) / std::size_t(parts) / 8 * 8;
    }
    std::size_t count() const { return last - first; }
    std::size_t first, last;
};

std::size_t numbers(const LimitCall &l) { return std::size_t(l.call.count); }

// The ranks, this one first: nobody is where another one is.
template <class Visit>
void rotated(const LimitCall &l, Visit visit)
{
    for (int i = 0; i < l.call.ranks; ++i)
        visit((l.call.rank + i) % l.call.ranks);
}

// This rank's share of the sum over all operands, whose numbers begin at `from`, to the results of some ranks.
void sum_share(const LimitCall &l, std::size_t from, const Share &share, std::vector<double *> to)
{
    std::vector<const double *> operands;
    for (const double *send : l.sends)
        operands.push_back(send + from + share.first);
    for (double *&result : to)
        result += share.first;
    sum(to.data(), int(to.size()), operands.data(), l.call.ranks, share.count(), l.traffic);
}

// Sender and receiver wait for the same message: each copies half of it.
void half(const LimitCall &l, int from, int to)
{
    const Share share(numbers(l), l.call.rank, 2);
    copy(l.receives[to] + share.first, l.sends[from] + share.first, share.count(), l.traffic);
}

void limit_pingpong(const LimitCall &l)
{
    const bool plays = l.call.rank < 2 && l.call.ranks > 1;
    for (int step = 0; step < 3; ++step) {
        l.page.arrive();
        if (!plays)
            continue;
        l.page.await(1 - l.call.rank);
        if (step < 2)
            half(l, step, 1 - step);
    }
}

// The receivers pull; the root, which has nothing to pull, writes the last part of each one's buffer.
void limit_bcast(const LimitCall &l)
{
    const int root = l.call.root, ranks = l.call.ranks;
    const std::size_t split = Share(numbers(l), ranks - 1, ranks).first, rest = numbers(l) - split;
    l.page.arrive();
    if (l.call.rank != root) {
        l.page.await(root);
        copy(l.receives[l.call.rank], l.sends[root], split, l.traffic);
        l.page.arrive();
        l.page.await(root);
        return;
    }
    rotated(l, [&](int rank) {
        l.page.await(rank);
        if (rank != root)
            copy(l.receives[rank] + split, l.sends[root] + split, rest, l.traffic);
    });
    l.page.arrive();
    l.page.await_all();
}

void limit_reduce(const LimitCall &l)
{
    l.page.barrier();
    sum_share(l, 0, Share(numbers(l), l.call.rank, l.call.ranks), {l.receives[l.call.root]});
    l.page.barrier();
}

void limit_allreduce(const LimitCall &l)
{
    std::vector<double *> to;
    rotated(l, [&](int rank) { to.push_back(l.receives[rank]); });
    l.page.barrier();
    sum_share(l, 0, Share(numbers(l), l.call.rank, l.call.ranks), to);
    l.page.barrier();
}

void limit_reduce_scatter(const LimitCall &l)
{
    l.page.barrier();
    sum_share(l, numbers(l) * std::size_t(l.call.rank), Share(numbers(l), 0, 1), {l.receives[l.call.rank]});
    l.page.barrier();
}

// Everybody writes its block to everybody, a piece at a time, so that it is loaded from its place only once.
void limit_allgather(const LimitCall &l)
{
    constexpr std::size_t piece = 2048; // numbers: they stay in the nearest cache
    const std::size_t block = numbers(l) * std::size_t(l.call.rank);
    l.page.barrier();
    for (std::size_t at = 0; at < numbers(l); at += piece)
        rotated(l, [&](int rank) {
            copy(l.receives[rank] + block + at, l.sends[l.call.rank] + at, std::min(piece, numbers(l) - at), l.traffic);
        });
    l.page.barrier();
}

void limit_alltoall(const LimitCall &l)
{
    l.page.arrive();
    rotated(l, [&](int rank) {
        l.page.await(rank);
        copy(l.receives[l.call.rank] + numbers(l) * std::size_t(rank),
             l.sends[rank] + numbers(l) * std::size_t(l.call.rank), numbers(l), l.traffic);
    });
    l.page.barrier();
}

// Everybody moves its own block; only the root waits for all.
template <class Move>
void with_root(const LimitCall &l, Move move)
{
    l.page.arrive();
    l.page.await(l.call.root);
    move(numbers(l) * std::size_t(l.call.rank));
    l.page.arrive();
    if (l.call.rank == l.call.root)
        l.page.await_all();
}

void limit_gather(const LimitCall &l)
{
    with_root(l, [&](std::size_t block) {
        copy(l.receives[l.call.root] + block, l.sends[l.call.rank], numbers(l), l.traffic);
    });
}

void limit_scatter(const LimitCall &l)
{
    with_root(l, [&](std::size_t block) {
        copy(l.receives[l.call.rank], l.sends[l.call.root] + block, numbers(l), l.traffic);
    });
}

} // namespace

Limit limit_of(const std::string &operation)
{
    static const std::map<std::string, Limit> limits = {
        {"pingpong", limit_pingpong},   {"bcast", limit_bcast},
        {"reduce", limit_reduce},       {"allreduce", limit_allreduce},
        {"gather", limit_gather},       {"gatherv", limit_gather},
        {"scatter", limit_scatter},     {"scatterv", limit_scatter},
        {"allgather", limit_allgather}, {"allgatherv", limit_allgather},
        {"alltoall", limit_alltoall},   {"alltoallv", limit_alltoall},
        {"alltoallw", limit_alltoall},  {"reduce_scatter", limit_reduce_scatter},
        {"reduce_scatter_block", limit_reduce_scatter},
    };
    auto found = limits.find(operation);
    return found == limits.end() ? nullptr : found->second;
}

} // namespace bench
