// SPDX-License-Identifier: BSD-3-Clause
// The command line as a list of records, from which help, parsing and complaints follow.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

struct Option {
    const char *name, *argument; // "--sizes", "FROM:TO"; without an argument it is a switch
    const char *expects;         // what the argument must be, for the complaint
    const char *sentence;
    std::function<bool(const std::string &)> take; // false: not such an argument
};

// Takes the option at words[at], "--name argument" or "--name=argument", and moves `at` behind it. The return is a
// complaint, or empty; `known` is false where `options` has no such name, and then nothing has moved.
std::string take_option(const std::vector<Option> &options, const std::vector<std::string> &words, std::size_t &at,
                        bool &known);

void print_options(std::ostream &out, const std::vector<Option> &options);

bool read_number(const std::string &text, double least, double most, double &number);
bool read_number(const std::string &text, int least, int most, int &number);

} // namespace bench
