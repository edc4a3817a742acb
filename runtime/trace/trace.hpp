// SPDX-License-Identifier: BSD-3-Clause
// A rank's trace in the node segment: the last of its events, in a ring, and what they refer to. One writer, the rank;
// the launcher reads when the rank's process has ended, however it ended. Zeroed memory is an empty trace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/flag.hpp"

namespace tutti {

enum class TraceKind : std::uint8_t {
    none,
    call,         ///< an MPI call that is over; it follows the events that happened in it
    sent,         ///< a message of the program leaves its send
    received,     ///< a message has found its receive
    collective,   ///< a collective operation begins at this rank
};

/// Times are nanoseconds of now_ns(), of this node.
struct TraceEvent {
    std::int64_t time = 0;     ///< of a call: its begin
    std::int64_t amount = 0;   ///< of a call: nanoseconds that it took; else bytes
    std::int64_t waited = 0;   ///< of a call: nanoseconds of these that it waited. Of a message: how many with the
                               ///< same ends, communicator and tag came before. Of a collective: its number on the
                               ///< communicator
    std::uint64_t where = 0;   ///< of a call: return address in the program; else the communicator's context
    std::int32_t peer = 0;     ///< sent: to which rank of the world; received: from which rank of the communicator;
                               ///< collective: the root, or −1
    std::int32_t tag = 0;      ///< of a call: how many equal ones this event stands for
    std::uint16_t text = 0;    ///< name of the call or of collective and algorithm, in Trace::texts
    TraceKind kind{};
    std::uint8_t flags = 0;
    std::uint32_t thread = 0;   ///< running number

    static constexpr std::uint8_t receive_first = 1;   ///< received: it had waited for its message
};
static_assert(sizeof(TraceEvent) == 48);

/// A call that has begun and is not over.
struct OpenCall {
    std::atomic<std::int64_t> begin;   ///< 0: there is none
    std::uint64_t site;
    std::int64_t waited;
    std::uint16_t text;
    std::uint32_t thread;
    std::uint64_t events;   ///< events of the trace when it began
    std::uintptr_t stack;   ///< of which thread it is
};

struct TracedComm {
    std::uint64_t context;
    std::int32_t size;
    std::int32_t rank;   ///< this rank's in it, as its messages name it
    char name[64];       ///< a later one takes an earlier one's place
    char members[176];   ///< world ranks as ranges, "0-3,8"; ends in "…" when there are more
};

struct alignas(cache_line) Trace {
    static constexpr std::size_t most_texts = 512, most_comms = 512, most_open = 16, most_maps = 96 << 10;

    std::atomic<std::uint64_t> events;   ///< ever written; the last `room` are there
    std::uint64_t room;                  ///< written by the launcher
    std::atomic<std::uint32_t> texts_used, comms_used;
    std::atomic<std::uint32_t> maps_bytes;
    OpenCall open[most_open];
    char texts[most_texts][80];
    TracedComm comms[most_comms];
    char maps[most_maps];   ///< of /proc/PID/maps, the lines about files

    TraceEvent* ring() { return reinterpret_cast<TraceEvent*>(this + 1); }
    TraceEvent const* ring() const { return reinterpret_cast<TraceEvent const*>(this + 1); }
    static constexpr std::size_t bytes(std::uint64_t room);
};

constexpr std::size_t Trace::bytes(std::uint64_t room) { return sizeof(Trace) + room * sizeof(TraceEvent); }

}   // namespace tutti
