// SPDX-License-Identifier: BSD-3-Clause
// The parser of tutti-hashtable's command line.
#include "options.hpp"

#include "../whole_numbers.hpp"

namespace hashtable {
namespace {

char const* const help =
    "Usage: mpiexec -n N tutti-hashtable [options]\n\n"
    "A hash table that is distributed over all ranks. Each rank inserts keys by one-sided operations alone: no rank\n"
    "receives a message. The value of a key is the number of its insertions.\n\n"
    "  --insertions N  by each rank (20000)\n"
    "  --buckets N     of each rank; elements whose bucket is occupied go to a chain behind it (8192)\n"
    "  --keys N        number of different keys per rank; each rank inserts any of them (10000)\n\n"
    "Prints insertions and look-ups per second, and the number of elements in chains. Then every rank compares its\n"
    "part of the table with the insertions of all ranks. The exit code is 1 if they differ.\n";

}   // namespace

std::string parse(int argc, char** argv, Options& options, bool& failed) {
    return read_whole_numbers(
        argc, argv, "tutti-hashtable", help, 10000000,
        {{"--insertions", options.insertions}, {"--buckets", options.buckets}, {"--keys", options.keys}}, failed);
}

}   // namespace hashtable
