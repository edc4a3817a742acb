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

/// What happens to an option that is given: it is done; it is accepted, and its sentence says that it has no effect;
/// it is refused, and its sentence says what does the same.
enum class Effect { done, none, refused };

struct Option {
    std::string_view names;      ///< as help shows them; one and two dashes are accepted for each
    std::string_view argument;   ///< one word per argument that follows; empty: none
    std::string_view sentence;
    void (*apply)(Target, std::span<std::string const> values);   ///< null: options.cpp does it, or nothing is done
    Effect effect = Effect::done;
};

struct OptionGroup {
    std::string_view title;
    std::span<Option const> options;
};

std::span<OptionGroup const> option_groups();

/// Reads the arguments of mpiexec (without its name). Throws Complaint with a sentence that names the nearest option.
Job parse_arguments(std::span<std::string const> arguments);

/// What `mpiexec --help` prints.
std::string help_text();

}   // namespace tutti::launcher
