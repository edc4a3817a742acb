// SPDX-License-Identifier: BSD-3-Clause
// --map-by and --bind-to. topo parses the unit; this file parses Open MPI's qualifiers, which apply to the whole job,
// and the policies that name a file or a list.
#include <algorithm>

#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "topo/text.hpp"

namespace tutti::launcher::groups {
namespace {

constexpr Option map_by_qualifiers[] = {
    {"oversubscribe", "", "OP", "More ranks than cores are allowed.",
     [](Target t, Values) { t.job.no_oversubscribe = false; }},
    {"nooversubscribe", "", "OP", "The same as --nooversubscribe.",
     [](Target t, Values) { t.job.no_oversubscribe = true; }},
    {"nolocal", "", "OP", "The same as --nolocal.", [](Target t, Values) { t.job.exclude_local = true; }},
    {"file", "NAME", "P", "The file of rankfile or seq.", [](Target t, Values v) { t.job.map_file = v[0]; }},
    {"ordered", "", "P", "Bind each rank to one processing unit of pe-list, in the order of the list.",
     [](Target t, Values) { t.job.cpus_in_order = true; }},
    {"span", "", "OP",
     "Distribute the ranks over the units of all nodes: done on one node; on several nodes, a message reports that "
     "each node is filled before the next.",
     [](Target t, Values) { t.job.span = true; }},
    {"hwtcpus", "", "P", "Hardware threads are always used for placement.", nullptr, Effect::ignored},
    {"corecpus", "", "P", "PE always counts cores.", nullptr, Effect::ignored},
    {"inherit", "", "P", "Ranks cannot start other ranks.", nullptr, Effect::ignored},
    {"noinherit", "", "P", "Ranks cannot start other ranks.", nullptr, Effect::ignored},
    {"device", "NAME", "P", "Ranks cannot be placed near a device; --cpu-set selects the processing units near it.",
     nullptr, Effect::refused},
};

constexpr Option bind_to_qualifiers[] = {
    {"overload-allowed", "", "OP", "Ranks may share the cores to which they are bound.", nullptr, Effect::ignored},
    {"no-overload", "", "P", "Ranks share the cores to which they are bound only if there are too few cores.", nullptr,
     Effect::ignored},
    {"if-supported", "", "OP", "Ranks are bound if the system supports it.", nullptr, Effect::ignored},
    {"ordered", "", "O", "With cpu-list: bind each rank to one processing unit, in the order of the list.",
     [](Target t, Values) { t.job.cpus_in_order = true; }},
    {"report", "", "P", "The same as --report-bindings.", [](Target t, Values) { t.job.report_bindings = true; }},
};

/// Splits a policy and its qualifiers: "ppr:2:socket:PE=2,SPAN" → ppr 2 socket PE=2 SPAN. A list of processing units
/// keeps its commas.
std::vector<std::string> split_policy(std::string_view text) {
    std::vector<std::string> words;
    for (std::string const& part : topo::split_words(text, ":"))
        if (topo::lower(part).starts_with("pe-list=")) words.push_back(part);
        else
            for (std::string& word : topo::split_words(part, ",")) words.push_back(std::move(word));
    return words;
}

bool is_count(std::string const& word) {
    return word.empty() || (word[0] >= '0' && word[0] <= '9') || topo::lower(word).starts_with("pe=");
}

/// Applies the qualifiers among words[first…]. Returns the others, counts and PE=N, each preceded by a colon.
std::string apply_qualifiers(Target target, std::string_view option, std::vector<std::string> const& words,
                             std::size_t first) {
    std::string rest;
    for (std::size_t i = first; i < words.size(); ++i) {
        if (is_count(words[i])) rest += ":" + words[i];
        else apply_directives(target, directives_of(option), words[i]);
    }
    return rest;
}

/// Applies pe-list=LIST: the job uses only these processing units.
void restrict_cpus(Target target, std::string const& list) {
    target.job.cpus = parse_number_list("--map-by pe-list", list);
    target.job.map = {};
}

}   // namespace

std::span<Option const> map_qualifiers() { return map_by_qualifiers; }
std::span<Option const> bind_qualifiers() { return bind_to_qualifiers; }

void map_by(Target target, std::string_view text) {
    Job& job = target.job;
    std::vector<std::string> const words = split_policy(text);
    std::string const policy = topo::lower(words[0]);
    constexpr std::string_view list = "pe-list=";
    bool const is_ppr = policy == "ppr";
    std::size_t const first = is_ppr ? std::min<std::size_t>(3, words.size()) : 1;
    if (policy == "dist")
        throw LaunchError(
            "--map-by dist: ranks cannot be placed near a device; --cpu-set selects the processing units near it");
    job.map_file.clear();
    std::string const counts = apply_qualifiers(target, "--map-by", words, first);
    bool const wants_file = policy == "rankfile" || policy == "seq";
    if (!job.map_file.empty() && !wants_file)
        throw LaunchError("--map-by: FILE is for rankfile and seq, such as rankfile:FILE=ranks.txt");
    if (policy == "rankfile") {
        job.rank_file_required = true;
        if (!job.map_file.empty()) job.rank_file = job.map_file;
    } else if (policy == "seq") {
        job.sequential = true;
        job.sequence_file = job.map_file;
    } else if (policy.starts_with(list)) {
        restrict_cpus(target, words[0].substr(list.size()));
    } else if (policy.empty() && words.size() > 1) {
        int const cores = value_or_throw(topo::parse_map_by("slot" + counts)).cores;
        if (cores > 0) job.map.cores = cores;
    } else {
        job.map = value_or_throw(topo::parse_map_by(
            is_ppr && words.size() >= 3 ? join("ppr:", words[1], ":", words[2], counts) : words[0] + counts));
    }
}

void bind_to(Target target, std::string_view text) {
    Job& job = target.job;
    std::string const all = topo::lower(topo::trimmed(text));
    if (all.starts_with("user:")) return void(job.bind = value_or_throw(topo::parse_bind_to(all)));
    std::vector<std::string> const words = split_policy(text);
    std::string const policy = topo::lower(words[0]);
    for (std::string_view device : {"pci", "gpu", "ib", "en", "eth", "hfi"})   // optionally followed by a number
        if (policy.starts_with(device) && policy.find_first_not_of("0123456789", device.size()) == std::string::npos)
            throw LaunchError(join("--bind-to ", printable(words[0]),
                                   ": ranks cannot be bound to the cores near a device; ",
                                   "--cpu-set selects the processing units near it"));
    std::string const counts = apply_qualifiers(target, "--bind-to", words, 1);
    if (policy == "cpu-list") {
        if (!job.cpus_in_order) job.bind = topo::BindTo{.kind = topo::BindTo::Kind::none, .user = {}};
        return;
    }
    if (policy.empty() && words.size() > 1) return;
    job.bind = value_or_throw(topo::parse_bind_to(words[0] + counts));
}

}   // namespace tutti::launcher::groups
