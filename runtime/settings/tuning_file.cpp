// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/settings/tuning_file.hpp"

#include <cstdlib>
#include <filesystem>

#include "runtime/base/error.hpp"
#include "topo/files.hpp"

namespace tutti {
namespace {

std::string counted(int n, char const* what) { return join(n, " ", what, n == 1 ? "" : "s"); }

std::string processor_of(topo::Machine const& machine) { return machine.cpu.empty() ? machine.name : machine.cpu; }

/// Returns the processor in the line "# machine: …"; empty if there is none.
std::string_view processor_in(std::string_view text) {
    constexpr std::string_view key = "\n# machine: ";
    std::size_t const at = text.find(key);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + key.size());
    return text.substr(0, text.find_first_of(";\n"));
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

TuningFile load(std::string const& name, bool named, topo::Machine const& machine) {
    TuningFile file{name, {}, {}};
    topo::Result<std::string> read = topo::read_text_file(name, max_tuning_bytes);
    if (!read) {
        file.diagnostic = join(name, " cannot be read as a tuning file: ", read.error());
        return file;
    }
    std::string& text = *read;
    std::string_view const head = first_line(text), kind = tuning_head.substr(0, tuning_head.rfind(' ') + 1);
    std::string_view const measured = processor_in(text);
    if (!head.starts_with(kind))
        file.diagnostic = join(name, ":1: this is not a tuning file: its first line must be '", tuning_head, "'");
    else if (head != tuning_head)
        file.diagnostic =
            join(name, ":1: version ", head.substr(kind.size()), " of the format is not supported, only version ",
                 tuning_head.substr(kind.size()), "; run tutti-tune to create a new file");
    else if (!named && !measured.empty() && measured != processor_of(machine))
        file.diagnostic =
            join(name, " was measured on another machine (", measured, ") and is not used on this one (",
                 processor_of(machine), "); set TUTTI_TUNING=", name, " to use it anyway, or run tutti-tune");
    else file.text = std::move(text);
    return file;
}

}   // namespace

TuningFile find_tuning_file(std::string const& requested, std::vector<std::string> const& locations,
                            topo::Machine const& machine) {
    if (requested == "none") return {};
    for (NamedTable const& table : named_tables())
        if (requested == table.name) return {requested, table.text, {}};
    if (!requested.empty()) return load(requested, true, machine);
    std::error_code ignored;
    for (std::string const& location : locations)
        if (std::filesystem::exists(location, ignored)) return load(location, false, machine);
    return {};
}

std::string user_tuning_path() {
    char const *configuration = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
    if (configuration && *configuration) return join(configuration, "/tutti/tuning");
    return home && *home ? join(home, "/.config/tutti/tuning") : std::string();
}

std::vector<std::string> tuning_locations(std::string const& configuration_from_programs) {
    std::vector<std::string> locations;
    if (std::string user = user_tuning_path(); !user.empty()) locations.push_back(std::move(user));
    std::filesystem::path const programs = topo::program_folder();
    if (!programs.empty())
        locations.push_back((programs / configuration_from_programs / "tutti/tuning").lexically_normal());
    return locations;
}

std::string machine_summary(topo::Machine const& machine) {
    return join(processor_of(machine), "; ", counted(machine.count(topo::Level::socket), "socket"), ", ",
                counted(machine.count(topo::Level::numa), "NUMA node"), ", ", counted(machine.core_count(), "core"));
}

}   // namespace tutti
