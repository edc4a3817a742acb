// SPDX-License-Identifier: BSD-3-Clause
// The parser of mpiexec's arguments, which follows the table of options, and the parsers of option values.
#include "launcher/options/options.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "launcher/base/job.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/start/commands.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/setting_text.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        std::size_t blank = std::min(text.find(' '), text.size());
        if (blank > 0) words.push_back(text.substr(0, blank));
        text.remove_prefix(std::min(blank + 1, text.size()));
    }
    return words;
}

std::string_view without_dashes(std::string_view word) {
    for (int i = 0; i < 2 && word.starts_with('-'); ++i) word.remove_prefix(1);
    return word;
}

LaunchError unknown_option(std::string const& word) {
    std::vector<apps::OptionName> names;
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options)
            for (std::string_view name : words_of(option.names))
                names.push_back({std::string(name), !option.argument.empty()});
    return LaunchError(apps::unknown_option(word, names));
}

/// Reads the rank file, rank map or sequence file that options of other launchers name.
void read_rank_places(Job& job) {
    if (job.span && job.hosts.size() > 1)
        job.notes.push_back(
            "--map-by SPAN: each node is filled before the next; --map-by node distributes ranks over all nodes");
    if (job.rank_file_required && job.rank_file.empty())
        throw LaunchError("--map-by rankfile needs a file: write rankfile:FILE=NAME, or name it with --rankfile");
    if (!job.rank_file.empty()) job.rank_file_entries = read_rank_file(job.rank_file, job.hosts);
    else if (!job.rank_map.empty()) job.rank_file_entries = read_rank_map(job.rank_map, job.hosts);
    else if (job.sequential) job.rank_file_entries = read_sequence(job.sequence_file, job.hosts);
}

class ArgumentParser {
public:
    /// `depth`: nesting level of configuration files; 0: the command line.
    ArgumentParser(Job& job, std::span<std::string const> arguments, int depth = 0)
        : job_(job), arguments_(arguments), depth_(depth) {}

    void parse_programs() {
        while (at_ < arguments_.size()) {
            Program program;
            parse_options(program);
            parse_command(program);
            add_program(std::move(program));
        }
    }

private:
    std::string const& next() const { return arguments_[at_]; }
    bool done() const { return at_ == arguments_.size(); }

    void parse_options(Program& program) {
        while (!done() && next().size() > 1 && next().starts_with('-')) {
            if (next() == "--") return void(++at_);
            parse_option(program);
        }
        if (!done() && apps::typographic_dash(next()) > 0) throw unknown_option(next());
    }

    void parse_option(Program& program) {
        std::string word = next();
        Option const* found = find_option(word);
        std::vector<std::string> values;
        std::size_t equals = word.find('=');
        if (!found && equals != std::string::npos) {
            found = find_option(std::string_view(word).substr(0, equals));
            if (found && found->argument.empty()) throw LaunchError(join(word.substr(0, equals), " takes no value"));
            values.push_back(word.substr(equals + 1));
        }
        if (!found) throw unknown_option(word.substr(0, equals));
        if (found->effect == Effect::refused)
            throw LaunchError(
                join(word.substr(0, equals), " is not an option of this mpiexec: ", description_clause(*found)));
        ++at_;
        read_values(*found, word, values);
        job_.given_names[std::string(words_of(found->names)[0])] = word.substr(0, equals);
        if (found->apply) found->apply({job_, program}, values);
        else if (found->effect == Effect::ignored)
            job_.verbose_notes.push_back(join(word.substr(0, equals), " has no effect: ", description_clause(*found)));
        else read_config(values.at(0));
    }

    void read_values(Option const& option, std::string const& word, std::vector<std::string>& values) {
        if (option.argument == "[TOPIC]" && values.empty() && !done()) values.push_back(arguments_[at_++]);
        if (option.argument.starts_with('[')) return check_omitted_value(option, word, values);
        std::size_t wanted = words_of(option.argument).size();
        while (values.size() < wanted) {
            if (done()) throw LaunchError(join(word, " needs ", option.argument, " after it"));
            if (values.empty() && next().starts_with('-') && find_option(next()))
                throw LaunchError(join(word, " needs ", option.argument, " after it, but the option ", next(),
                                       " follows; write ", word, "=", next(), " if that is the value"));
            values.push_back(next());
            ++at_;
            std::size_t equals = values[0].find('=');
            if (option.argument == "NAME VALUE" && values.size() == 1 && equals != std::string::npos && equals > 0) {
                values.push_back(values[0].substr(equals + 1));   // -env NAME=VALUE is accepted, too
                values[0].resize(equals);
            }
        }
        bool const is_path = option.argument == "FILE" || option.argument == "FOLDER";
        if (is_path && values[0].empty()) throw LaunchError(join(word, " needs ", option.argument, ", not ''"));
    }

    /// --fwd-environment false: the next word would be the program.
    void check_omitted_value(Option const& option, std::string const& word, Values values) const {
        bool value = false;
        if (option.argument == "[BOOL]" && values.empty() && !done() && parse_setting(next(), value))
            throw LaunchError(join(word, " takes its value after =; write ", word, "=", next()));
    }

    void parse_command(Program& program) {
        for (; !done() && next() != ":"; ++at_) program.command.push_back(next());
        if (done()) return;
        if (program.command.empty()) throw LaunchError("there is no program before ':'");
        if (++at_ == arguments_.size()) throw LaunchError("there is no program after ':'");
    }

    void add_program(Program program) {
        if (!program.command.empty()) return job_.programs.push_back(std::move(program));
        if (program.ranks > 0) pending_ranks_ = program.ranks;   // for --show-hierarchy without a program
        if (job_.programs.empty() && (pending_ranks_ > 0 || job_.show_hierarchy))
            job_.programs.push_back(std::move(program));
    }

    void read_config(std::string const& file) {
        constexpr int max_nesting = 10;
        if (depth_ == max_nesting)
            throw LaunchError(join("configuration files are nested more than ", max_nesting, " deep, down to ", file,
                                   "; probably one of them includes itself"));
        std::vector<std::string> const arguments =
            parse_config_arguments(read_user_file("the configuration file ", file), file);
        ArgumentParser(job_, arguments, depth_ + 1).parse_programs();
    }

    Job& job_;
    std::span<std::string const> arguments_;
    int depth_;
    std::size_t at_ = 0;
    int pending_ranks_ = 0;
};

void remove_this_node(std::vector<Host>& hosts) {
    std::string const own = host_name();
    std::erase_if(hosts, [&](Host const& host) { return is_this_node(host.name, own); });
}

void sort_hosts(std::vector<Host>& hosts, HostOrder order) {
    auto const slots = [](Host const& host) { return std::max(1, host.slots); };
    if (order == HostOrder::ascending) std::ranges::stable_sort(hosts, std::less{}, slots);
    if (order == HostOrder::descending) std::ranges::stable_sort(hosts, std::greater{}, slots);
}

char const* environment_text(char const* name) { return std::getenv(name); }

/// Returns true if every host that options name is among these, by the same name, or is this node.
bool are_all_among(Job const& job, std::vector<Host> const& known) {
    std::string const own = host_name();
    auto const is_known = [&](Host const& host) {
        return is_this_node(host.name, own) || std::ranges::find(known, host.name, &Host::name) != known.end();
    };
    return std::ranges::all_of(job.hosts, is_known) && std::ranges::all_of(job.programs, [&](Program const& program) {
               return std::ranges::all_of(program.hosts, is_known);
           });
}

/// Sets the hosts if options name none. Returns the resource manager's agent if it can reach all of them, otherwise an
/// empty text.
std::string choose_hosts(Job& job) {
    if (!job.hosts.empty()) {
        job.hosts_may_be_starting = std::ranges::any_of(
            job.host_files, [](std::string const& file) { return is_host_file_of_variables(environment_text, file); });
    } else if (job.resource_manager.empty()) {
        job.hosts = hosts_of_variables(environment_text, job.notes);
        job.hosts_may_be_starting = !job.hosts.empty();
    }
    if (!job.hosts.empty()) {
        if (!job.agent.empty()) return {};
        ManagedHosts managed;
        try {
            managed = hosts_of_resource_manager(environment_text, job.resource_manager);
        } catch (LaunchError const&) {}   // its list of hosts is not needed
        return are_all_among(job, managed.hosts) ? managed.agent : "";
    }
    ManagedHosts managed = hosts_of_resource_manager(environment_text, job.resource_manager);
    job.hosts = std::move(managed.hosts);
    if (!job.hosts.empty()) return are_all_among(job, job.hosts) ? managed.agent : "";
    if (!job.default_host_file.empty()) add_host_file(job.hosts, job.default_host_file, job.notes);
    return {};
}

/// Hosts named before the first program apply to all programs, hosts named before another program to that one. The
/// command of a resource manager takes precedence over variables of other launchers, which may be left of a module.
void choose_hosts_and_agent(Job& job) {
    if (!job.programs.empty()) job.hosts.swap(job.programs.front().hosts);
    if (job.local_only) {
        job.hosts.clear();
        for (Program& program : job.programs) program.hosts.clear();
        return;
    }
    std::string const managed = choose_hosts(job);
    if (job.agent.empty()) job.agent = managed;
    bool const has_hosts = !job.hosts.empty() || std::ranges::any_of(job.programs, [](Program const& program) {
        return !program.hosts.empty();
    });
    if (job.agent.empty() && has_hosts) job.agent = agent_of_variables(environment_text, job.notes);
}

void resolve_hosts(Job& job) {
    choose_hosts_and_agent(job);
    read_rank_places(job);
    sort_hosts(job.hosts, job.order);
    if (!job.exclude_local) return;
    remove_this_node(job.hosts);
    for (Program& program : job.programs) remove_this_node(program.hosts);
    if (job.hosts.empty())
        throw LaunchError("--nolocal: this node is excluded, and no other node is named (-hosts or -f)");
}

void resolve_rank_counts(Job& job) {
    for (Program& p : job.programs) {
        if (p.ranks != 0) continue;
        bool const alone = job.programs.size() == 1;
        if (alone && !job.rank_file_entries.empty()) p.ranks = static_cast<int>(job.rank_file_entries.size());
        else p.ranks = alone ? total_slots(job.hosts, job.slots_per_node(), host_name()) : 1;
    }
    auto const all = static_cast<std::size_t>(job.ranks());
    if (job.sequential && all < job.rank_file_entries.size()) job.rank_file_entries.resize(all);
}

void resolve_windows(Job& job) {
    if (job.debugger && job.windows.empty()) job.windows.push_back(-1);
    for (int rank : job.windows)
        if (rank >= job.ranks()) throw LaunchError(join("--xterm ", rank, ": the ranks are 0 to ", job.ranks() - 1));
}

void apply_environment(Job& job) {
    char const* timeout = std::getenv("MPIEXEC_TIMEOUT");
    if (!timeout || job.timeout.count() != 0 || job.programs.empty()) return;
    std::string const value = timeout;
    job.given_names["-timeout"] = "MPIEXEC_TIMEOUT";
    find_option("-timeout")->apply({job, job.programs.front()}, {&value, 1});
}

void check_job(Job& job) {
    if (job.show_help || job.show_version || job.explain || job.show_hierarchy) return;
    if (job.cpus_in_order && job.cpus.empty())
        throw LaunchError("ORDERED needs a list of processing units; give one with --cpu-set or --map-by pe-list");
    bool nothing = job.programs.empty() || job.programs.front().command.empty();
    if (nothing) throw LaunchError("there is no program to start; mpiexec -h shows how to name one");
    if (job.output_from >= job.ranks())
        throw LaunchError(join("-output-from ", job.output_from, ": the ranks are 0 to ", job.ranks() - 1));
    if (job.input.kind == InputTarget::Kind::one && job.input.rank >= job.ranks())
        throw LaunchError(join("-stdin ", job.input.rank, ": the ranks are 0 to ", job.ranks() - 1));
    if (job.given_names.contains("--report-events") && !job.traced())
        job.notes.push_back("--report-events has no effect without --report or --trace");
}

}   // namespace

Option const* find_option(std::string_view word) {
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options)
            for (std::string_view name : words_of(option.names))
                if (without_dashes(name) == without_dashes(word)) return &option;
    return nullptr;
}

std::string description_clause(Option const& option) {
    std::string clause(option.description.substr(0, option.description.size() - 1));
    bool const word = clause.size() > 1 && std::islower(static_cast<unsigned char>(clause[1]));
    if (word) clause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(clause[0])));
    return clause;
}

Job parse_arguments(std::span<std::string const> arguments) {
    Job job;
    try {
        ArgumentParser(job, arguments).parse_programs();
        if (job.show_help) return job;
        resolve_hosts(job);
        resolve_rank_counts(job);
        resolve_windows(job);
        apply_environment(job);
        check_job(job);
    } catch (LaunchError const& error) { throw LaunchError(with_given_name(job, error.what()), error.exit_code); }
    return job;
}

std::string with_given_name(Job const& job, std::string const& message) {
    std::string const name = message.substr(0, message.find_first_of(" :="));
    auto const given = job.given_names.find(name);
    return given == job.given_names.end() ? message : given->second + message.substr(name.size());
}

// Parsers of option values, and their error messages.

int parse_number(std::string_view what, std::string const& text, int least) {
    constexpr int most = 1'000'000;
    auto const value = topo::parse_number(text, least, most);
    if (!value)
        throw LaunchError(join(what, " must be a whole number, at least ", least, " and at most ", most, ", not '",
                               printable(text), "'"));
    return *value;
}

std::chrono::milliseconds parse_seconds(std::string_view what, std::string const& text, double least, int most) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= least && value <= most))
        throw LaunchError(
            join(what, " must be a number of seconds from ", least, " to ", most, ", not '", printable(text), "'"));
    return std::chrono::milliseconds(static_cast<long long>(value * 1000));
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) words.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

bool parse_boolean(std::string_view what, std::string const& text) {
    bool value = false;
    std::string const word = topo::lower(text);
    if (word == "t" || word == "f") return word == "t";
    if (parse_setting(word, value)) return value;
    throw LaunchError(join(what, " must be true or false, not '", printable(text), "'"));
}

std::chrono::milliseconds parse_clock_time(std::string_view what, std::string const& text) {
    constexpr int units[] = {1, 60, 3600, 86'400};   // seconds per unit, from the end of the text
    std::vector<std::string> const parts = topo::split_words(text, ":");
    if (parts.size() == 1) return parse_seconds(what, text, 0);
    long sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const part = topo::whole_number(parts[parts.size() - 1 - i]);
        if (i >= std::size(units) || !part)
            throw LaunchError(
                join(what, " must be seconds or days:hours:minutes:seconds, not '", printable(text), "'"));
        sum += long{*part} * units[i];
    }
    return parse_seconds(what, std::to_string(sum), 0);
}

std::optional<bool> parse_yes_no_auto(std::string_view what, std::string const& text) {
    bool value = false;
    if (text == "auto") return {};
    if (parse_setting(text, value)) return value;
    throw LaunchError(join(what, " must be yes, no or auto, not '", text, "'"));
}

bool parse_choice(std::string_view what, std::string const& text, std::string_view yes, std::string_view no) {
    if (text == yes || text == no) return text == yes;
    throw LaunchError(join(what, " must be ", yes, " or ", no, ", not '", printable(text), "'"));
}

// The table is our own because both MPICH and Open MPI have long options with one dash (-genv, -bind-to), which CLI11
// and getopt do not support. The parser, the help and the compatibility list all use it.
std::span<OptionGroup const> option_groups() {
    static OptionGroup const all[] = {
        {"programs", "Programs", groups::programs()},
        {"placement", "Where ranks run", groups::placement()},
        {"nodes", "Several nodes", groups::nodes()},
        {"environment", "Environment of the ranks", groups::environment()},
        {"output", "Input and output", groups::streams()},
        {"debugging", "Debuggers", groups::debuggers()},
        {"ending", "End, and help", groups::termination()},
        {"", "Options of other launchers that are accepted without effect", groups::ignored()},
        {"", "Options of other launchers that are refused, with the reason", groups::refused()},
    };
    return all;
}

}   // namespace tutti::launcher
