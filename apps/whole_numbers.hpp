// SPDX-License-Identifier: BSD-3-Clause
// A command line on which every option is followed by a whole number.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

struct WholeNumber {
    std::string_view option;   ///< as on the command line: "--rows"
    int& value;
};

/// Parses the numbers, each from 1 to `most`. Returns an empty string if the program should run; otherwise the text to
/// print, and sets `failed` unless that is `help`, requested by --help or -h.
inline std::string read_whole_numbers(int argc, char** argv, std::string const& program, std::string const& help,
                                      int most, std::vector<WholeNumber> const& numbers, bool& failed) {
    failed = false;
    for (int i = 1; i < argc; i += 2) {
        const std::string word = argv[i], text = i + 1 < argc ? argv[i + 1] : "";
        if (word == "--help" || word == "-h") return help;
        auto const number =
            std::find_if(numbers.begin(), numbers.end(), [&](WholeNumber const& one) { return one.option == word; });
        char* end = nullptr;
        long const read = std::strtol(text.c_str(), &end, 10);
        failed = number == numbers.end() || text.empty() || *end || read < 1 || read > most;
        if (failed)
            return program + ": " + word +
                   (number == numbers.end() ? " is not an option"
                                            : " needs a whole number from 1 to " + std::to_string(most)) +
                   "; see --help\n";
        number->value = int(read);
    }
    return "";
}
