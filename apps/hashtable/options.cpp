// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <cstdlib>

namespace hashtable {
namespace {

const char *const help =
    "Usage: mpiexec -n N tutti-hashtable [options]\n\n"
    "A hash table that is dealt out to all ranks. Each rank inserts keys into it, wherever they belong, by one-sided\n"
    "operations alone: nobody receives anything. A key's value is how often it has been inserted.\n\n"
    "  --insertions N  by each rank (20000)\n"
    "  --buckets N     of each rank; what does not find its bucket free goes to a chain behind it (8192)\n"
    "  --keys N        so many different keys for each rank there is; each rank inserts any of them (10000)\n\n"
    "It prints insertions and look-ups per second, and how many elements are in chains. Every rank then compares its\n"
    "part of the table with what all ranks have inserted. The exit code is 1 where they differ.\n";

} // namespace

std::string parse(int argc, char **argv, Options &options, bool &failed)
{
    failed = false;
    for (int i = 1; i < argc; i += 2) {
        const std::string word = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (word == "--help" || word == "-h")
            return help;
        int *number = word == "--insertions" ? &options.insertions
                      : word == "--buckets"  ? &options.buckets
                      : word == "--keys"     ? &options.keys
                                             : nullptr;
        char *end = nullptr;
        const long read = std::strtol(value.c_str(), &end, 10);
        failed = !number || value.empty() || *end || read < 1 || read > 10000000;
        if (failed)
            return "tutti-hashtable: " + word +
                   (number ? " needs a whole number from 1 to 10000000" : " is no option") + "; see --help\n";
        *number = int(read);
    }
    return "";
}

} // namespace hashtable
