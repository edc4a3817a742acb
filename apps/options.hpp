// SPDX-License-Identifier: BSD-3-Clause
// Command lines: a list of options, from which the parser, its error messages and the help are made. Used by the
// applications (application.hpp), tutti-bench, tutti-info and tutti-tune; mpiexec has its own parser and uses the
// texts. Needs only the standard library and POSIX, so each application still builds alone. manual.hpp makes the texts
// of larger tools.
#pragma once

#include "../topo/nearest.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace apps {

struct Option {
    std::string name;       ///< "--sizes"; further names after blanks
    std::string argument;   ///< "FROM:TO"; in brackets: it may be omitted ("[=X]": X only after =); a switch has none
    std::string expects;    ///< the valid arguments, for the error message
    std::string description;
    std::function<bool(std::string const&)> parse;   ///< stores the argument; returns false if it is invalid
    std::string summary = "";                        ///< for the short help; empty: the option is not common
};

// Text for people.

/// Returns the number of characters of a text in UTF-8.
inline std::size_t characters(std::string const& text) {
    return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Returns the words of `text` in lines of at most `width` characters, with a line feed at the end. The first line
/// begins at column `indent`; the others are indented to it.
inline std::string wrapped(std::string const& text, std::size_t indent, std::size_t width = text_width()) {
    std::istringstream words(text);
    std::string all;
    std::size_t at = indent;
    for (std::string word; words >> word;) {
        bool const fits = at + 1 + characters(word) <= width;
        if (!all.empty()) all.append(1, fits ? ' ' : '\n').append(fits ? 0 : indent, ' ');
        if (!all.empty()) at = fits ? at + 1 : indent;
        all += word;
        at += characters(word);
    }
    return all + "\n";
}

/// Returns an option's argument as the help prints it after the name.
inline std::string argument_text(std::string const& argument) {
    return argument.empty() || argument.compare(0, 2, "[=") == 0 ? argument : " " + argument;
}

/// Returns `head`, then `description` in the column, which is below `head` if that is too long.
inline std::string help_entry(std::string const& head, std::string const& description, std::size_t column,
                              std::size_t width = text_width()) {
    const std::string front = "  " + wrapped(head, 2, width);
    const std::size_t size = characters(front) - 1;
    bool const below = size + 2 > column;
    return (below ? front : front.substr(0, front.size() - 1)) + std::string(below ? column : column - size, ' ') +
           wrapped(description, column, width);
}

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
                     std::string const& description, std::string const& summary = "") {
    std::ostringstream expects, meaning;
    expects << (std::is_integral_v<Number> ? "a whole number" : "a number") << " from " << least << " to " << most;
    meaning << description << " (default: " << value << ")";
    return {name,
            argument,
            expects.str(),
            meaning.str(),
            [&value, least, most](std::string const& text) { return read_number(text, least, most, value); },
            summary};
}

inline Option switch_option(std::string const& name, bool& value, std::string const& description,
                            std::string const& summary = "") {
    return {name, "", "", description, [&value](std::string const&) { return value = true; }, summary};
}

// The parser, and its error messages.

inline std::vector<std::string> names_of(std::string const& names) {
    std::istringstream words(names);
    std::vector<std::string> all;
    for (std::string name; words >> name;) all.push_back(name);
    return all;
}

/// A name of an option, for hints.
struct OptionName {
    std::string name;
    bool takes_argument;
};

inline std::vector<OptionName> names_of(std::vector<Option> const& options) {
    std::vector<OptionName> all;
    for (Option const& option : options)
        for (std::string const& name : names_of(option.name)) all.push_back({name, !option.argument.empty()});
    return all;
}

inline std::string without_dashes(std::string const& word) {
    return word.substr(std::min({word.find_first_not_of('-'), std::size_t(2), word.size()}));
}

/// Returns the length of the dash of typography with which the word begins, such as an em dash; 0: there is none.
inline std::size_t typographic_dash(std::string const& word) {
    bool const dash = word.compare(0, 2, "\xe2\x80") == 0 && word.size() > 2 && word[2] >= '\x90' && word[2] <= '\x95';
    bool const minus = word.compare(0, 3, "\xe2\x88\x92") == 0, wide = word.compare(0, 3, "\xef\xbc\x8d") == 0;
    return dash || minus || wide ? 3 : 0;
}

/// Returns what the user probably meant by an unknown option: "--sizes", or "-n 2" for "-n2"; else an empty string.
inline std::string intended_option(std::string const& word, std::vector<OptionName> const& names) {
    const std::string bare = without_dashes(word);
    std::vector<std::string> all;
    for (OptionName const& one : names) all.push_back(without_dashes(one.name));
    const std::string near = tutti::topo::nearest(bare, all);
    const std::size_t common =
        std::size_t(std::mismatch(near.begin(), near.end(), bare.begin(), bare.end()).first - near.begin());
    std::string intended;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string rest = bare.substr(0, all[i].size()) == all[i] ? bare.substr(all[i].size()) : "";
        if (rest.empty() || !names[i].takes_argument) continue;
        // -n2, and --bind-to-numa unless another name has more of it.
        bool const number = rest.find_first_not_of("0123456789") == rest.npos;
        bool const joined = rest.size() > 1 && rest[0] == '-' && all[i].size() > 3 && common <= all[i].size() + 1;
        if (number || joined) return names[i].name + " " + (number ? rest : rest.substr(1));
    }
    for (std::size_t i = 0; i < names.size() && intended.empty(); ++i)
        if (all[i] == near && !near.empty()) intended = names[i].name;
    return intended;
}

/// Returns the message about an option that does not exist. It names the nearest one, if one is near.
inline std::string unknown_option(std::string const& word, std::vector<OptionName> const& names) {
    const std::size_t dash = typographic_dash(word);
    const std::string intended = intended_option(word.substr(dash), names);
    if (dash)
        return word + ": this is a dash of typography; write " +
               (intended.empty() ? "hyphens (-) in front of an option" : intended);
    return word + " is not an option" +
           (intended.empty() ? "; --help lists them all" : "; did you mean " + intended + "? (--help lists them all)");
}

/// Parses the option at words[at], "--name argument" or "--name=argument", and advances `at` past it. Returns an error
/// message, which names the option as the user did, or an empty string. Sets `known` to false and leaves `at` if
/// `options` has no such name. An argument in brackets may follow as the next word unless that begins with a hyphen;
/// [TOPIC] may be any word. A function that stores an argument may throw std::invalid_argument.
inline std::string parse_option(std::vector<Option> const& options, std::vector<std::string> const& words,
                                std::size_t& at, bool& known) {
    std::string const& word = words[at];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    for (Option const& option : options) {
        auto const names = names_of(option.name);
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        known = true;
        bool const joined = equals != std::string::npos, takes = !option.argument.empty(),
                   optional = takes && option.argument[0] == '[', followed = at + 1 < words.size();
        if (joined && !takes) return name + " takes no argument";
        if (takes && !joined && !optional && !followed) return name + " needs " + option.expects;
        bool const uses_next = takes && !joined && followed &&
                               (!optional || option.argument == "[TOPIC]" || words[at + 1].compare(0, 1, "-") != 0);
        const std::string argument = joined ? word.substr(equals + 1) : uses_next ? words[at + 1] : "";
        at += uses_next ? 2 : 1;
        if (!option.parse(argument)) return name + " needs " + option.expects + ", not '" + argument + "'";
        return "";
    }
    known = false;
    return "";
}

/// Parses the words, all of which must be options. Throws std::invalid_argument with an error message.
inline void parse_options(std::vector<Option> const& options, std::vector<std::string> const& words) {
    for (std::size_t at = 0; at < words.size();) {
        bool known = false;
        const std::string error = parse_option(options, words, at, known);
        if (!known) throw std::invalid_argument(unknown_option(words[at], names_of(options)));
        if (!error.empty()) throw std::invalid_argument(error);
    }
}

/// Prints "PROGRAM: MESSAGE." on standard error and returns `code`.
inline int print_error(char const* program, std::string const& message, int code) {
    bool const ended = !message.empty() && message.back() == '?';
    std::fprintf(stderr, "%s: %s%s\n", program, message.c_str(), ended ? "" : ".");
    return code;
}

/// The text that the user requests instead of the program's work.
struct Information {
    bool short_help = false, version = false;
    std::optional<std::string> topic = {};   ///< of --help; empty: all

    bool requested() const { return short_help || version || topic; }
};

/// -h, --help and --version.
inline std::vector<Option> information_options(Information& requested) {
    return {{"-h", "", "", "Print the most common options.", [&](auto&) { return requested.short_help = true; }},
            {"--help", "[TOPIC]", "a topic",
             "Print all options, or the help on a topic: an option, or a part of the full help. man is the man page; "
             "bash and zsh are completion scripts for these shells.",
             [&](std::string const& topic) { return requested.topic = topic, true; }},
            switch_option("--version -V", requested.version, "Print the version.")};
}

/// Returns the options and their descriptions in two columns.
inline std::string help_text(std::vector<Option> const& options) {
    constexpr std::size_t column = 24;
    std::string text;
    for (Option const& option : options)
        text += help_entry(option.name + argument_text(option.argument), option.description, column);
    return text;
}

}   // namespace apps
