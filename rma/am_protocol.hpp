// SPDX-License-Identifier: BSD-3-Clause
// The protocol of active messages between an origin and a target of a window (active-messages.md). A message of p2p
// contains a head and some commands; some commands are followed by data. Both ranks run the same library on machines of
// one kind, so structures are sent as they are.
//
// Tags: messages of commands have tag 0. A command that needs more messages gets a number n from its origin: its data
// in a separate message has tag 2n + 1, its answer tag 2n + 2. Commands of one message with small answers share a
// number and one answer, which contains the answers in the order of the commands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/reduce.hpp"

namespace tutti::rma {

/// Kinds of commands. Executed by the target, in the order in which the origin sends them.
enum class Opcode : std::uint8_t {
    put,
    get,
    accumulate,         ///< also MPI_Get_accumulate and MPI_Fetch_and_op, which are answered
    compare_and_swap,   ///< data: the value to compare with, then the value to store
    describe_type,      ///< data: a datatype (runtime/datatype/layout.hpp), known as `type` afterwards
    flush,              ///< answered without data when all previous commands are complete
    lock,               ///< all commands behind it wait until the origin has the lock
    unlock,             ///< executed when all previous commands are complete; then answered like a flush
    /// Locks all parts of the node; sent to its first member. Answered by one byte (1: granted). With `waits`, answered
    /// when the origin has the lock, and all commands behind it wait.
    lock_node,
    step_back,      ///< the origin releases that lock but still waits for it
    release_node,   ///< the origin neither holds that lock nor waits for it
    posted,         ///< the origin has opened an exposure epoch for this member
    /// Executed when all previous commands are complete: the origin has closed an access epoch towards this member.
    completed,
};

/// A command, as it is sent.
struct Command {
    Opcode opcode;
    BuiltinOp op = BuiltinOp::none;
    Basic basic = Basic::none;         ///< kind of the elements that are accumulated
    bool inline_data : 1 = false;      ///< `length` bytes of data follow the command, padded to a multiple of 8
    bool separate_data : 1 = false;    ///< the data arrives in a separate message
    bool answered : 1 = false;         ///< by the previous content, or by an empty message
    bool exclusive : 1 = false;        ///< for locks
    bool gathered : 1 = false;         ///< answered in one message together with other commands of the same number
    bool last : 1 = false;             ///< last one of the gathered commands
    bool waits : 1 = false;            ///< for lock_node
    std::uint32_t number = 0;          ///< used in tags; 0: no separate data and no answer
    std::uint32_t type = 0;            ///< of the elements at the target; 0: bytes without gaps
    std::uint64_t address = 0;         ///< of the elements' origin, in the target's address space
    std::int64_t count = 0;            ///< number of elements
    std::uint64_t position = 0;        ///< of the first byte of this command, in the packed elements
    std::uint64_t bytes = 0;           ///< number of bytes of this command
    std::uint32_t length = 0;          ///< bytes of data behind the command
    std::uint32_t element_bytes = 0;   ///< packed bytes of one element that is accumulated
};

/// Head of a message of commands.
struct MessageHead {
    std::uint64_t window;   ///< context of the window's communicator
    std::uint32_t number;   ///< sequence number of the messages from this process to that one
    std::int32_t origin;    ///< the origin's rank in the window
};

/// Size of a message of commands in bytes. All transports send it eagerly in their present configuration.
inline constexpr std::size_t am_message_bytes = 8192;
/// Maximum size of data behind a command, in bytes; larger data is sent in a separate message.
inline constexpr std::size_t max_inline_data = am_message_bytes - sizeof(MessageHead) - sizeof(Command);
/// Maximum size of a gathered answer, in bytes; a larger answer is a separate message, received directly into its
/// destination.
inline constexpr std::size_t max_gathered = 4096;
/// Size in bytes of the pieces into which data is cut if it cannot be sent from, or stored to, its layout directly.
inline constexpr std::size_t piece_bytes = 128 << 10;

/// Rounds up to a multiple of 8.
inline constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
inline constexpr int command_tag = 0;
inline int data_tag(std::uint32_t number) { return static_cast<int>(2 * number + 1); }
inline int answer_tag(std::uint32_t number) { return static_cast<int>(2 * number + 2); }

}   // namespace tutti::rma
