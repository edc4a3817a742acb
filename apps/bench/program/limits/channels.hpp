// SPDX-License-Identifier: BSD-3-Clause
// Memory through which messages are copied in and out, in rings: one for each pair of ranks, and one for each rank that
// all others read. A message lies in
//   lines  of seven numbers and a flag: whoever sees the flag has the payload in the same line;
//   slots  whose first line has the flag, and from the second line on the payload, where that has more than a line.
//
// Free of races by the C++ memory model: message m (from 1 on) goes to place m % depth. Only the writer writes the
// place, and only after it has seen (acquire) that every reader has taken message m - depth; a reader tells that
// (release) after its last load from the place. A reader loads a number only after it has seen (acquire) m in the flag
// that was stored (release) after that number. The flag is m for this message alone, since m never returns. So each
// load of a payload happens after its stores and before the next ones. Flags and counts of taken messages are atomic.
// Nothing is shared by accident: a place has whole pairs of lines (processors fetch lines in pairs), and each reader's
// count of taken messages has a pair of its own, which the writer reads once in `depth` messages.
#pragma once

#include "../measure/shared_memory.hpp"
#include "../measure/shared_page.hpp"
#include "traffic.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

class Channel {
public:
    enum class Layout { lines, slots };
    struct Shape {
        Layout layout;
        Traffic traffic; // of slots
        std::size_t count, depth, place_bytes;
        bool crowded;
        std::size_t bytes(std::size_t readers) const { return 128 * readers + depth * place_bytes; }
    };
    // `memory`, zero at first, holds shape.bytes(readers). This rank is reader number `reader`, or, being the writer,
    // none that counts; of the others, those from `first` on read every message, and those before it none.
    Channel(const Shape &shape, std::byte *memory, std::size_t readers, std::size_t reader, std::size_t first);

    // The writer: `count` numbers.
    void put(const double *from);
    // A reader: to[i] = the message's number i.
    void take(double *to);
    // to[i] = with[i] + the message's number i; `to` may be `with`.
    void take_sum(double *to, const double *with);

private:
    static constexpr std::size_t in_line = 7;
    struct alignas(64) Line {
        double numbers[in_line];
        std::atomic<std::uint64_t> flag;
    };
    struct alignas(128) Taken {
        std::atomic<std::uint64_t> messages;
    };

    Line *place(std::uint64_t message) const
    {
        return reinterpret_cast<Line *>(places_ + (message & (shape_.depth - 1)) * shape_.place_bytes);
    }
    static double *payload(Line *slot) { return reinterpret_cast<double *>(slot + 1); }
    bool in_lines() const { return shape_.layout == Layout::lines || shape_.count <= in_line; }
    void await_flag(const Line &line, std::uint64_t message) const
    {
        poll(shape_.crowded, [&] { return line.flag.load(std::memory_order_acquire) == message; });
    }
    void await_room(std::uint64_t message);

    Shape shape_;
    Taken *taken_;
    std::byte *places_;
    std::size_t readers_, reader_, first_;
    std::uint64_t message_ = 0, room_; // the last one; the last that may be written as far as the writer knows
};

// This rank's ends of all channels.
class Channels {
public:
    using Layout = Channel::Layout;
    // Collective. For messages of `count` numbers. `upwards`: what is for all is for the ranks above the writer.
    Channels(MPI_Comm comm, Layout layout, Traffic traffic, std::size_t count, bool crowded, bool upwards);

    Channel &to(int rank) { return to_[std::size_t(rank)]; }
    Channel &from(int rank) { return from_[std::size_t(rank)]; }
    Channel &to_all() { return all_[std::size_t(rank_)]; }
    Channel &from_all(int rank) { return all_[std::size_t(rank)]; }

private:
    int rank_, ranks_;
    Channel::Shape shape_;
    SharedMemory memory_;
    std::vector<Channel> to_, from_, all_;
};

} // namespace bench
