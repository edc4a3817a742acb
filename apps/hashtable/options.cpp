// SPDX-License-Identifier: BSD-3-Clause
// The options of tutti-hashtable.
#include "options.hpp"

#include "../options.hpp"

namespace hashtable {

std::string parse(int argc, char** argv, Options& o, bool& failed) {
    constexpr int most = 10000000;
    apps::CommandLine const line{
        "tutti-hashtable",
        "Usage: mpiexec -n N tutti-hashtable [options]\n\n"
        "A hash table that is distributed over all ranks. Each rank inserts keys by one-sided operations alone: no\n"
        "rank receives a message. The value of a key is the number of its insertions.\n",
        {
            apps::number_option("--insertions", "N", o.insertions, 1, most, "by each rank"),
            apps::number_option("--buckets", "N", o.buckets, 1, most,
                                "of each rank; elements whose bucket is occupied go to a chain behind it"),
            apps::number_option("--keys", "N", o.keys, 1, most,
                                "number of different keys per rank; each rank inserts any of them"),
        },
        "\nPrints insertions and look-ups per second, and the number of elements in chains. Then every rank compares\n"
        "its part of the table with the insertions of all ranks. The exit code is 1 if they differ.\n"};
    return apps::parse(argc, argv, line, failed);
}

}   // namespace hashtable
