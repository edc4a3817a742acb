// SPDX-License-Identifier: BSD-3-Clause
#include "channels.hpp"

#include <algorithm>

namespace bench {
namespace {

int rank_among(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

// So many places that a writer seldom looks whether there is room, and so few that all stay in the nearest cache.
std::size_t depth_for(std::size_t place_bytes)
{
    std::size_t depth = 16;
    while (depth > 2 && depth * place_bytes > 16 << 10)
        depth /= 2;
    return depth;
}

Channel::Shape shape_for(Channel::Layout layout, Traffic traffic, std::size_t count, bool crowded)
{
    const std::size_t lines = layout == Channel::Layout::lines || count <= 7 ? (count + 6) / 7 : 1 + (count + 7) / 8;
    const std::size_t place_bytes = (64 * lines + 127) / 128 * 128;
    return {layout, traffic, count, depth_for(place_bytes), place_bytes, crowded};
}

// A full line without a loop, of which the compiler makes vectors.
template <class Do>
inline void for_each_in_line(std::size_t count, Do act)
{
    if (count == 7) {
#pragma GCC unroll 7
        for (std::size_t i = 0; i < 7; ++i)
            act(i);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        act(i);
}

} // namespace

Channel::Channel(const Shape &shape, std::byte *memory, std::size_t readers, std::size_t reader, std::size_t first)
    : shape_(shape), taken_(reinterpret_cast<Taken *>(memory)), places_(memory + sizeof(Taken) * readers),
      readers_(readers), reader_(reader), first_(first), room_(shape.depth)
{
}

void Channel::await_room(std::uint64_t message)
{
    std::uint64_t least = message;
    for (std::size_t reader = first_; reader < readers_; ++reader) {
        if (reader == reader_)
            continue;
        std::uint64_t taken = 0;
        poll(shape_.crowded, [&] {
            taken = taken_[reader].messages.load(std::memory_order_acquire);
            return taken + shape_.depth >= message;
        });
        least = std::min(least, taken);
    }
    room_ = least + shape_.depth;
}

void Channel::put(const double *from)
{
    const std::uint64_t message = ++message_;
    if (message > room_)
        await_room(message);
    Line *line = place(message);
    if (!in_lines()) {
        copy(payload(line), from, shape_.count, shape_.traffic);
        line->flag.store(message, std::memory_order_release);
        return;
    }
    for (std::size_t left = shape_.count; left > 0; ++line) {
        const std::size_t count = std::min(left, in_line);
        for_each_in_line(count, [&](std::size_t i) { line->numbers[i] = from[i]; });
        line->flag.store(message, std::memory_order_release);
        from += count;
        left -= count;
    }
}

void Channel::take(double *to)
{
    const std::uint64_t message = ++message_;
    Line *line = place(message);
    if (!in_lines()) {
        await_flag(*line, message);
        copy(to, payload(line), shape_.count, shape_.traffic);
    } else {
        for (std::size_t left = shape_.count; left > 0; ++line) {
            const std::size_t count = std::min(left, in_line);
            await_flag(*line, message);
            for_each_in_line(count, [&](std::size_t i) { to[i] = line->numbers[i]; });
            to += count;
            left -= count;
        }
    }
    taken_[reader_].messages.store(message, std::memory_order_release);
}

void Channel::take_sum(double *to, const double *with)
{
    const std::uint64_t message = ++message_;
    Line *line = place(message);
    if (!in_lines()) {
        await_flag(*line, message);
        const double *operands[] = {with, payload(line)};
        sum(&to, 1, operands, 2, shape_.count, shape_.traffic);
    } else {
        for (std::size_t left = shape_.count; left > 0; ++line) {
            const std::size_t count = std::min(left, in_line);
            await_flag(*line, message);
            for_each_in_line(count, [&](std::size_t i) { to[i] = with[i] + line->numbers[i]; });
            to += count;
            with += count;
            left -= count;
        }
    }
    taken_[reader_].messages.store(message, std::memory_order_release);
}

// First the pairs' channels, one writer's behind the other's; then those that all others read.
Channels::Channels(MPI_Comm comm, Layout layout, Traffic traffic, std::size_t count, bool crowded, bool upwards)
    : rank_(rank_among(comm)), ranks_(size_of(comm)), shape_(shape_for(layout, traffic, count, crowded)),
      memory_(comm, std::size_t(ranks_) * (std::size_t(ranks_) * shape_.bytes(1) + shape_.bytes(std::size_t(ranks_))))
{
    const std::size_t ranks = std::size_t(ranks_), pair = shape_.bytes(1), all = shape_.bytes(ranks);
    std::byte *const pairs = static_cast<std::byte *>(memory_.data()), *const alls = pairs + ranks * ranks * pair;
    const std::size_t rank = std::size_t(rank_);
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        to_.emplace_back(shape_, pairs + (rank * ranks + peer) * pair, 1, 1, 0);
        from_.emplace_back(shape_, pairs + (peer * ranks + rank) * pair, 1, 0, 0);
        all_.emplace_back(shape_, alls + peer * all, ranks, rank, upwards ? peer + 1 : 0);
    }
}

} // namespace bench
