// SPDX-License-Identifier: BSD-3-Clause
// Lists of directives such as --output tag,timestamp: finding each in its table and applying it.
#include <algorithm>

#include "launcher/allocation/hosts.hpp"
#include "launcher/options/groups.hpp"
#include "topo/base/words.hpp"

namespace tutti::launcher {
namespace {

std::vector<std::string> names_of(Option const& directive) { return topo::split_words(directive.names, " "); }

Complaint unknown(DirectiveList const& list, std::string const& word, std::vector<std::string> const& candidates) {
    std::string all;
    for (Option const& directive : list.directives)
        for (std::string const& name : names_of(directive))
            if (candidates.empty() || std::ranges::find(candidates, name) != candidates.end())
                all += (all.empty() ? "" : ", ") + name;
    return Complaint(
        join(list.option, ": '", shown(word), candidates.empty() ? "' is unknown; the words are " : "' may be ", all));
}

Option const& find_directive(DirectiveList const& list, std::string const& word) {
    std::string const wanted = topo::lower(word);
    Option const* found = nullptr;
    std::vector<std::string> candidates;
    for (Option const& directive : list.directives)
        for (std::string const& name : names_of(directive)) {
            if (name == wanted) return directive;
            if (wanted.empty() || !name.starts_with(wanted)) continue;
            if (found != &directive) candidates.push_back(name);
            found = &directive;
        }
    if (candidates.size() != 1) throw unknown(list, word, candidates);
    return *found;
}

void apply_one(Target target, DirectiveList const& list, std::string const& text) {
    std::size_t const equals = text.find('=');
    std::string const word = text.substr(0, equals);
    Option const& directive = find_directive(list, word);
    std::string const name = join(list.option, " ", word);
    if (directive.effect == Effect::refused)
        throw Complaint(join(name, " is not possible here: ", as_clause(directive)));
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(text.substr(equals + 1));
    if (directive.argument.empty() && !values.empty()) throw Complaint(join(name, " takes no value"));
    bool const optional = directive.argument.empty() || directive.argument.starts_with('[');
    if (!optional && (values.empty() || values[0].empty())) throw Complaint(join(name, " wants =", directive.argument));
    if (directive.apply) directive.apply(target, values);
    else target.job.remarks.push_back(join(name, " changes nothing: ", as_clause(directive)));
}

}   // namespace

std::span<DirectiveList const> directive_lists() {
    static DirectiveList const lists[] = {{"--output", ",:", groups::output_directives()},
                                          {"--display", ",:", groups::display_directives()},
                                          {"--runtime-options", ",", groups::runtime_directives()},
                                          {"--map-by", "", groups::map_qualifiers()},
                                          {"--bind-to", "", groups::bind_qualifiers()}};
    return lists;
}

DirectiveList const& directives_of(std::string_view option) {
    return *std::ranges::find(directive_lists(), option, &DirectiveList::option);
}

void apply_directives(Target target, DirectiveList const& list, std::string_view text) {
    for (std::string const& word : topo::split_words(text, list.separators)) apply_one(target, list, word);
}

}   // namespace tutti::launcher
