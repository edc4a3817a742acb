// SPDX-License-Identifier: BSD-3-Clause
// Limit kernels for messages and collectives: those that copy through channels, and those that copy once, directly
// between the buffers.
#include "limit.hpp"

#include <algorithm>
#include <map>

namespace bench {

// Kernels that copy in and out: a sender continues when its message is in the channel.

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

// Kernels that copy once, directly between the buffers.

namespace {

/// A rank's share of `count` numbers, in whole lines.
struct Share {
    Share(std::size_t count, int part, int parts)
        : first(boundary(count, part, parts)), last(boundary(count, part + 1, parts)) {}
    static std::size_t boundary(std::size_t count, int part, int parts) {
        return part == parts ? count : count * std::size_t(part) / std::size_t(parts) / 8 * 8;
    }
    std::size_t count() const { return last - first; }
    std::size_t first, last;
};

std::size_t numbers(LimitCall const& l) { return std::size_t(l.call.count); }

/// Visits all ranks, beginning with this one, so that ranks work on different peers.
template <class Visit>
void for_all_ranks_rotated(LimitCall const& l, Visit visit) {
    for (int i = 0; i < l.call.ranks; ++i) visit((l.call.rank + i) % l.call.ranks);
}

/// Computes this rank's share of the sum over the operands of the first `ranks` ranks, whose numbers begin at `from`,
/// into l.results[0 .. copies - 1].
void sum_share(LimitCall const& l, std::size_t from, Share const& share, int copies, int ranks) {
    for (int rank = 0; rank < ranks; ++rank)
        l.operands[std::size_t(rank)] = l.sends[std::size_t(rank)] + from + share.first;
    for (int copy = 0; copy < copies; ++copy) l.results[std::size_t(copy)] += share.first;
    sum(l.results.data(), copies, l.operands.data(), ranks, share.count(), l.traffic);
}

/// Computes the whole sum into this rank's result.
void sum_here(LimitCall const& l, std::size_t from, int ranks) {
    l.results[0] = l.receives[std::size_t(l.call.rank)];
    sum_share(l, from, Share(numbers(l), 0, 1), 1, ranks);
}

/// Sender and receiver wait for the same message: each copies half of it.
void half(LimitCall const& l, int from, int to) {
    const Share share(numbers(l), l.call.rank, 2);
    copy(l.receives[to] + share.first, l.sends[from] + share.first, share.count(), l.traffic);
}

void limit_pingpong(LimitCall const& l) {
    bool const plays = l.call.rank < 2 && l.call.ranks > 1;
    for (int step = 0; step < 3; ++step) {
        l.page.arrive();
        if (!plays) continue;
        l.page.await(1 - l.call.rank);
        if (step < 2) half(l, step, 1 - step);
    }
}

/// The receivers pull; the root, which has nothing to pull, writes the last part of each receiver's buffer.
void limit_bcast(LimitCall const& l) {
    int const root = l.call.root, ranks = l.call.ranks;
    const std::size_t split = Share(numbers(l), ranks - 1, ranks).first, rest = numbers(l) - split;
    l.page.arrive();
    if (l.call.rank != root) {
        l.page.await(root);
        copy(l.receives[l.call.rank], l.sends[root], split, l.traffic);
        l.page.arrive();
        l.page.await(root);
        return;
    }
    for_all_ranks_rotated(l, [&](int rank) {
        l.page.await(rank);
        if (rank != root) copy(l.receives[rank] + split, l.sends[root] + split, rest, l.traffic);
    });
    l.page.arrive();
    l.page.await_all();
}

void limit_barrier(LimitCall const& l) { l.page.barrier(); }

void limit_reduce(LimitCall const& l) {
    l.page.barrier();
    l.results[0] = l.receives[std::size_t(l.call.root)];
    sum_share(l, 0, Share(numbers(l), l.call.rank, l.call.ranks), 1, l.call.ranks);
    l.page.barrier();
}

void limit_allreduce(LimitCall const& l) {
    l.page.barrier();
    int copies = 0;
    for_all_ranks_rotated(l, [&](int rank) { l.results[std::size_t(copies++)] = l.receives[std::size_t(rank)]; });
    sum_share(l, 0, Share(numbers(l), l.call.rank, l.call.ranks), copies, l.call.ranks);
    l.page.barrier();
}

void limit_reduce_scatter(LimitCall const& l) {
    l.page.barrier();
    sum_here(l, numbers(l) * std::size_t(l.call.rank), l.call.ranks);
    l.page.barrier();
}

/// Each rank computes a share of every result, piece by piece, so that a sum is still in the cache when the next one
/// needs it.
void limit_scan(LimitCall const& l) {
    constexpr std::size_t piece = 1024;   // in numbers
    const Share share(numbers(l), l.call.rank, l.call.ranks);
    l.page.barrier();
    for (std::size_t at = share.first; at < share.last; at += piece) {
        const std::size_t count = std::min(piece, share.last - at);
        copy(l.receives[0] + at, l.sends[0] + at, count, l.traffic);
        for (std::size_t rank = 1; rank < l.receives.size(); ++rank) {
            double* to = l.receives[rank] + at;
            double const* operands[] = {l.receives[rank - 1] + at, l.sends[rank] + at};
            sum(&to, 1, operands, 2, count, l.traffic);
        }
    }
    l.page.barrier();
}

/// Each rank writes its block to all ranks, piece by piece, so that it is loaded from memory only once.
void limit_allgather(LimitCall const& l) {
    constexpr std::size_t piece = 2048;   // in numbers; a piece stays in the L1 cache
    const std::size_t block = numbers(l) * std::size_t(l.call.rank);
    l.page.barrier();
    for (std::size_t at = 0; at < numbers(l); at += piece)
        for_all_ranks_rotated(l, [&](int rank) {
            copy(l.receives[rank] + block + at, l.sends[l.call.rank] + at, std::min(piece, numbers(l) - at), l.traffic);
        });
    l.page.barrier();
}

void limit_alltoall(LimitCall const& l) {
    l.page.arrive();
    for_all_ranks_rotated(l, [&](int rank) {
        l.page.await(rank);
        copy(l.receives[l.call.rank] + numbers(l) * std::size_t(rank),
             l.sends[rank] + numbers(l) * std::size_t(l.call.rank), numbers(l), l.traffic);
    });
    l.page.barrier();
}

/// Each rank moves its own block; only the root waits for all.
template <class Move>
void with_root(LimitCall const& l, Move move) {
    l.page.arrive();
    l.page.await(l.call.root);
    move(numbers(l) * std::size_t(l.call.rank));
    l.page.arrive();
    if (l.call.rank == l.call.root) l.page.await_all();
}

void limit_gather(LimitCall const& l) {
    with_root(l, [&](std::size_t block) {
        copy(l.receives[l.call.root] + block, l.sends[l.call.rank], numbers(l), l.traffic);
    });
}

void limit_scatter(LimitCall const& l) {
    with_root(l, [&](std::size_t block) {
        copy(l.receives[l.call.rank], l.sends[l.call.root] + block, numbers(l), l.traffic);
    });
}

// Kernels in which the receiver alone copies, which needs the least waiting. At the end a rank waits for the
// receivers of its data.

void pulled_pingpong(LimitCall const& l) {
    int const rank = l.call.rank, peer = 1 - rank;
    bool const plays = rank < 2 && l.call.ranks > 1;
    for (int step = 0; step < 3; ++step) {
        l.page.arrive();   // the data to send is complete, and the data received has been consumed
        if (!plays) continue;
        l.page.await(peer);
        if (step != rank && step < 2)
            copy(l.receives[std::size_t(rank)], l.sends[std::size_t(peer)], numbers(l), l.traffic);
    }
}

void pulled_bcast(LimitCall const& l) {
    int const root = l.call.root;
    l.page.arrive();
    if (l.call.rank != root) {
        l.page.await(root);
        copy(l.receives[std::size_t(l.call.rank)], l.sends[std::size_t(root)], numbers(l), l.traffic);
    }
    l.page.arrive();
    if (l.call.rank == root) l.page.await_all();
}

void pulled_reduce(LimitCall const& l) {
    int const root = l.call.root;
    l.page.arrive();
    if (l.call.rank == root) {
        l.page.await_all();
        sum_here(l, 0, l.call.ranks);
    }
    l.page.arrive();
    l.page.await(root);
}

void pulled_allreduce(LimitCall const& l) {
    l.page.barrier();
    sum_here(l, 0, l.call.ranks);
    l.page.barrier();
}

void pulled_gather(LimitCall const& l) {
    int const root = l.call.root;
    l.page.arrive();
    if (l.call.rank == root)
        for_all_ranks_rotated(l, [&](int rank) {
            l.page.await(rank);
            copy(l.receives[std::size_t(root)] + numbers(l) * std::size_t(rank), l.sends[std::size_t(rank)], numbers(l),
                 l.traffic);
        });
    l.page.arrive();
    l.page.await(root);
}

void pulled_allgather(LimitCall const& l) {
    l.page.arrive();
    for_all_ranks_rotated(l, [&](int rank) {
        l.page.await(rank);
        copy(l.receives[std::size_t(l.call.rank)] + numbers(l) * std::size_t(rank), l.sends[std::size_t(rank)],
             numbers(l), l.traffic);
    });
    l.page.barrier();
}

void pulled_scan(LimitCall const& l) {
    l.page.barrier();
    sum_here(l, 0, l.call.rank + 1);
    l.page.barrier();
}

Kernel found_in(std::map<std::string, Kernel> const& kernels, std::string const& operation) {
    auto const found = kernels.find(operation);
    return found == kernels.end() ? nullptr : found->second;
}

}   // namespace

Kernel kernel_by_all(std::string const& operation) {
    static const std::map<std::string, Kernel> kernels = {
        {"pingpong", limit_pingpong},
        {"barrier", limit_barrier},
        {"bcast", limit_bcast},
        {"reduce", limit_reduce},
        {"allreduce", limit_allreduce},
        {"gather", limit_gather},
        {"scatter", limit_scatter},
        {"allgather", limit_allgather},
        {"alltoall", limit_alltoall},
        {"scan", limit_scan},
        {"reduce_scatter", limit_reduce_scatter},
    };
    return found_in(kernels, operation);
}

/// Has no kernels for operations in which only the receivers work in any case.
Kernel kernel_by_receiver(std::string const& operation) {
    static const std::map<std::string, Kernel> kernels = {
        {"pingpong", pulled_pingpong},   {"bcast", pulled_bcast},   {"reduce", pulled_reduce},
        {"allreduce", pulled_allreduce}, {"gather", pulled_gather}, {"allgather", pulled_allgather},
        {"scan", pulled_scan},
    };
    return found_in(kernels, operation);
}

}   // namespace bench
