// SPDX-License-Identifier: BSD-3-Clause
// The parser of tutti-hashtable's command line.
#include "options.hpp"

#include "../whole_numbers.hpp"

namespace hashtable {
namespace {

char const* const help =
    "Usage: mpiexec -n N tutti-hashtable [options]\n\n"
    "A hash table that is dealt out to all ranks. Each rank inserts keys into it, wherever they belong, by one-sided\n"
    "operations alone: nobody receives anything. A key's value is how often it has been inserted.\n\n"
    "  --insertions N  by each rank (20000)\n"
    "  --buckets N     of each rank; what does not find its bucket free goes to a chain behind it (8192)\n"
    "  --keys N        so many different keys for each rank there is; each rank inserts any of them (10000)\n\n"
    "It prints insertions and look-ups per second, and how many elements are in chains. Every rank then compares its\n"
    "part of the table with what all ranks have inserted. The exit code is 1 where they differ.\n";

}   // namespace

std::string parse(int argc, char** argv, Options& options, bool& failed) {
    return read_whole_numbers(
        argc, argv, "tutti-hashtable", help, 10000000,
        {{"--insertions", options.insertions}, {"--buckets", options.buckets}, {"--keys", options.keys}}, failed);
}

}   // namespace hashtable
