// SPDX-License-Identifier: BSD-3-Clause
// What one may choose on the measuring program's command line.
#pragma once

#include "../operations/operation.hpp"
#include "options.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

constexpr int every_root = -1, every_rank = -1;

struct Settings {
    std::vector<std::string> operations;         // and groups of them; empty: the blocking or the nonblocking ones
    std::size_t smallest = 8, largest = 1 << 20; // bytes; sizes double in between
    int iterations = 1000;
    int warmup = 20;
    double seconds = 1.0;        // at most, per line of the table
    int root = every_root;
    bool root_by_root = false;   // every rank, one after the other instead of in turn
    std::vector<std::string> hints; // "key=value" for MPI_Comm_dup_with_info: one more series of measurements each
    int blocks = 0;              // in which series and roots alternate; 0: one where there is one, else ten
    bool csv = false;
    std::string json;            // a file; empty: none
    bool overlap = false;        // with a computation
    int tests = 0;               // calls of MPI_Test in the computation
    double length = 1;           // of the computation, in times of the communication
    int computes = every_rank;   // who computes; the others start the operation and wait for it
    bool limit = false;          // measure the kernels of the same memory traffic too
    bool loop = false;           // measure calls back to back too
    Flavor window = Flavor::create;
    Sync sync = Sync::flush;
    int per_sync = 1;            // one-sided operations between two synchronisations
    bool check = true;
    bool cached = false;         // leave the buffers as they are between iterations
    bool help = false;
};

std::vector<Option> options_of(Settings &settings);

// As the command line has them.
std::string name_of(Flavor flavor);
std::string name_of(Sync sync);

// Reads the command line's words. The return is a complaint, or empty.
std::string parse(const std::vector<std::string> &words, Settings &settings);

// Takes the word as an operation's or a group's name. The return is a complaint, or empty.
std::string take_operation(const std::string &word, Settings &settings);

// What cannot be measured together, as a complaint, or empty.
std::string check(const Settings &settings);

// What is to be measured, in the order in which operation.hpp has it: `names` and what is in groups of that name; where
// there are none, the default group.
std::vector<const Operation *> chosen_operations(const std::vector<std::string> &names, const Settings &settings);

} // namespace bench
