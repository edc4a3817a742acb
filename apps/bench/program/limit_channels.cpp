// SPDX-License-Identifier: BSD-3-Clause
// Limit kernels that copy in and out: a sender continues when its message is in the channel.
#include "limit.hpp"

#include <algorithm>
#include <map>

namespace bench {
namespace {

double const* my_send(LimitCall const& l) { return l.call.send; }
double* my_receive(LimitCall const& l) { return l.call.receive; }

/// Offset of a rank's block in a buffer with one block per rank.
std::size_t block(LimitCall const& l, int rank) { return std::size_t(l.call.count) * std::size_t(rank); }

void keep(LimitCall const& l, double* to, double const* from) { copy(to, from, std::size_t(l.call.count), l.traffic); }

/// Visits the other ranks, beginning with the next one.
template <class Visit>
void others(LimitCall const& l, Visit visit) {
    for (int i = 1; i < l.call.ranks; ++i) visit((l.call.rank + i) % l.call.ranks);
}

void passed_pingpong(LimitCall const& l) {
    int const rank = l.call.rank, peer = 1 - rank;
    if (rank > 1 || l.call.ranks < 2) return;
    if (rank == 0) l.channels->to(peer).put(my_send(l));
    l.channels->from(peer).take(my_receive(l));
    if (rank == 1) l.channels->to(peer).put(my_send(l));
}

void passed_barrier(LimitCall const& l) {
    double nothing = 0;
    l.channels->to_all().put(&nothing);
    others(l, [&](int rank) { l.channels->from_all(rank).take(&nothing); });
}

void passed_bcast(LimitCall const& l) {
    if (l.call.rank == l.call.root) l.channels->to_all().put(my_send(l));
    else l.channels->from_all(l.call.root).take(my_receive(l));
}

/// Sums this rank's contribution and the messages of the channels that `visit` visits.
template <class Visit>
void sum_up(LimitCall const& l, Visit visit) {
    double const* so_far = my_send(l);
    visit([&](Channel& channel) {
        channel.take_sum(my_receive(l), so_far);
        so_far = my_receive(l);
    });
    if (so_far == my_send(l)) keep(l, my_receive(l), so_far);
}

void passed_reduce(LimitCall const& l) {
    if (l.call.rank != l.call.root) return l.channels->to(l.call.root).put(my_send(l));
    sum_up(l, [&](auto add) { others(l, [&](int rank) { add(l.channels->from(rank)); }); });
}

void passed_allreduce(LimitCall const& l) {
    l.channels->to_all().put(my_send(l));
    sum_up(l, [&](auto add) { others(l, [&](int rank) { add(l.channels->from_all(rank)); }); });
}

void passed_reduce_scatter(LimitCall const& l) {
    others(l, [&](int rank) { l.channels->to(rank).put(my_send(l) + block(l, rank)); });
    double const* so_far = my_send(l) + block(l, l.call.rank);
    others(l, [&](int rank) {
        l.channels->from(rank).take_sum(my_receive(l), so_far);
        so_far = my_receive(l);
    });
    if (l.call.ranks == 1) keep(l, my_receive(l), so_far);
}

void passed_scan(LimitCall const& l) {
    l.channels->to_all().put(my_send(l));
    sum_up(l, [&](auto add) {
        for (int rank = l.call.rank - 1; rank >= 0; --rank) add(l.channels->from_all(rank));
    });
}

void passed_gather(LimitCall const& l) {
    if (l.call.rank != l.call.root) return l.channels->to(l.call.root).put(my_send(l));
    keep(l, my_receive(l) + block(l, l.call.rank), my_send(l));
    others(l, [&](int rank) { l.channels->from(rank).take(my_receive(l) + block(l, rank)); });
}

void passed_scatter(LimitCall const& l) {
    if (l.call.rank != l.call.root) return l.channels->from(l.call.root).take(my_receive(l));
    others(l, [&](int rank) { l.channels->to(rank).put(my_send(l) + block(l, rank)); });
    keep(l, my_receive(l), my_send(l) + block(l, l.call.rank));
}

void passed_allgather(LimitCall const& l) {
    l.channels->to_all().put(my_send(l));
    keep(l, my_receive(l) + block(l, l.call.rank), my_send(l));
    others(l, [&](int rank) { l.channels->from_all(rank).take(my_receive(l) + block(l, rank)); });
}

void passed_alltoall(LimitCall const& l) {
    others(l, [&](int rank) { l.channels->to(rank).put(my_send(l) + block(l, rank)); });
    keep(l, my_receive(l) + block(l, l.call.rank), my_send(l) + block(l, l.call.rank));
    others(l, [&](int rank) { l.channels->from(rank).take(my_receive(l) + block(l, rank)); });
}

}   // namespace

Kernel kernel_through_channels(std::string const& operation) {
    static const std::map<std::string, Kernel> kernels = {
        {"pingpong", passed_pingpong},
        {"barrier", passed_barrier},
        {"bcast", passed_bcast},
        {"reduce", passed_reduce},
        {"allreduce", passed_allreduce},
        {"gather", passed_gather},
        {"scatter", passed_scatter},
        {"allgather", passed_allgather},
        {"alltoall", passed_alltoall},
        {"scan", passed_scan},
        {"reduce_scatter", passed_reduce_scatter},
    };
    auto const found = kernels.find(operation);
    return found == kernels.end() ? nullptr : found->second;
}

}   // namespace bench
