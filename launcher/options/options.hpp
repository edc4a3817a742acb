// SPDX-License-Identifier: BSD-3-Clause
// The options of mpiexec: one table, from which the parser, the help and the error messages are generated.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/manual.hpp"
#include "launcher/base/job.hpp"
#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"
#include "topo/result.hpp"

namespace tutti::launcher {

/// The objects that an option modifies: the whole job, and the program that is being described.
struct Target {
    Job& job;
    Program& program;
};

/// The effect of an option: it is applied (done); it is accepted without effect, because its request holds anyway
/// or means nothing here, and --verbose prints its description (none); or it is refused, and its description is the
/// reason.
enum class Effect { applied, ignored, refused };

/// The arguments of an option.
using Values = std::span<std::string const>;

/// An option, or a directive: an element of the list that an option such as --output takes.
struct Option {
    std::string_view names;          ///< as help prints them; each is accepted with one and with two dashes
    std::string_view argument;       ///< one name per argument that follows; in brackets: only after `=`; empty: none;
                                     ///< parts separated by bars are words, capitals are placeholders (completion)
    std::string_view supported_by;   ///< one letter for each launcher that has it: see `launchers`
    std::string_view description;    ///< for --help and messages
    void (*apply)(Target, Values) = nullptr;   ///< null: options.cpp handles it, or there is nothing to do
    Effect effect = Effect::applied;
    std::string_view summary = {};   ///< for the short help; empty: not in it
};

/// The launchers whose options are all in the table, with their letters in Option::supported_by.
struct Launcher {
    char letter;
    std::string_view name;
};
inline constexpr Launcher launchers[] = {
    {'S', "MPI standard"}, {'H', "MPICH 4"}, {'O', "Open MPI 4"}, {'P', "Open MPI 5"}};

struct OptionGroup {
    std::string_view topic, title;   ///< `topic`: for --help
    std::span<Option const> options;
};

/// Returns all options, by group.
std::span<OptionGroup const> option_groups();

/// The directives of one option.
struct DirectiveList {
    std::string_view option, separators;   ///< `separators`: characters between directives
    std::span<Option const> directives;
};

std::span<DirectiveList const> directive_lists();

/// Returns the directives of this option, which is named with its dashes and must have some.
DirectiveList const& directives_of(std::string_view option);

/// Applies each directive in `text`. Names are case-insensitive and may be shortened to an unambiguous prefix. Throws
/// LaunchError.
void apply_directives(Target target, DirectiveList const& list, std::string_view text);

/// Returns the option of this name, with any number of dashes, or null.
Option const* find_option(std::string_view word);

/// Returns the option's description as a clause that ends a message.
std::string description_clause(Option const& option);

/// Parses the arguments of mpiexec (without its name). Throws LaunchError with a message that names the nearest option.
Job parse_arguments(std::span<std::string const> arguments);

/// Returns a message that begins with an option's first name with the name that the user gave: -n and -timeout may be
/// -c and MPIEXEC_TIMEOUT.
std::string with_given_name(Job const& job, std::string const& message);

/// The description of mpiexec: help, man page and completion are made from it (apps/manual.hpp).
apps::Manual manual();
/// Returns what `mpiexec --help` prints: all options, or one topic. Throws LaunchError if there is no such topic.
std::string help_text(std::string const& topic = {});

// Parsers of option values. Each throws LaunchError, naming the option (`what`), the value and the valid values.

/// A whole number from `least` to 1,000,000.
int parse_number(std::string_view what, std::string const& text, int least);
/// Seconds, possibly with a fraction, from `least` to `most`.
std::chrono::milliseconds parse_seconds(std::string_view what, std::string const& text, double least,
                                        int most = 1'000'000'000);
/// The elements of a list separated by commas.
std::vector<std::string> split_list(std::string_view text);
/// yes, no, true, false, t, f, 1, 0 and similar words.
bool parse_boolean(std::string_view what, std::string const& text);
/// Seconds, or [[days:]hours:]minutes:seconds.
std::chrono::milliseconds parse_clock_time(std::string_view what, std::string const& text);
/// Returns nullopt for `auto`.
std::optional<bool> parse_yes_no_auto(std::string_view what, std::string const& text);
/// Returns true if `text` is `yes` and false if it is `no`. Throws LaunchError for all other texts.
bool parse_choice(std::string_view what, std::string const& text, std::string_view yes, std::string_view no);

}   // namespace tutti::launcher

// The groups of the table of options. Each file of this folder defines some groups, with the functions that apply
// their options.

namespace tutti::launcher::groups {

std::span<Option const> programs();
std::span<Option const> environment();
std::span<Option const> debuggers();
std::span<Option const> termination();
std::span<Option const> placement();
std::span<Option const> nodes();
std::span<Option const> streams();
std::span<Option const> ignored();   ///< accepted without effect
std::span<Option const> refused();

std::span<Option const> output_directives();
std::span<Option const> display_directives();
std::span<Option const> runtime_directives();
std::span<Option const> map_qualifiers();
std::span<Option const> bind_qualifiers();

/// Apply --map-by and --bind-to with their qualifiers.
void map_by(Target target, std::string_view text);
void bind_to(Target target, std::string_view text);

/// Returns the value of a result. Throws LaunchError with its error, without the final full stop.
template <class T>
T value_or_throw(topo::Result<T> const& result) {
    if (!result) throw LaunchError(result.error().substr(0, result.error().find_last_not_of('.') + 1));
    return *result;
}

}   // namespace tutti::launcher::groups
