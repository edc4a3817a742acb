// SPDX-License-Identifier: BSD-3-Clause
// A rank's buffers, which lie where the caller says, and the arguments made from them.
#pragma once

#include "operation.hpp"

#include <span>
#include <string>
#include <vector>

namespace bench {

// How many numbers an operation's buffers hold on one rank, of `operations` one-sided ones in each call.
struct Room {
    Room(const Operation &operation, std::size_t bytes, int operations, MPI_Comm comm);
    const Operation &operation;
    int ranks, peers, count;
    std::size_t send, receive, window;
};

struct Buffers {
    // `one_sided.own` has room for room.window numbers.
    Buffers(const Room &room, double *send_memory, double *receive_memory, const OneSided &one_sided, MPI_Comm comm);
    Buffers(const Buffers &) = delete; // `call` points into it
    Buffers &operator=(const Buffers &) = delete;

    // Numbers that depend on the iteration to send, and none that could be a result where results shall come.
    void alter(int iteration);

    // In a loop of calls that ends as alter(number of the last one) began it: one number in each line, so that what the
    // caches hold of the other numbers is of no use. Not of one-sided operations: the target does not know when it may.
    void touch(int iteration, bool last);

    // The first wrong number, in words; all numbers, or only some of a large buffer. Of an operation that delivers a
    // communicator, collective where `all` is: what is wrong with one.
    std::string wrong(int iteration, bool all) const;

    Call call{};

private:
    using Expected = double (*)(const Call &call, std::size_t index, int iteration);
    double kept(double number) const; // as the buffers hold it
    double held(double kept) const;   // the number that they hold so
    std::string first_wrong(std::span<const double> numbers, Expected expected, int iteration, bool all) const;
    void synchronize() const; // loads and stores of the window with what other ranks do there

    const Operation &operation_;
    std::span<double> send_, receive_, window_;
    std::vector<int> counts_, places_, byte_places_;
    std::vector<MPI_Datatype> types_;
};

} // namespace bench
