// SPDX-License-Identifier: BSD-3-Clause
// Command lines: a list of options, from which the parser, its error messages and the help are made. Used by the
// applications, tutti-bench and tutti-tune. Needs only the standard library, so each application still builds alone.
#pragma once

#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace apps {

struct Option {
    std::string name, argument;   ///< "--sizes", "FROM:TO"; a switch has no argument
    std::string expects;          ///< the valid arguments, for the error message
    std::string description;
    std::function<bool(std::string const&)> parse;   ///< stores the argument; returns false if it is invalid
};

inline bool read_number(std::string const& text, double least, double most, double& number) {
    char* end = nullptr;
    double const value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value >= least && value <= most)) return false;
    number = value;
    return true;
}

inline bool read_number(std::string const& text, int least, int most, int& number) {
    double value;
    if (!read_number(text, double(least), double(most), value) || value != int(value)) return false;
    number = int(value);
    return true;
}

/// An option whose argument is a number (int or double) from `least` to `most`; `value` holds the default.
template <class Number>
Option number_option(std::string const& name, std::string const& argument, Number& value,
                     std::type_identity_t<Number> least, std::type_identity_t<Number> most,
                     std::string const& description) {
    std::ostringstream expects, meaning;
    expects << (std::is_integral_v<Number> ? "a whole number" : "a number") << " from " << least << " to " << most;
    meaning << description << " (default: " << value << ")";
    return {name, argument, expects.str(), meaning.str(),
            [&value, least, most](std::string const& text) { return read_number(text, least, most, value); }};
}

inline Option switch_option(std::string const& name, bool& value, std::string const& description) {
    return {name, "", "", description, [&value](std::string const&) { return value = true; }};
}

/// Parses the option at words[at], "--name argument" or "--name=argument", and advances `at` past it. Returns an error
/// message, or an empty string. Sets `known` to false and leaves `at` if `options` has no such name.
inline std::string parse_option(std::vector<Option> const& options, std::vector<std::string> const& words,
                                std::size_t& at, bool& known) {
    std::string const& word = words[at];
    const std::size_t equals = word.find('=');
    for (Option const& option : options) {
        if (word.substr(0, equals) != option.name) continue;
        known = true;
        bool const joined = equals != std::string::npos, takes = !option.argument.empty();
        if (joined && !takes) return option.name + " takes no argument";
        if (takes && !joined && at + 1 == words.size()) return option.name + " needs " + option.expects;
        const std::string argument = joined ? word.substr(equals + 1) : takes ? words[at + 1] : "";
        at += takes && !joined ? 2 : 1;
        if (!option.parse(argument)) return option.name + " needs " + option.expects + ", not '" + argument + "'";
        return "";
    }
    known = false;
    return "";
}

/// Returns the options and their descriptions in two columns.
inline std::string help_text(std::vector<Option> const& options) {
    constexpr std::size_t column = 24, width = 110;
    std::string text;
    for (Option const& option : options) {
        const std::string head = "  " + option.name + (option.argument.empty() ? "" : " ") + option.argument;
        text += head +
                (head.size() + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - head.size(), ' '));
        std::istringstream words(option.description);
        std::size_t at = column;
        for (std::string word; words >> word; at += word.size() + 1) {
            if (at + word.size() > width) {
                text += "\n" + std::string(column, ' ');
                at = column;
            } else if (at > column) {
                text += ' ';
            }
            text += word;
        }
        text += "\n";
    }
    return text;
}

/// The command line of a program that takes only options.
struct CommandLine {
    std::string program, introduction;   ///< the introduction and the conclusion enclose the options in the help
    std::vector<Option> options;
    std::string conclusion = "";
    /// Called when all options are parsed. Returns an error message, or an empty string.
    std::function<std::string()> check = [] { return std::string(); };
};

/// Parses the options. Returns an empty string if the program should run; otherwise the text to print, and sets
/// `failed` unless that is the help, requested by --help or -h.
inline std::string parse(int argc, char** argv, CommandLine const& line, bool& failed) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    std::string error;
    failed = false;
    for (std::size_t at = 0; at < words.size() && error.empty();) {
        if (words[at] == "--help" || words[at] == "-h")
            return line.introduction + "\n" + help_text(line.options) + line.conclusion;
        bool known = false;
        error = parse_option(line.options, words, at, known);
        if (!known) error = words[at] + " is not an option";
    }
    if (error.empty()) error = line.check();
    failed = !error.empty();
    return failed ? line.program + ": " + error + "; see --help\n" : "";
}

}   // namespace apps
