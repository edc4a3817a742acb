// SPDX-License-Identifier: BSD-3-Clause
// Evaluates formulas by recursive descent, one function per level of precedence.
#include "coll/choice/cost.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::coll {
namespace {

class Formula {
public:
    Formula(std::string_view text, CostNames const& names) : text_(text), rest_(text), names_(names) {}

    double value() {
        double const all = choice();
        if (!next().empty()) wrong();
        return all;
    }

private:
    static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    [[noreturn]] void wrong() const {
        throw std::invalid_argument(join("the formula ", text_, " is wrong at: ", rest_));
    }

    /// Returns the next number, name or other character without consuming it; empty at the end.
    std::string_view next() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        std::size_t length = rest_.empty() ? 0 : 1;
        if (length > 0 && (is_letter(rest_[0]) || is_digit(rest_[0])))
            while (length < rest_.size() && (is_letter(rest_[length]) || is_digit(rest_[length]))) ++length;
        return rest_.substr(0, length);
    }
    /// Consumes `token` if it is next.
    bool accept(std::string_view token) {
        if (next() != token) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) wrong();
    }

    double choice() {
        double const left = sum();
        if (!accept("<")) return left;
        bool const holds = left < sum();
        expect("?");
        double const then = choice();
        expect(":");
        double const otherwise = choice();
        return holds ? then : otherwise;
    }
    double sum() {
        double value = product();
        while (true) {
            if (accept("+")) value += product();
            else if (accept("-")) value -= product();
            else return value;
        }
    }
    double product() {
        double value = operand();
        while (true) {
            if (accept("*")) value *= operand();
            else if (accept("/")) value /= operand();
            else return value;
        }
    }
    double operand() {
        if (accept("(")) {
            double const value = choice();
            expect(")");
            return value;
        }
        std::string_view const word = next();
        if (word.empty() || !(is_letter(word[0]) || is_digit(word[0]))) wrong();
        if (auto const number = topo::parse_bytes(word)) return accept(word), static_cast<double>(*number);
        if (auto const name = names_.find(word); name != names_.end()) return accept(word), name->second;
        return function(word);
    }
    double function(std::string_view name) {
        constexpr std::string_view known[] = {"ceil", "mod"};
        if (std::ranges::find(known, name) == std::end(known)) wrong();
        accept(name);
        expect("(");
        double value = choice();
        if (name == "ceil") value = std::ceil(value);
        else expect(","), value = std::fmod(value, choice());
        expect(")");
        return value;
    }

    std::string_view text_, rest_;
    CostNames const& names_;
};

}   // namespace

CostNames cost_names(Setting const& setting, topo::Hierarchy const& hierarchy, std::size_t slot_bytes,
                     std::size_t bytes) {
    int teams = 1, alone = 0;
    if (hierarchy.levels() > 1) {
        teams = hierarchy.team_count(0);
        for (int rank = 0; rank < hierarchy.size(); ++rank) alone += hierarchy.team(0, rank).members.size() == 1;
    }
    CostNames names{{"p", hierarchy.size()},
                    {"s", static_cast<double>(bytes)},
                    {"m", teams},
                    {"a", alone},
                    {"slot", static_cast<double>(slot_bytes)}};
    for (std::size_t i = 0; i < setting.algorithm->parameters.size(); ++i)
        names[setting.algorithm->parameters[i].name] = static_cast<double>(setting.values[i]);
    return names;
}

double evaluate(std::string_view formula, CostNames const& names) { return Formula(formula, names).value(); }

}   // namespace tutti::coll
