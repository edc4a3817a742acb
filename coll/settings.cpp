// SPDX-License-Identifier: BSD-3-Clause
// Algorithms and their parameters as text: what users write into TUTTI_COLL, into an info key, and into tuning files.
#include <charconv>

#include "coll/choose.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {
namespace {

AlgorithmRow const* find_algorithm(Collective collective, std::string_view name) {
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective && a.name == name) return &a;
    return nullptr;
}

template <class List, class Name>
std::string joined(List const& list, Name name) {
    std::string all;
    for (auto const& entry : list) all += (all.empty() ? "" : ", ") + std::string(name(entry));
    return all;
}

std::string names_of_collectives() {
    std::string all;
    for (int c = 0; c < collectives; ++c) all += (c ? ", " : "") + std::string(name_of(static_cast<Collective>(c)));
    return all;
}

std::string names_of_algorithms(Collective collective) {
    std::vector<char const*> names;
    for (AlgorithmRow const& a : all_algorithms())
        if (a.collective == collective) names.push_back(a.name);
    return joined(names, [](char const* name) { return name; });
}

/// Cuts `text` at the first of `ends`; what is behind it stays in `text`.
std::string_view cut(std::string_view& text, std::string_view ends) {
    std::size_t end = text.find_first_of(ends);
    std::string_view head = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return head;
}

/// The place of `word` in "one|packed|apart"; false when it is not there.
bool find_word(std::string_view words, std::string_view word, std::size_t& place) {
    for (place = 0; !words.empty(); ++place)
        if (cut(words, "|") == word) return true;
    return false;
}

/// One parameter while it is read: where it is kept and where complaints go.
struct Reading {
    Setting& setting;
    std::size_t number;
    std::string_view text;     ///< behind the =

    Parameter const& parameter() const { return setting.algorithm->parameters[number]; }
    /// What is wrong; empty when it has been taken.
    std::string take() {
        switch (parameter().kind) {
        case ParameterKind::per_level: return take_per_level();
        case ParameterKind::word: return take_word();
        case ParameterKind::hierarchy: return take_levels();
        default: return take_number();
        }
    }

private:
    static constexpr char size_expected[] = "a size above 0 such as 16K must follow";

    std::string take_number() {
        std::size_t value = 0;
        if (!parse_bytes(text, value) || value == 0)
            return parameter().kind == ParameterKind::number ? "a number above 0 must follow" : size_expected;
        setting.values.set(number, value);
        return {};
    }
    std::string take_per_level() {
        std::string_view rest = text;
        for (int level = 0; level < max_levels && (level == 0 || !rest.empty()); ++level) {
            std::size_t value = 0;
            if (!parse_bytes(cut(rest, "+"), value) || value == 0)
                return "sizes above 0 must follow, one for each level from the innermost on, such as 16K+64K";
            setting.values.set(number, value, level);
        }
        return rest.empty() ? std::string() : join("there are at most ", max_levels, " levels");
    }
    std::string take_word() {
        std::size_t place = 0;
        if (!find_word(parameter().words, text, place)) return join("one of ", parameter().words, " must follow");
        setting.values.set(number, place);
        return {};
    }
    std::string take_levels() {
        auto levels = topo::parse_hierarchy(text);
        if (!levels) return levels.error();
        setting.has_levels = true;
        setting.levels = *levels;
        return {};
    }
};

void take_parameter(std::string_view word, Setting& setting, std::string_view origin,
                    std::vector<std::string>& complaints) {
    std::string_view value = word, name = cut(value, "=");
    AlgorithmRow const& a = *setting.algorithm;
    for (std::size_t i = 0; i < a.parameters.size(); ++i) {
        if (name != a.parameters[i].name) continue;
        std::string const wrong = Reading{setting, i, value}.take();
        if (!wrong.empty()) complaints.push_back(join(origin, ": ", word, ": ", wrong));
        return;
    }
    std::string const known = joined(a.parameters, [](Parameter const& p) { return p.name; });
    complaints.push_back(join(origin, ": ", name_of(a.collective), " ", a.name, " has no parameter ", name,
                              known.empty() ? "" : "; it has " + known));
}

}  // namespace

bool parse_bytes(std::string_view text, std::size_t& bytes) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{}) return false;
    std::string_view const unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    int const shift = unit.empty() ? 0 : unit == "K" || unit == "k" ? 10 : unit == "M" || unit == "m" ? 20 : -1;
    if (shift < 0 || bytes > (~std::size_t{0} >> shift)) return false;
    bytes <<= shift;
    return true;
}

bool find_collective(std::string_view name, Collective& collective) {
    for (int c = 0; c < collectives; ++c)
        if (name == name_of(static_cast<Collective>(c))) return collective = static_cast<Collective>(c), true;
    return false;
}

Setting defaults(AlgorithmRow const& a) {
    Setting s;
    s.algorithm = &a;
    for (std::size_t i = 0; i < a.parameters.size(); ++i) s.values.set(i, a.parameters[i].fallback);
    return s;
}

Setting parse_setting(Collective collective, std::string_view text, std::string_view origin,
                      std::vector<std::string>& complaints) {
    std::string_view const name = cut(text, ":,");
    AlgorithmRow const* algorithm = find_algorithm(collective, name);
    if (!algorithm) {
        complaints.push_back(join(origin, ": ", name_of(collective), " has no algorithm ", name, "; it has ",
                                  names_of_algorithms(collective)));
        return {};
    }
    Setting setting = defaults(*algorithm);
    while (!text.empty()) take_parameter(cut(text, ":,"), setting, origin, complaints);
    return setting;
}

void Settings::take(Collective collective, std::string_view text, std::string_view origin,
                    std::vector<std::string>& complaints) {
    if (text.empty()) return;
    Setting const setting = parse_setting(collective, text, origin, complaints);
    if (setting.algorithm) of[static_cast<std::size_t>(collective)] = setting;
}

void Settings::take(std::string_view text, std::string_view origin, std::vector<std::string>& complaints) {
    Setting* last = nullptr;
    while (!text.empty()) {
        std::string_view const word = cut(text, ",");
        std::string_view rest = word, head = cut(rest, "=");
        Collective collective;
        if (word.empty()) continue;
        if (find_collective(head, collective)) {
            Setting const setting = parse_setting(collective, rest, origin, complaints);
            last = setting.algorithm ? &(of[static_cast<std::size_t>(collective)] = setting) : nullptr;
        } else if (last) {
            take_parameter(word, *last, origin, complaints);
        } else {
            complaints.push_back(join(origin, ": ", head, " is not a collective; these are: ", names_of_collectives()));
        }
    }
}

}  // namespace tutti::coll
