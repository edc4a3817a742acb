// SPDX-License-Identifier: BSD-3-Clause
// Channels, the list of limit kernels, and the methods to copy and sum.
#include "limit.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bench {
namespace {

int rank_among(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

/// Returns a depth so large that the writer seldom has to check for free slots, and so small that all slots fit into
/// the L1 cache.
std::size_t depth_for(std::size_t slot_bytes) {
    std::size_t depth = 16;
    while (depth > 2 && depth * slot_bytes > 16 << 10) depth /= 2;
    return depth;
}

Channel::Shape shape_for(Channel::Layout layout, Traffic traffic, std::size_t count, bool oversubscribed) {
    const std::size_t lines = layout == Channel::Layout::lines || count <= 7 ? (count + 6) / 7 : 1 + (count + 7) / 8;
    const std::size_t slot_bytes = (64 * lines + 127) / 128 * 128;
    return {layout, traffic, count, depth_for(slot_bytes), slot_bytes, oversubscribed};
}

/// A full line is unrolled, so that the compiler vectorizes it.
template <class Do>
inline void for_each_in_line(std::size_t count, Do act) {
    if (count == 7) {
#pragma GCC unroll 7
        for (std::size_t i = 0; i < 7; ++i) act(i);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) act(i);
}

}   // namespace

Channel::Channel(Shape const& shape, std::byte* memory, std::size_t readers, std::size_t reader, std::size_t first)
    : shape_(shape), consumed_(reinterpret_cast<Consumed*>(memory)), slots_(memory + sizeof(Consumed) * readers),
      readers_(readers), reader_(reader), first_(first), free_until_(shape.depth) {}

void Channel::await_free_slot(std::uint64_t message) {
    std::uint64_t least = message;
    for (std::size_t reader = first_; reader < readers_; ++reader) {
        if (reader == reader_) continue;
        std::uint64_t consumed = 0;
        poll(shape_.oversubscribed, [&] {
            consumed = consumed_[reader].messages.load(std::memory_order_acquire);
            return consumed + shape_.depth >= message;
        });
        least = std::min(least, consumed);
    }
    free_until_ = least + shape_.depth;
}

void Channel::send(double const* from) {
    const std::uint64_t message = ++message_;
    if (message > free_until_) await_free_slot(message);
    Line* line = slot_of(message);
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

void Channel::receive(double* to) {
    const std::uint64_t message = ++message_;
    Line* line = slot_of(message);
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
    consumed_[reader_].messages.store(message, std::memory_order_release);
}

void Channel::receive_sum(double* to, double const* with) {
    const std::uint64_t message = ++message_;
    Line* line = slot_of(message);
    if (!in_lines()) {
        await_flag(*line, message);
        double const* operands[] = {with, payload(line)};
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
    consumed_[reader_].messages.store(message, std::memory_order_release);
}

/// The memory begins with the channels of pairs, ordered by writer; the channels that all others read follow.
Channels::Channels(MPI_Comm comm, Layout layout, Traffic traffic, std::size_t count, bool oversubscribed, bool upwards)
    : rank_(rank_among(comm)), ranks_(size_of(comm)), shape_(shape_for(layout, traffic, count, oversubscribed)),
      memory_(comm, std::size_t(ranks_) * (std::size_t(ranks_) * shape_.bytes(1) + shape_.bytes(std::size_t(ranks_)))) {
    const std::size_t ranks = std::size_t(ranks_), pair = shape_.bytes(1), all = shape_.bytes(ranks);
    std::byte *const pairs = static_cast<std::byte*>(memory_.data()), *const alls = pairs + ranks * ranks * pair;
    const std::size_t rank = std::size_t(rank_);
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        to_.emplace_back(shape_, pairs + (rank * ranks + peer) * pair, 1, 1, 0);
        from_.emplace_back(shape_, pairs + (peer * ranks + rank) * pair, 1, 0, 0);
        all_.emplace_back(shape_, alls + peer * all, ranks, rank, upwards ? peer + 1 : 0);
    }
}

namespace {

/// Maps an operation to the one that moves the same data.
std::string same_traffic(std::string const& operation) {
    if (operation == "gatherv" || operation == "scatterv" || operation == "allgatherv")
        return operation.substr(0, operation.size() - 1);
    if (operation == "alltoallv" || operation == "alltoallw") return "alltoall";
    if (operation == "fence") return "barrier";
    return operation == "reduce_scatter_block" ? "reduce_scatter" : operation;
}

}   // namespace

std::vector<LimitKernel> limit_kernels(std::string const& operation, std::size_t bytes) {
    if (auto const kernels = one_sided_kernels(operation, bytes); !kernels.empty()) return kernels;
    const std::string name = same_traffic(operation);
    const Kernel all = kernel_by_all(name), receiver = kernel_by_receiver(name);
    const Kernel channels = kernel_through_channels(name);
    if (!all) return {};
    if (bytes == 0)   // nothing is copied
        return {{"flags", all}, {"lines", channels, Traffic::ahead, true, Channels::Layout::lines}};
    std::vector<LimitKernel> kernels;
    if (bytes > max_channel_bytes) {
        for (Traffic traffic : all_traffic) kernels.push_back({"one copy by all", all, traffic});
        return kernels;
    }
    // small data fits into any cache, so streaming is pointless
    constexpr Traffic small[] = {Traffic::ahead, Traffic::string};
    for (Traffic traffic : small) {
        kernels.push_back({"one copy by all", all, traffic});
        if (receiver) kernels.push_back({"one copy by the receiver", receiver, traffic});
        if (channels) kernels.push_back({"slots", channels, traffic, true, Channels::Layout::slots});
    }
    if (channels) kernels.push_back({"lines", channels, Traffic::ahead, true, Channels::Layout::lines});
    return kernels;
}

}   // namespace bench

#if defined(__x86_64__)
#include <emmintrin.h>
#define wide __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define wide
#endif

namespace bench {
namespace {

constexpr std::size_t line = 8, page = 512;   // in numbers
constexpr std::size_t piece = 4 * page;       // summed at a time: stays in the L1 cache until it is passed on

/// A line of numbers at any address; the compiler chooses the vector instructions.
typedef double Vector __attribute__((vector_size(64), aligned(8), may_alias));

inline Vector const& vector_at(double const* at) { return *reinterpret_cast<Vector const*>(at); }
inline Vector& vector_at(double* at) { return *reinterpret_cast<Vector*>(at); }

void copy_by_string(double* to, double const* from, std::size_t count) {
#if defined(__x86_64__)
    std::size_t bytes = count * sizeof(double);
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    std::memcpy(to, from, count * sizeof(double));
#endif
}

wide void copy_ahead(double* to, double const* from, std::size_t count) {
    std::size_t i = 0;
    for (; i + page + line <= count; i += line) {
        __builtin_prefetch(from + i + page, 0, 2);
        __builtin_prefetch(to + i + page / 8, 1, 3);
        vector_at(to + i) = vector_at(from + i);
    }
    for (; i + line <= count; i += line) vector_at(to + i) = vector_at(from + i);
    std::copy(from + i, from + count, to + i);
}

void copy_streaming(double* to, double const* from, std::size_t count) {
#if defined(__x86_64__)
    std::size_t i = 0;
    for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 64; ++i) to[i] = from[i];
    auto stream_line = [&](std::size_t at) {
        for (std::size_t k = 0; k < line; k += 2) _mm_stream_pd(to + at + k, _mm_loadu_pd(from + at + k));
    };
    for (; i + piece <= count; i += piece)
        for (std::size_t at = i; at < i + page; at += line)
            for (std::size_t p = 0; p < piece; p += page) stream_line(at + p);
    for (; i + line <= count; i += line) stream_line(i);
    std::copy(from + i, from + count, to + i);
    _mm_sfence();   // a release store of the flag orders only ordinary stores
#else
    std::memcpy(to, from, count * sizeof(double));
#endif
}

wide void sum_piece(double* to, double const* const* from, int operands, std::size_t at, std::size_t count,
                    bool prefetched) {
    std::size_t i = 0;
    for (; i + line <= count; i += line) {
        Vector total = vector_at(from[0] + at + i);
        for (int k = 1; k < operands; ++k) total += vector_at(from[k] + at + i);
        if (prefetched)
            for (int k = 0; k < operands; ++k) __builtin_prefetch(from[k] + at + i + page, 0, 2);
        vector_at(to + i) = total;
    }
    for (; i < count; ++i) {
        double total = from[0][at + i];
        for (int k = 1; k < operands; ++k) total += from[k][at + i];
        to[i] = total;
    }
}

}   // namespace

void copy(double* to, double const* from, std::size_t count, Traffic traffic) {
    if (count < line) {
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
        return;
    }
    switch (traffic) {
    case Traffic::string: return copy_by_string(to, from, count);
    case Traffic::ahead: return copy_ahead(to, from, count);
    case Traffic::streaming: return copy_streaming(to, from, count);
    }
}

void sum(double* const* to, int copies, double const* const* from, int operands, std::size_t count, Traffic traffic) {
    if (count < line) {
        for (std::size_t i = 0; i < count; ++i) {
            double number = from[0][i];
            for (int k = 1; k < operands; ++k) number += from[k][i];
            for (int k = 0; k < copies; ++k) to[k][i] = number;
        }
        return;
    }
    alignas(64) double total[piece];
    for (std::size_t at = 0; at < count; at += piece) {
        const std::size_t length = std::min(piece, count - at);
        bool const streams = traffic == Traffic::streaming;
        double* first = streams ? total : to[0] + at;
        // No prefetch beyond the end, where other ranks may be writing.
        sum_piece(first, from, operands, at, length, traffic == Traffic::ahead && at + length + page <= count);
        for (int k = streams ? 0 : 1; k < copies; ++k) copy(to[k] + at, first, length, traffic);
    }
}

}   // namespace bench
