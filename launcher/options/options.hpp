// SPDX-License-Identifier: BSD-3-Clause
// The options of mpiexec: one table that the parser, the help and the error messages are made from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/base/words.hpp"

namespace tutti::launcher {

/// Where an option's effect goes: the whole job, and the program that is being described.
struct Target {
    Job& job;
    Program& program;
};

/// What happens to an option that is given: it is done; it is accepted, because what it asks for is so anyway or means
/// nothing here, which --verbose says with its sentence; it is refused, and its sentence is the reason.
enum class Effect { done, none, refused };

using Values = std::span<std::string const>;

/// An option, or a directive: a word in the list that an option such as --output takes.
struct Option {
    std::string_view names;      ///< as help shows them; one and two dashes are accepted for each
    std::string_view argument;   ///< one word per argument that follows; in brackets: only behind =; empty: none
    std::string_view known_to;   ///< a letter for each launcher that has it: see `launchers`
    std::string_view sentence;
    void (*apply)(Target, Values) = nullptr;   ///< null: options.cpp does it, or nothing is done
    Effect effect = Effect::done;
};

/// The launchers whose options are all in the table. `letter` stands for one in Option::known_to.
struct Launcher {
    char letter;
    std::string_view name;
};
inline constexpr Launcher launchers[] = {
    {'S', "MPI standard"}, {'H', "MPICH 4"}, {'O', "Open MPI 4"}, {'P', "Open MPI 5"}};

struct OptionGroup {
    std::string_view title;
    std::span<Option const> options;
};

std::span<OptionGroup const> option_groups();

/// The directives of one option.
struct DirectiveList {
    std::string_view option, separators;   ///< what stands between directives
    std::span<Option const> directives;
};

std::span<DirectiveList const> directive_lists();

/// The list of this option, named with its dashes. There must be one.
DirectiveList const& directives_of(std::string_view option);

/// Applies each directive in `text`. Names are read in any case and may be shortened to what no other name begins with.
/// Throws Complaint.
void apply_directives(Target target, DirectiveList const& list, std::string_view text);

/// The option that is called so, with any dashes; null: none.
Option const* find_option(std::string_view word);

/// The option's sentence as the end of another.
std::string as_clause(Option const& option);

/// Reads the arguments of mpiexec (without its name). Throws Complaint with a sentence that names the nearest option.
Job parse_arguments(std::span<std::string const> arguments);

/// What `mpiexec --help` prints: all options, or about a topic, which is `compatibility` or the name of an option.
/// Throws Complaint for another topic.
std::string help_text(std::string_view topic = {});
bool is_help_topic(std::string_view word);

}   // namespace tutti::launcher
