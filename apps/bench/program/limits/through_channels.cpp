// SPDX-License-Identifier: BSD-3-Clause
// Kernels that copy in and out: a sender goes on when its message is in the channel.
#include "limit.hpp"

#include <algorithm>
#include <map>

namespace bench {
namespace {

const double *my_send(const LimitCall &l) { return l.call.send; }
double *my_receive(const LimitCall &l) { return l.call.receive; }

// Where a rank's block lies in a buffer that has one for each rank.
std::size_t block(const LimitCall &l, int rank) { return std::size_t(l.call.count) * std::size_t(rank); }

void keep(const LimitCall &l, double *to, const double *from) { copy(to, from, std::size_t(l.call.count), l.traffic); }

// The other ranks, the next one first.
template <class Visit>
void others(const LimitCall &l, Visit visit)
{
    for (int i = 1; i < l.call.ranks; ++i)
        visit((l.call.rank + i) % l.call.ranks);
}

void passed_pingpong(const LimitCall &l)
{
    const int rank = l.call.rank, peer = 1 - rank;
    if (rank > 1 || l.call.ranks < 2)
        return;
    if (rank == 0)
        l.channels->to(peer).put(my_send(l));
    l.channels->from(peer).take(my_receive(l));
    if (rank == 1)
        l.channels->to(peer).put(my_send(l));
}

void passed_barrier(const LimitCall &l)
{
    double nothing = 0;
    l.channels->to_all().put(&nothing);
    others(l, [&](int rank) { l.channels->from_all(rank).take(&nothing); });
}

void passed_bcast(const LimitCall &l)
{
    if (l.call.rank == l.call.root)
        l.channels->to_all().put(my_send(l));
    else
        l.channels->from_all(l.call.root).take(my_receive(l));
}

// What this rank contributes and what `ranks_of` visits.
template <class Visit>
void sum_up(const LimitCall &l, Visit visit)
{
    const double *so_far = my_send(l);
    visit([&](Channel &channel) {
        channel.take_sum(my_receive(l), so_far);
        so_far = my_receive(l);
    });
    if (so_far == my_send(l))
        keep(l, my_receive(l), so_far);
}

void passed_reduce(const LimitCall &l)
{
    if (l.call.rank != l.call.root)
        return l.channels->to(l.call.root).put(my_send(l));
    sum_up(l, [&](auto add) { others(l, [&](int rank) { add(l.channels->from(rank)); }); });
}

void passed_allreduce(const LimitCall &l)
{
    l.channels->to_all().put(my_send(l));
    sum_up(l, [&](auto add) { others(l, [&](int rank) { add(l.channels->from_all(rank)); }); });
}

void passed_reduce_scatter(const LimitCall &l)
{
    others(l, [&](int rank) { l.channels->to(rank).put(my_send(l) + block(l, rank)); });
    const double *so_far = my_send(l) + block(l, l.call.rank);
    others(l, [&](int rank) {
        l.channels->from(rank).take_sum(my_receive(l), so_far);
        so_far = my_receive(l);
    });
    if (l.call.ranks == 1)
        keep(l, my_receive(l), so_far);
}

void passed_scan(const LimitCall &l)
{
    l.channels->to_all().put(my_send(l));
    sum_up(l, [&](auto add) {
        for (int rank = l.call.rank - 1; rank >= 0; --rank)
            add(l.channels->from_all(rank));
    });
}

void passed_gather(const LimitCall &l)
{
    if (l.call.rank != l.call.root)
        return l.channels->to(l.call.root).put(my_send(l));
    keep(l, my_receive(l) + block(l, l.call.rank), my_send(l));
    others(l, [&](int rank) { l.channels->from(rank).take(my_receive(l) + block(l, rank)); });
}

void passed_scatter(const LimitCall &l)
{
    if (l.call.rank != l.call.root)
        return l.channels->from(l.call.root).take(my_receive(l));
    others(l, [&](int rank) { l.channels->to(rank).put(my_send(l) + block(l, rank)); });
    keep(l, my_receive(l), my_send(l) + block(l, l.call.rank));
}

void passed_allgather(const LimitCall &l)
{
    l.channels->to_all().put(my_send(l));
    keep(l, my_receive(l) + block(l, l.call.rank), my_send(l));
    others(l, [&](int rank) { l.channels->from_all(rank).take(my_receive(l) + block(l, rank)); });
}

void passed_alltoall(const LimitCall &l)
{
    others(l, [&](int rank) { l.channels->to(rank).put(my_send(l) + block(l, rank)); });
    keep(l, my_receive(l) + block(l, l.call.rank), my_send(l) + block(l, l.call.rank));
    others(l, [&](int rank) { l.channels->from(rank).take(my_receive(l) + block(l, rank)); });
}

} // namespace

Kernel kernel_through_channels(const std::string &operation)
{
    static const std::map<std::string, Kernel> kernels = {
        {"pingpong", passed_pingpong},   {"barrier", passed_barrier},     {"bcast", passed_bcast},
        {"reduce", passed_reduce},       {"allreduce", passed_allreduce}, {"gather", passed_gather},
        {"scatter", passed_scatter},     {"allgather", passed_allgather}, {"alltoall", passed_alltoall},
        {"scan", passed_scan},           {"reduce_scatter", passed_reduce_scatter},
    };
    const auto found = kernels.find(operation);
    return found == kernels.end() ? nullptr : found->second;
}

} // namespace bench
