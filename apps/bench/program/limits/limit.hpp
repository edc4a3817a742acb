// SPDX-License-Identifier: BSD-3-Clause
// The limit of an operation: the fastest of some kernels written by hand for it over memory that all ranks share. They
// know beforehand what a library has to find out: where everybody's buffers are, and that all can be reached.
//   direct.cpp           one copy, from the sender's buffer to the receiver's: each byte is loaded and stored as often
//                        as the operation must, by the receiver or by all ranks together. They wait for each other
//                        twice: until the buffers may be touched, and until nobody touches them any more.
//   through_channels.cpp copied in and out, through lines or slots between the buffers: no sender waits for a receiver
//                        that is less than a ring behind.
//   one_sided.cpp        loads, stores and atomic operations of the origin alone, in the target's window.
#pragma once

#include "../measure/shared_page.hpp"
#include "../operations/operation.hpp"
#include "channels.hpp"
#include "traffic.hpp"

#include <string>
#include <vector>

namespace bench {

struct LimitCall {
    const Call &call;
    const std::vector<const double *> &sends; // of all ranks
    const std::vector<double *> &receives, &windows;
    SharedPage &page;
    Traffic traffic;
    Channels *channels;                           // of a kernel that copies in and out
    std::vector<const double *> &operands;        // room for one of each rank, so that no kernel allocates
    std::vector<double *> &results;
};

struct LimitKernel {
    std::string name; // as JSON has it
    void (*run)(const LimitCall &);
    Traffic traffic = Traffic::ahead;
    bool through_channels = false;
    Channels::Layout layout = Channels::Layout::lines;
};

// From this many bytes on nothing is faster than one copy by all ranks together.
inline constexpr std::size_t most_through_channels = 16 << 10;

// What may be the fastest for the blocking operation of this name; empty where no kernel has been written for it.
std::vector<LimitKernel> limit_kernels(const std::string &operation, std::size_t bytes);

// Their parts, each in its file; null where the kernel has nothing for the operation.
using Kernel = void (*)(const LimitCall &);
Kernel kernel_by_all(const std::string &operation);
Kernel kernel_by_receiver(const std::string &operation);
Kernel kernel_through_channels(const std::string &operation);
// All of a one-sided operation's; empty where it is none, or what it moves is another operation's.
std::vector<LimitKernel> one_sided_kernels(const std::string &operation, std::size_t bytes);

} // namespace bench
