// SPDX-License-Identifier: BSD-3-Clause
// A rank's trace in the node segment: a ring of its latest events, and the strings and communicators that they refer
// to. The rank is the only writer; the launcher reads after the rank's process has ended, for whatever reason. Zeroed
// memory is an empty trace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti {

enum class TraceKind : std::uint8_t {
    none,
    call,         ///< a completed MPI call; it follows the events that happened inside it
    sent,         ///< a message of the program leaves its send
    received,     ///< a message was matched with its receive
    collective,   ///< a collective operation begins at this rank
};

/// Times are nanoseconds of now_ns() on this node.
struct TraceEvent {
    std::int64_t time = 0;     ///< call: its begin
    std::int64_t amount = 0;   ///< call: its duration in nanoseconds; otherwise bytes
    std::int64_t waited = 0;   ///< call: nanoseconds of the duration spent waiting; message: how many
                               ///< with the same ends, communicator and tag came before; collective:
                               ///< its sequence number on the communicator
    std::uint64_t where = 0;   ///< call: return address in the program; otherwise the communicator's context
    std::int32_t peer = 0;     ///< sent: destination rank in the world; received: source rank in the
                               ///< communicator; collective: the root, or −1
    std::int32_t tag = 0;      ///< call: number of equal calls that this event represents
    std::uint16_t text = 0;    ///< call name, or collective and algorithm: index into Trace::texts
    TraceKind kind{};
    std::uint8_t flags = 0;
    std::uint32_t thread = 0;   ///< sequential number

    static constexpr std::uint8_t receive_first = 1;   ///< received: the receive was posted before its message arrived
};
static_assert(sizeof(TraceEvent) == 48);

/// A call that has begun and is not complete.
struct OpenCall {
    std::atomic<std::int64_t> begin;   ///< 0: unused entry
    std::uint64_t site;
    std::int64_t waited;
    std::uint16_t text;
    std::uint32_t thread;
    std::uint64_t events;   ///< number of trace events when the call began
    std::uintptr_t stack;   ///< identifies the thread
};

/// A communicator that events refer to by its context.
struct TracedComm {
    std::uint64_t context;
    std::int32_t size;
    std::int32_t rank;   ///< this rank in the communicator, as its messages identify it
    char name[64];       ///< a later name replaces an earlier one
    char members[176];   ///< world ranks as ranges, "0-3,8"; ends in ",…" if truncated
};

struct alignas(cache_line) Trace {
    static constexpr std::size_t max_texts = 512, max_comms = 512, max_open = 16, max_maps = 96 << 10;

    std::atomic<std::uint64_t> events;   ///< number ever written; the last `capacity` of them are stored
    std::uint64_t capacity;              ///< written by the launcher
    std::atomic<std::uint32_t> texts_used, comms_used;
    std::atomic<std::uint32_t> maps_bytes;
    OpenCall open[max_open];
    char texts[max_texts][80];
    TracedComm comms[max_comms];
    char maps[max_maps];   ///< the lines of /proc/PID/maps that name files

    TraceEvent* ring() { return reinterpret_cast<TraceEvent*>(this + 1); }
    TraceEvent const* ring() const { return reinterpret_cast<TraceEvent const*>(this + 1); }
    /// Returns the bytes of a trace with a ring of `capacity` events.
    static constexpr std::size_t bytes(std::uint64_t capacity);
};

constexpr std::size_t Trace::bytes(std::uint64_t capacity) { return sizeof(Trace) + capacity * sizeof(TraceEvent); }

}   // namespace tutti
