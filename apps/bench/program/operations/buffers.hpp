// SPDX-License-Identifier: BSD-3-Clause
// A rank's buffers, which lie where the caller says, and the arguments made from them.
#pragma once

#include "operation.hpp"

#include <span>
#include <string>
#include <vector>

namespace bench {

// How many numbers an operation's buffers hold on one rank.
struct Room {
    Room(const Operation &operation, std::size_t bytes, MPI_Comm comm);
    int ranks, peers, count;
    std::size_t send, receive;
};

struct Buffers {
    Buffers(const Room &room, double *send_memory, double *receive_memory, MPI_Comm comm);
    Buffers(const Buffers &) = delete; // `call` points into it
    Buffers &operator=(const Buffers &) = delete;

    // Numbers that depend on the iteration to send, and none that could be a result where results shall come.
    void alter(int iteration);

    // In a loop of calls that ends as alter(number of the last one) began it: one number in each line, so that what the
    // caches hold of the other numbers is of no use.
    void touch(int iteration, bool last);

    // The first wrong number, in words; all numbers, or only some of a large buffer. Of an operation that delivers a
    // communicator, collective where `all` is: what is wrong with one.
    std::string wrong(const Operation &operation, int iteration, bool all) const;

    Call call{};

private:
    std::span<double> send_, receive_;
    std::vector<int> counts_, places_, byte_places_;
    std::vector<MPI_Datatype> types_;
};

} // namespace bench
