// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <cstdlib>
#include <ostream>
#include <sstream>

namespace bench {
namespace {

constexpr std::size_t column = 24, width = 110;

void print_wrapped(std::ostream &out, const std::string &text)
{
    std::istringstream words(text);
    std::size_t at = column;
    for (std::string word; words >> word; at += word.size() + 1) {
        if (at + word.size() > width) {
            out << "\n" << std::string(column, ' ');
            at = column;
        } else if (at > column) {
            out << ' ';
        }
        out << word;
    }
    out << "\n";
}

} // namespace

std::string take_option(const std::vector<Option> &options, const std::vector<std::string> &words, std::size_t &at,
                        bool &known)
{
    const std::string &word = words[at];
    const std::size_t equals = word.find('=');
    for (const Option &option : options) {
        if (word.substr(0, equals) != option.name)
            continue;
        known = true;
        const bool joined = equals != std::string::npos, takes = option.argument[0] != 0;
        if (joined && !takes)
            return std::string(option.name) + " takes no argument";
        if (takes && !joined && at + 1 == words.size())
            return std::string(option.name) + " needs " + option.expects;
        const std::string argument = joined ? word.substr(equals + 1) : takes ? words[at + 1] : "";
        at += takes && !joined ? 2 : 1;
        if (!option.take(argument))
            return std::string(option.name) + " needs " + option.expects + ", not '" + argument + "'";
        return "";
    }
    known = false;
    return "";
}

void print_options(std::ostream &out, const std::vector<Option> &options)
{
    for (const Option &option : options) {
        const std::string head = std::string("  ") + option.name + (option.argument[0] ? " " : "") + option.argument;
        out << head << (head.size() + 2 > column ? "\n" + std::string(column, ' ')
                                                 : std::string(column - head.size(), ' '));
        print_wrapped(out, option.sentence);
    }
}

bool read_number(const std::string &text, double least, double most, double &number)
{
    char *end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value >= least && value <= most))
        return false;
    number = value;
    return true;
}

bool read_number(const std::string &text, int least, int most, int &number)
{
    double value;
    if (!read_number(text, double(least), double(most), value) || value != int(value))
        return false;
    number = int(value);
    return true;
}

} // namespace bench
