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

void copy_block(LimitCall const& l, double* to, double const* from) {
    copy(to, from, std::size_t(l.call.count), l.traffic);
}

/// Visits the other ranks, beginning with the next one.
template <class Visit>
void for_other_ranks(LimitCall const& l, Visit visit) {
    for (int i = 1; i < l.call.ranks; ++i) visit((l.call.rank + i) % l.call.ranks);
}

void channel_pingpong(LimitCall const& l) {
    int const rank = l.call.rank, peer = 1 - rank;
    if (rank > 1 || l.call.ranks < 2) return;
    if (rank == 0) l.channels->to(peer).send(my_send(l));
    l.channels->from(peer).receive(my_receive(l));
    if (rank == 1) l.channels->to(peer).send(my_send(l));
}

void channel_barrier(LimitCall const& l) {
    double nothing = 0;
    l.channels->to_all().send(&nothing);
    for_other_ranks(l, [&](int rank) { l.channels->from_all(rank).receive(&nothing); });
}

void channel_bcast(LimitCall const& l) {
    if (l.call.rank == l.call.root) l.channels->to_all().send(my_send(l));
    else l.channels->from_all(l.call.root).receive(my_receive(l));
}

/// Sums this rank's contribution and the messages of the channels that `visit` visits.
template <class Visit>
void sum_up(LimitCall const& l, Visit visit) {
    double const* so_far = my_send(l);
    visit([&](Channel& channel) {
        channel.receive_sum(my_receive(l), so_far);
        so_far = my_receive(l);
    });
    if (so_far == my_send(l)) copy_block(l, my_receive(l), so_far);
}

void channel_reduce(LimitCall const& l) {
    if (l.call.rank != l.call.root) return l.channels->to(l.call.root).send(my_send(l));
    sum_up(l, [&](auto add) { for_other_ranks(l, [&](int rank) { add(l.channels->from(rank)); }); });
}

void channel_allreduce(LimitCall const& l) {
    l.channels->to_all().send(my_send(l));
    sum_up(l, [&](auto add) { for_other_ranks(l, [&](int rank) { add(l.channels->from_all(rank)); }); });
}

void channel_reduce_scatter(LimitCall const& l) {
    for_other_ranks(l, [&](int rank) { l.channels->to(rank).send(my_send(l) + block(l, rank)); });
    double const* so_far = my_send(l) + block(l, l.call.rank);
    for_other_ranks(l, [&](int rank) {
        l.channels->from(rank).receive_sum(my_receive(l), so_far);
        so_far = my_receive(l);
    });
    if (l.call.ranks == 1) copy_block(l, my_receive(l), so_far);
}

void channel_scan(LimitCall const& l) {
    l.channels->to_all().send(my_send(l));
    sum_up(l, [&](auto add) {
        for (int rank = l.call.rank - 1; rank >= 0; --rank) add(l.channels->from_all(rank));
    });
}

void channel_gather(LimitCall const& l) {
    if (l.call.rank != l.call.root) return l.channels->to(l.call.root).send(my_send(l));
    copy_block(l, my_receive(l) + block(l, l.call.rank), my_send(l));
    for_other_ranks(l, [&](int rank) { l.channels->from(rank).receive(my_receive(l) + block(l, rank)); });
}

void channel_scatter(LimitCall const& l) {
    if (l.call.rank != l.call.root) return l.channels->from(l.call.root).receive(my_receive(l));
    for_other_ranks(l, [&](int rank) { l.channels->to(rank).send(my_send(l) + block(l, rank)); });
    copy_block(l, my_receive(l), my_send(l) + block(l, l.call.rank));
}

void channel_allgather(LimitCall const& l) {
    l.channels->to_all().send(my_send(l));
    copy_block(l, my_receive(l) + block(l, l.call.rank), my_send(l));
    for_other_ranks(l, [&](int rank) { l.channels->from_all(rank).receive(my_receive(l) + block(l, rank)); });
}

void channel_alltoall(LimitCall const& l) {
    for_other_ranks(l, [&](int rank) { l.channels->to(rank).send(my_send(l) + block(l, rank)); });
    copy_block(l, my_receive(l) + block(l, l.call.rank), my_send(l) + block(l, l.call.rank));
    for_other_ranks(l, [&](int rank) { l.channels->from(rank).receive(my_receive(l) + block(l, rank)); });
}

}   // namespace

Kernel kernel_through_channels(std::string const& operation) {
    static const std::map<std::string, Kernel> kernels = {
        {"pingpong", channel_pingpong},
        {"barrier", channel_barrier},
        {"bcast", channel_bcast},
        {"reduce", channel_reduce},
        {"allreduce", channel_allreduce},
        {"gather", channel_gather},
        {"scatter", channel_scatter},
        {"allgather", channel_allgather},
        {"alltoall", channel_alltoall},
        {"scan", channel_scan},
        {"reduce_scatter", channel_reduce_scatter},
    };
    auto const found = kernels.find(operation);
    return found == kernels.end() ? nullptr : found->second;
}

}   // namespace bench
