// SPDX-License-Identifier: BSD-3-Clause
// The parser of mpiexec's arguments, which follows the table of options, and the parsers of option values.
#include "launcher/options/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "launcher/base/job.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/placement/rank_file.hpp"
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

std::string nearest_option(std::string_view word) {
    std::vector<std::string_view> names;
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options)
            for (std::string_view name : words_of(option.names)) names.push_back(without_dashes(name));
    std::string dashes(word.substr(0, word.size() - without_dashes(word).size()));
    word.remove_prefix(dashes.size());
    std::string const near = nearest(word, names);
    auto const alike = static_cast<std::size_t>(std::ranges::mismatch(near, word).in1 - near.begin());
    for (std::string_view name : names) {   // --bind-to-numa, unless another name shares a longer prefix
        bool const begins = name.size() > 3 && word.starts_with(name) && word.substr(name.size()).starts_with('-');
        if (begins && word.size() > name.size() + 1 && alike <= name.size() + 1)
            return join(dashes, name, " ", word.substr(name.size() + 1));
    }
    return near.empty() ? near : dashes + near;
}

/// Reads the rank file, rank map or sequence file that options of other launchers name.
void choose_places(Job& job) {
    if (job.span && job.hosts.size() > 1)
        job.notes.push_back(
            "--map-by SPAN: each node is filled before the next; --map-by node deals ranks over all nodes");
    if (job.rank_file_wanted && job.rank_file.empty())
        throw Complaint("--map-by rankfile: which file? Write rankfile:FILE=NAME, or name it with --rankfile");
    if (!job.rank_file.empty()) job.rank_places = read_rank_file(job.rank_file, job.hosts);
    else if (!job.rank_map.empty()) job.rank_places = read_rank_map(job.rank_map, job.hosts);
    else if (job.sequential) job.rank_places = read_sequence(job.sequence_file, job.hosts);
}

class Walk {
public:
    /// `depth`: nesting level of configuration files; 0: the command line.
    Walk(Job& job, std::span<std::string const> arguments, int depth = 0)
        : job_(job), arguments_(arguments), depth_(depth) {}

    void programs() {
        while (at_ < arguments_.size()) {
            Program program;
            options(program);
            command(program);
            keep(std::move(program));
        }
    }

private:
    std::string const& next() const { return arguments_[at_]; }
    bool done() const { return at_ == arguments_.size(); }

    void options(Program& program) {
        while (!done() && next().size() > 1 && next().starts_with('-')) {
            if (next() == "--") return void(++at_);
            option(program);
        }
    }

    void option(Program& program) {
        std::string word = next();
        Option const* found = find_option(word);
        std::vector<std::string> values;
        std::size_t equals = word.find('=');
        if (!found && equals != std::string::npos) {
            found = find_option(std::string_view(word).substr(0, equals));
            if (found && found->argument.empty()) throw Complaint(join(word.substr(0, equals), " takes no value"));
            values.push_back(word.substr(equals + 1));
        }
        if (!found) throw wrong(word.substr(0, equals));
        if (found->effect == Effect::refused)
            throw Complaint(join(word.substr(0, equals), " is not an option of this mpiexec: ", as_clause(*found)));
        ++at_;
        take_values(*found, word, values);
        if (found->apply) found->apply({job_, program}, values);
        else if (found->effect == Effect::none)
            job_.remarks.push_back(join(word.substr(0, equals), " changes nothing: ", as_clause(*found)));
        else read_config(values.at(0));
    }

    static Complaint wrong(std::string const& word) {
        std::string near = nearest_option(word);
        return Complaint(join(word, " is not an option", near.empty() ? "" : "; did you mean " + near + "?",
                              near.empty() ? "; mpiexec --help lists them all" : " (mpiexec --help lists them all)"));
    }

    void take_values(Option const& option, std::string const& word, std::vector<std::string>& values) {
        if (option.argument == "[TOPIC]" && values.empty() && !done() && is_help_topic(next()))
            values.push_back(arguments_[at_++]);
        if (option.argument.starts_with('[')) return;
        std::size_t wanted = words_of(option.argument).size();
        while (values.size() < wanted) {
            if (done()) throw Complaint(join(word, " wants ", option.argument, " behind it"));
            values.push_back(next());
            ++at_;
            std::size_t equals = values[0].find('=');
            if (option.argument == "NAME VALUE" && values.size() == 1 && equals != std::string::npos && equals > 0) {
                values.push_back(values[0].substr(equals + 1));   // -env NAME=VALUE is accepted, too
                values[0].resize(equals);
            }
        }
    }

    void command(Program& program) {
        for (; !done() && next() != ":"; ++at_) program.command.push_back(next());
        if (done()) return;
        if (program.command.empty()) throw Complaint("there is no program before ':'");
        if (++at_ == arguments_.size()) throw Complaint("there is no program behind ':'");
    }

    void keep(Program program) {
        if (!program.command.empty()) return job_.programs.push_back(std::move(program));
        if (program.ranks > 0) pending_ranks_ = program.ranks;   // for --show-hierarchy without a program
        if (job_.programs.empty() && (pending_ranks_ > 0 || job_.show_hierarchy))
            job_.programs.push_back(std::move(program));
    }

    void read_config(std::string const& file) {
        constexpr int most_nested = 10;
        if (depth_ == most_nested)
            throw Complaint(join("more than ", most_nested, " configuration files name each other in a row, down to ",
                                 file, "; most likely one of them names itself"));
        std::vector<std::string> const arguments = config_arguments(named_file("the configuration file ", file));
        Walk(job_, arguments, depth_ + 1).programs();
    }

    Job& job_;
    std::span<std::string const> arguments_;
    int depth_;
    std::size_t at_ = 0;
    int pending_ranks_ = 0;
};

void leave_out_this_node(std::vector<Host>& hosts) {
    std::string const own = host_name();
    std::erase_if(hosts, [&](Host const& host) { return means_this_node(host.name, own); });
}

void sort_hosts(std::vector<Host>& hosts, HostOrder order) {
    auto const slots = [](Host const& host) { return std::max(1, host.slots); };
    if (order == HostOrder::ascending) std::ranges::stable_sort(hosts, std::less{}, slots);
    if (order == HostOrder::descending) std::ranges::stable_sort(hosts, std::greater{}, slots);
}

/// Hosts named before the first program apply to all programs, hosts named before another program to that one.
void choose_hosts(Job& job) {
    if (!job.programs.empty()) job.hosts.swap(job.programs.front().hosts);
    if (job.only_here) {
        job.hosts.clear();
        for (Program& program : job.programs) program.hosts.clear();
        return;
    }
    if (!job.hosts.empty()) return;
    auto const variable = [](char const* name) { return std::getenv(name); };
    job.hosts = hosts_of_resource_manager(variable, job.resource_manager);
    if (job.hosts.empty() && !job.default_host_file.empty())
        return add_host_file(job.hosts, job.default_host_file, job.notes);
    if (job.agent.empty() && !job.hosts.empty()) job.agent = agent_of_resource_manager(variable);
}

void settle_hosts(Job& job) {
    choose_hosts(job);
    choose_places(job);
    sort_hosts(job.hosts, job.order);
    if (!job.never_here) return;
    leave_out_this_node(job.hosts);
    for (Program& program : job.programs) leave_out_this_node(program.hosts);
    if (job.hosts.empty())
        throw Complaint("--nolocal: no rank may run on this node, and no other one is named (-hosts or -f)");
}

void settle_ranks(Job& job) {
    for (Program& p : job.programs) {
        if (p.ranks != 0) continue;
        bool const alone = job.programs.size() == 1;
        if (alone && !job.rank_places.empty()) p.ranks = static_cast<int>(job.rank_places.size());
        else p.ranks = alone ? slots_of_all(job.hosts, job.slots_per_node(), host_name()) : 1;
    }
    auto const all = static_cast<std::size_t>(job.ranks());
    if (job.sequential && all < job.rank_places.size()) job.rank_places.resize(all);
}

void settle_windows(Job& job) {
    if (job.debugger && job.windows.empty()) job.windows.push_back(-1);
    for (int rank : job.windows)
        if (rank >= job.ranks()) throw Complaint(join("--xterm ", rank, ": the ranks are 0 to ", job.ranks() - 1));
}

void apply_environment(Job& job) {
    char const* timeout = std::getenv("MPIEXEC_TIMEOUT");
    if (!timeout || job.timeout.count() != 0 || job.programs.empty()) return;
    std::string const value = timeout;
    find_option("-timeout")->apply({job, job.programs.front()}, {&value, 1});
}

void check(Job const& job) {
    if (job.show_help || job.show_version || !job.explain.empty() || job.show_hierarchy) return;
    if (job.cpus_in_order && job.cpus.empty())
        throw Complaint("an ordered list of processing units is wanted, and --cpu-set or --map-by pe-list names none");
    bool nothing = job.programs.empty() || job.programs.front().command.empty();
    if (nothing) throw Complaint("there is no program to start; mpiexec --help shows how to name one");
    if (job.output_from >= job.ranks())
        throw Complaint(join("-output-from ", job.output_from, ": the ranks are 0 to ", job.ranks() - 1));
    if (job.input.kind == InputTo::Kind::one && job.input.rank >= job.ranks())
        throw Complaint(join("-stdin ", job.input.rank, ": the ranks are 0 to ", job.ranks() - 1));
}

}   // namespace

Option const* find_option(std::string_view word) {
    for (OptionGroup const& group : option_groups())
        for (Option const& option : group.options)
            for (std::string_view name : words_of(option.names))
                if (without_dashes(name) == without_dashes(word)) return &option;
    return nullptr;
}

std::string as_clause(Option const& option) {
    std::string clause(option.sentence.substr(0, option.sentence.size() - 1));
    bool const word = clause.size() > 1 && std::islower(static_cast<unsigned char>(clause[1]));
    if (word) clause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(clause[0])));
    return clause;
}

Job parse_arguments(std::span<std::string const> arguments) {
    Job job;
    Walk(job, arguments).programs();
    if (job.show_help) return job;
    settle_hosts(job);
    settle_ranks(job);
    settle_windows(job);
    apply_environment(job);
    check(job);
    return job;
}

// Parsers of option values, and their error messages.

int number(std::string_view what, std::string const& text, int least) {
    constexpr int most = 1'000'000;
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        throw Complaint(join(what, " must be a whole number, at least ", least, " and at most ", most, ", not '",
                             shown(text), "'"));
    return value;
}

std::chrono::milliseconds seconds(std::string_view what, std::string const& text, double least, int most) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= least && value <= most))
        throw Complaint(
            join(what, " must be a number of seconds from ", least, " to ", most, ", not '", shown(text), "'"));
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

bool boolean(std::string_view what, std::string const& text) {
    bool value = false;
    std::string const word = topo::lower(text);
    if (word == "t" || word == "f") return word == "t";
    if (parse_setting(word, value)) return value;
    throw Complaint(join(what, " must be true or false, not '", shown(text), "'"));
}

std::chrono::milliseconds clock_time(std::string_view what, std::string const& text) {
    constexpr int units[] = {1, 60, 3600, 86'400};   // seconds per unit, from the end of the text
    std::vector<std::string> const parts = topo::split_words(text, ":");
    if (parts.size() == 1) return seconds(what, text, 0);
    long sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const part = topo::whole_number(parts[parts.size() - 1 - i]);
        if (i >= std::size(units) || !part)
            throw Complaint(join(what, " must be seconds or days:hours:minutes:seconds, not '", shown(text), "'"));
        sum += long{*part} * units[i];
    }
    return seconds(what, std::to_string(sum), 0);
}

std::optional<bool> yes_no_auto(std::string_view what, std::string const& text) {
    bool value = false;
    if (text == "auto") return {};
    if (parse_setting(text, value)) return value;
    throw Complaint(join(what, " must be yes, no or auto, not '", text, "'"));
}

bool one_of(std::string_view what, std::string const& text, std::string_view yes, std::string_view no) {
    if (text == yes || text == no) return text == yes;
    throw Complaint(join(what, " must be ", yes, " or ", no, ", not '", shown(text), "'"));
}

}   // namespace tutti::launcher
