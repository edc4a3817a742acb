// SPDX-License-Identifier: BSD-3-Clause
// The limit of an operation: the fastest of several kernels written by hand for it over memory that all ranks share.
// They know in advance what a library has to find out: where all buffers are, and that all of them are accessible.
//   limit_kernels.cpp    one copy, from the sender's buffer to the receiver's: each byte is loaded and stored as often
//                        as the operation requires, by the receiver or by all ranks together. The ranks wait for each
//                        other twice: until the buffers may be accessed, and until no rank accesses them any more.
//                        Or copies in and out, through lines or slots between the buffers: no sender waits for a
//                        receiver that is less than a ring behind.
//   limit_one_sided.cpp  loads, stores and atomic operations of the origin alone, in the target's window.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "operation.hpp"
#include "shared_page.hpp"

namespace bench {

/// The methods to copy and sum by load and store that are known to be fast on some machine. The fastest one depends on
/// the machine and on where the lines are, so the limit of an operation is the best result over all of them.
enum class Traffic {
    string,      ///< rep movsb if the processor has it, otherwise the C library's copy
    ahead,       ///< vector loads and stores, with both ends prefetched: more lines in flight from another core's cache
    streaming,   ///< non-temporal stores, over several pages at a time: for data that does not fit into any cache
};
inline constexpr Traffic all_traffic[] = {Traffic::string, Traffic::ahead, Traffic::streaming};

void copy(double* to, double const* from, std::size_t count, Traffic traffic);

/// Sets to[0][i] = ... = to[copies - 1][i] to the sum of from[0][i], from[1][i] ..., in this order, in one pass over
/// all operands.
void sum(double* const* to, int copies, double const* const* from, int operands, std::size_t count, Traffic traffic);

/// Memory through which messages are copied in and out, organized as rings: one for each pair of ranks, and one for
/// each rank that all others read. The layout of a message is
///   lines  of seven numbers and a flag: a reader that sees the flag has the payload in the same line;
///   slots  with the flag in the first line, and the payload from the second line on. A payload of up to seven numbers
///          uses a single line as above.
///
/// Data-race free by the C++ memory model. Message m (from 1 on) uses slot m % depth. Only the writer writes the
/// slot, and only after it has seen (acquire) that every reader has consumed message m - depth; a reader signals that
/// (release) after its last load from the slot. A reader loads a number only after it has seen (acquire) m in the
/// flag that was stored (release) after that number. The flag equals m for this message only, because m never recurs.
/// Therefore each load of a payload happens after its stores and before the next ones. Flags and counts of consumed
/// messages are atomic.
///
/// There is no false sharing: a slot consists of whole pairs of lines (processors fetch lines in pairs), and each
/// reader's count of consumed messages has a pair of its own, which the writer reads once in `depth` messages.
class Channel {
public:
    enum class Layout { lines, slots };
    struct Shape {
        Layout layout;
        Traffic traffic;   ///< for slots
        std::size_t count, depth, slot_bytes;
        bool oversubscribed;
        std::size_t bytes(std::size_t readers) const { return 128 * readers + depth * slot_bytes; }
    };
    /// `memory` has shape.bytes(readers) bytes, initially zero. `reader` is this rank's number among the readers; the
    /// writer does not wait for that reader. Of the other readers, those from `first` on read every message, and those
    /// before it none.
    Channel(Shape const& shape, std::byte* memory, std::size_t readers, std::size_t reader, std::size_t first);

    /// Sends a message of `count` numbers. Only the writer may call this.
    void send(double const* from);
    /// Receives a message: to[i] = number i of the message. Only readers may call this.
    void receive(double* to);
    /// Receives a message: to[i] = with[i] + number i of the message. `to` may be `with`.
    void receive_sum(double* to, double const* with);

private:
    static constexpr std::size_t in_line = 7;
    struct alignas(64) Line {
        double numbers[in_line];
        std::atomic<std::uint64_t> flag;
    };
    struct alignas(128) Consumed {
        std::atomic<std::uint64_t> messages;
    };

    Line* slot_of(std::uint64_t message) const {
        return reinterpret_cast<Line*>(slots_ + (message & (shape_.depth - 1)) * shape_.slot_bytes);
    }
    static double* payload(Line* slot) { return reinterpret_cast<double*>(slot + 1); }
    bool in_lines() const { return shape_.layout == Layout::lines || shape_.count <= in_line; }
    void await_flag(Line const& line, std::uint64_t message) const {
        poll(shape_.oversubscribed, [&] { return line.flag.load(std::memory_order_acquire) == message; });
    }
    void await_free_slot(std::uint64_t message);

    Shape shape_;
    Consumed* consumed_;
    std::byte* slots_;
    std::size_t readers_, reader_, first_;
    /// the last message; the last message for which the writer knows that a slot is free
    std::uint64_t message_ = 0, free_until_;
};

/// This rank's ends of all channels.
class Channels {
public:
    using Layout = Channel::Layout;
    /// Collective. For messages of `count` numbers. `upwards`: messages for all ranks are read only by the ranks above
    /// the writer.
    Channels(MPI_Comm comm, Layout layout, Traffic traffic, std::size_t count, bool oversubscribed, bool upwards);

    Channel& to(int rank) { return to_[std::size_t(rank)]; }
    Channel& from(int rank) { return from_[std::size_t(rank)]; }
    Channel& to_all() { return all_[std::size_t(rank_)]; }
    Channel& from_all(int rank) { return all_[std::size_t(rank)]; }

private:
    int rank_, ranks_;
    Channel::Shape shape_;
    SharedMemory memory_;
    std::vector<Channel> to_, from_, all_;
};

/// The arguments of a kernel. Vectors are indexed by rank.
struct LimitCall {
    Call const& call;
    std::vector<const double*> const& sends;   ///< of all ranks
    std::vector<double*> const &receives, &windows;
    SharedPage& page;
    Traffic traffic;
    Channels* channels;                     ///< for kernels that copy in and out
    std::vector<double const*>& operands;   ///< has room for one operand of each rank, so that no kernel allocates
    std::vector<double*>& results;
};

/// A kernel, and how it copies.
struct LimitKernel {
    std::string name;   ///< as printed to JSON
    void (*run)(LimitCall const&);
    Traffic traffic = Traffic::ahead;
    bool through_channels = false;
    Channels::Layout layout = Channels::Layout::lines;
};

/// Greatest size in bytes at which a kernel through channels can be the fastest; above it, one copy by all ranks is.
inline constexpr std::size_t max_channel_bytes = 16 << 10;

/// Returns the kernels that may be the fastest for this blocking operation; empty if none has been written for it.
std::vector<LimitKernel> limit_kernels(std::string const& operation, std::size_t bytes);

/// Return the kernel of one kind; null if the operation has no such kernel.
using Kernel = void (*)(LimitCall const&);
Kernel kernel_by_all(std::string const& operation);
Kernel kernel_by_receiver(std::string const& operation);
Kernel kernel_through_channels(std::string const& operation);
/// Returns all kernels of a one-sided operation; empty if it is none, or moves the same data as another operation.
std::vector<LimitKernel> one_sided_kernels(std::string const& operation, std::size_t bytes);

}   // namespace bench
