// SPDX-License-Identifier: BSD-3-Clause
// A command line on which every option is followed by a whole number.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

struct WholeNumber {
    std::string_view option; // as on the command line: "--rows"
    int &value;
};

// Reads the numbers, each from 1 to `most`. An empty return means: run. Otherwise it is what to print; `failed` says
// whether it is an error or what was asked for (`help`, by --help or -h).
inline std::string read_whole_numbers(int argc, char **argv, const std::string &program, const std::string &help,
                                      int most, const std::vector<WholeNumber> &numbers, bool &failed)
{
    failed = false;
    for (int i = 1; i < argc; i += 2) {
        const std::string word = argv[i], text = i + 1 < argc ? argv[i + 1] : "";
        if (word == "--help" || word == "-h")
            return help;
        const auto number =
            std::find_if(numbers.begin(), numbers.end(), [&](const WholeNumber &one) { return one.option == word; });
        char *end = nullptr;
        const long read = std::strtol(text.c_str(), &end, 10);
        failed = number == numbers.end() || text.empty() || *end || read < 1 || read > most;
        if (failed)
            return program + ": " + word +
                   (number == numbers.end() ? " is no option"
                                            : " needs a whole number from 1 to " + std::to_string(most)) +
                   "; see --help\n";
        number->value = int(read);
    }
    return "";
}
