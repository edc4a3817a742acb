// SPDX-License-Identifier: BSD-3-Clause
// What one rank asks another one to do with a window: messages of p2p, each a head and some commands, of which some are
// followed by data. Both ranks run the same library on machines of one kind: structures travel as they are.
//
// Tags: 0 is a message of commands. A command that needs more gets a number n of its origin's: what it says in a
// message of its own has tag 2n + 1, what is answered 2n + 2. Commands of one message whose answers are small share a
// number and an answer, which is what each of them answers, in their order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/kinds.hpp"

namespace tutti::rma {

enum class Act : std::uint8_t {
    put,
    get,
    accumulate,         ///< also MPI_Get_accumulate and MPI_Fetch_and_op: with answer
    compare_and_swap,   ///< data: what to compare with, then what to store
    describe,           ///< data: a datatype (runtime/datatype/layout/remote.hpp), from now on known as `type`
    flush,              ///< answered without data when everything before it is done
    lock,               ///< everything behind it waits until the origin has the lock
    unlock,             ///< when everything before it is done; then answered as a flush is
    lock_node,          ///< of all parts of the node, to its first member: answered by one byte, 1 for yes. If it
                        ///< `waits`, it is answered when the origin has the lock, and everything behind it waits
    step_back,          ///< the origin does not hold that lock, but waits for it
    leave_node,         ///< nor waits
    posted,             ///< the origin has opened an exposure epoch for this member
    completed,          ///< everything before it is done: the origin has closed an access epoch towards this member
};

struct Command {
    Act act;
    BuiltinOp op = BuiltinOp::none;
    Basic basic = Basic::none;    ///< of an element that is accumulated
    bool with_data : 1 = false;   ///< behind the command lie `length` bytes, filled up to a multiple of 8
    bool elsewhere : 1 = false;   ///< its data comes in a message of its own
    bool answered : 1 = false;    ///< by what was there before, or by nothing
    bool exclusive : 1 = false;   ///< of a lock
    bool gathered : 1 = false;    ///< answered in one message with others of the same number
    bool last : 1 = false;        ///< of those
    bool waits : 1 = false;       ///< of a node's lock
    std::uint32_t number = 0;     ///< for tags; 0: nothing is said elsewhere, nor answered
    std::uint32_t type = 0;       ///< the elements' at the target; 0: bytes without gaps
    std::uint64_t address = 0;    ///< of the elements' origin, in the target's address space
    std::int64_t count = 0;       ///< elements
    std::uint64_t position = 0;   ///< of the first byte that this is about, in the packed elements
    std::uint64_t bytes = 0;      ///< that this is about
    std::uint32_t length = 0;     ///< of the data behind it
    std::uint32_t element = 0;    ///< bytes of one element that is accumulated, packed
};

struct MessageHead {
    std::uint64_t window;   ///< the context of its communicator
    std::uint32_t number;   ///< of the messages from this process to that one
    std::int32_t origin;    ///< the origin's rank in the window
};

/// Bytes of a message of commands. Eager on every transport as it is set up.
inline constexpr std::size_t message_bytes = 8192;
/// More data than this goes in a message of its own.
inline constexpr std::size_t most_with_command = message_bytes - sizeof(MessageHead) - sizeof(Command);
/// More than this is answered in a message of its own, straight to where it belongs.
inline constexpr std::size_t most_gathered = 4096;
/// Bytes of a piece, where data is not sent or stored from one layout to the other in one go.
inline constexpr std::size_t piece_bytes = 128 << 10;

inline constexpr std::size_t filled_up(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
inline constexpr int tag_of_commands = 0;
inline int tag_of_data(std::uint32_t number) { return static_cast<int>(2 * number + 1); }
inline int tag_of_answer(std::uint32_t number) { return static_cast<int>(2 * number + 2); }

}   // namespace tutti::rma
