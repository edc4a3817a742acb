// SPDX-License-Identifier: BSD-3-Clause
// The description of a command-line tool, and the texts that are made from it: the short and the full help, the help on
// a topic, the man page, and completion for bash and zsh.
#pragma once

#include "options.hpp"

#include <string>
#include <vector>

namespace apps {

/// An option, or a term such as an exit code, with its description.
struct Entry {
    std::string names;      ///< of an option, separated by blanks; or the term
    std::string argument;   ///< as in Option; parts separated by bars are words, capitals are placeholders
    std::string description;
    std::string summary = "";        ///< for the short help; empty: not in it
    std::vector<Entry> parts = {};   ///< parts of the argument, described on request and in the man page
};

Entry entry_of(Option const& option);
std::vector<Entry> entries_of(std::vector<Option> const& options);

/// A part of the help, which is also a topic. In a text, an empty line ends a paragraph, and lines that begin with four
/// blanks are printed as they are.
struct Section {
    /// The terms of operands, and their topic, are words that may follow the options. A reference is in the man page,
    /// but not in the full help; what is on request is only a topic.
    enum class Kind { options, operands, terms, reference, on_request };
    std::string topic;   ///< "exit-codes"
    std::string title;   ///< "Exit status"
    std::string text;    ///< precedes the entries
    std::vector<Entry> entries = {};
    Kind kind = Kind::terms;
};

struct Example {
    std::string command, description;
};

/// The words that may follow the options.
enum class Operands { none, words, program };

struct Manual {
    std::string name;
    std::string purpose;              ///< "starts the ranks of an MPI program", which follows the name
    std::vector<std::string> usage;   ///< one line each
    std::string description;          ///< as the text of a section
    std::vector<Example> examples;    ///< the first four are in the short help
    std::vector<Section> sections;
    std::string see_also;                    ///< pages of the manual, separated by commas
    std::vector<std::string> aliases = {};   ///< further names of the program
    Operands operands = Operands::none;
};

/// Returns "mpiexec of Tutti 0.1.0" and a line end.
std::string version_text(std::string const& program);

/// Returns the version, the short help or help_on(), whichever is requested; the version if all are.
std::string information_text(Manual const& manual, Information const& requested);

/// One screen: usage, the common options, examples, and where to find more.
std::string short_help(Manual const& manual);

/// Returns the full help if `topic` is empty; the help on an option, a section or a term; or, for `man`, `bash` and
/// `zsh`, the man page and the completion scripts. Throws std::invalid_argument with a message that names the nearest
/// topic, or lists all topics.
std::string help_on(Manual const& manual, std::string const& topic);

/// Returns `text` with its paragraphs, which empty lines separate, in lines of text_width(). Lines that begin with four
/// blanks stay as they are.
std::string wrapped_paragraphs(std::string const& text);

std::string man_page(Manual const& manual);
std::string bash_completion(Manual const& manual);
std::string zsh_completion(Manual const& manual);

/// Returns the name of the program and its further names.
std::string all_names(Manual const& manual, std::string const& separator);

/// Returns the topics: the sections, and the generated texts.
std::vector<std::string> topics_of(Manual const& manual);

/// Returns `text` with each name of a guide ("guides/checking.md") preceded by `folder`; without the names in
/// parentheses if `folder` is empty.
std::string with_documents(std::string text, std::string const& folder);

}   // namespace apps
