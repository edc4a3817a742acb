// SPDX-License-Identifier: BSD-3-Clause
// Evaluates formulas by recursive descent, one function per level of precedence.
#include "coll/choice/cost.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "coll/blocks/schedule.hpp"
#include "coll/blocks/tree.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::coll {
namespace {

/// Marks the members of a team that have children in a tree. `position(vrank)`: of member `top` + vrank.
template <class Position>
void mark_parents(topo::TeamMembers const& team, int top, std::vector<bool>& parents, Position position) {
    for (int vrank = 0; vrank < team.size(); ++vrank)
        if (!position(vrank).leaf()) parents[static_cast<std::size_t>(team[(vrank + top) % team.size()])] = true;
}

double inner_ranks(int n, int degree) {
    FramePool frames;
    int inner = 0;
    for (int vrank = 0; vrank < n; ++vrank) inner += !n_ary_tree(frames, vrank, n, degree).leaf();
    return inner;
}

struct Power {
    double power = 1, exponent = 0;
};
Power largest_power(double limit, double k) {
    Power largest;
    for (k = std::max(2.0, k); largest.power * k <= limit; largest.power *= k) ++largest.exponent;
    return largest;
}

class Formula {
public:
    Formula(std::string_view text, CostNames names, CostOfCall const* call, MessageTimes const* messages)
        : text_(text), rest_(text), names_(std::move(names)), call_(call), messages_(messages) {}

    double value() {
        double const all = definitions();
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
    std::string name() {
        std::string_view const word = next();
        if (word.empty() || !is_letter(word[0])) wrong();
        accept(word);
        return std::string(word);
    }

    /// name = a; … b
    double definitions() {
        while (!next().empty() && is_letter(next()[0])) {
            std::string_view const start = rest_;
            std::string const defined = name();
            if (!accept("=")) {
                rest_ = start;
                break;
            }
            double const value = choice();
            expect(";");
            names_[defined] = value;
        }
        return choice();
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
        if (auto const found = names_.find(word); found != names_.end()) return accept(word), found->second;
        return function();
    }

    double function() {
        static constexpr struct {
            std::string_view name;
            std::size_t arguments;
            double (*value)(double const* a);
        } functions[] = {
            {"ceil", 1, [](double const* a) { return std::ceil(a[0]); }},
            {"floor", 1, [](double const* a) { return std::floor(a[0]); }},
            {"mod", 2, [](double const* a) { return std::fmod(a[0], a[1]); }},
            {"min", 2, [](double const* a) { return std::min(a[0], a[1]); }},
            {"max", 2, [](double const* a) { return std::max(a[0], a[1]); }},
            {"power", 2, [](double const* a) { return largest_power(a[0], a[1]).power; }},
            {"log", 2, [](double const* a) { return largest_power(a[0], a[1]).exponent; }},
            {"log2", 1, [](double const* a) { return std::ceil(std::log2(std::max(1.0, a[0]))); }},
            {"inner", 2, [](double const* a) { return inner_ranks(static_cast<int>(a[0]), static_cast<int>(a[1])); }},
        };
        std::string_view const start = rest_;
        std::string const called = name();
        if (accept("(")) {
            if (called == "sum" || called == "doubling") return series(called == "doubling");
            if (called == "teams") return teams();
            if (called == "phases") return phases();
            if (called == "parents" || called == "group_parents") return parents(called == "parents");
            std::vector<double> arguments{choice()};
            while (accept(",")) arguments.push_back(choice());
            expect(")");
            if (called == "staged" && arguments.size() == 1) return staged(arguments[0]);
            if (called == "staged" && arguments.size() == 2) return staged(arguments[0], arguments[1]);
            if (called == "t" && arguments.size() == 1 && messages_)
                return names_["latency"] + arguments[0] * names_["beta"];
            for (auto const& f : functions)
                if (f.name == called && f.arguments == arguments.size()) return f.value(arguments.data());
            for (AlgorithmRow const& row : all_algorithms())
                if (formula_of(row) && join(name_of(row.collective), "_", row.name) == called)
                    return among_ranks(row, arguments);
        }
        rest_ = start;
        wrong();
    }

    double staged(double bytes) const {
        auto const copyable = names_.find("copyable");
        return bytes < 4096 || (copyable != names_.end() && copyable->second == 0) ? 2 * bytes : 0;
    }
    double staged(double bytes, double segment) const {
        if (bytes <= 0 || segment <= 0) return 0;
        return std::floor(bytes / segment) * staged(segment) + staged(std::fmod(bytes, segment));
    }
    char const* formula_of(AlgorithmRow const& row) const { return messages_ ? row.cost.time : row.cost.bytes; }
    /// The cost of another algorithm; arguments: the ranks, and the root if not 0. Its parameters have the values that
    /// the formula gives them, otherwise their defaults.
    double among_ranks(AlgorithmRow const& row, std::vector<double> const& arguments) const {
        CostNames names = names_;
        if (call_)
            for (Parameter const& p : call_->setting.algorithm->parameters) names.erase(p.name);
        for (Parameter const& p : row.parameters) names.emplace(p.name, static_cast<double>(p.default_value));
        names["p"] = arguments[0];
        names["root"] = arguments.size() > 1 ? arguments[1] : 0;
        return Formula(formula_of(row), names, nullptr, messages_).value();
    }

    // Terms are evaluated for several values of a name: `repeat` calls its argument as often as needed, which
    // returns the value of the text up to the closing parenthesis. Names that the term defines end with it.

    template <class Repeat>
    void with_term(Repeat repeat) {
        std::string_view const start = rest_;
        CostNames const outer = names_;
        repeat([&] {
            rest_ = start;
            double const value = definitions();
            if (next() != ")") wrong();
            return value;
        });
        names_ = outer;
        rest_ = start;
        for (int depth = 1; depth > 0; rest_.remove_prefix(1)) {
            if (rest_.empty()) wrong();
            depth += (rest_[0] == '(') - (rest_[0] == ')');
        }
    }

    double series(bool doubling) {
        std::string const counter = name();
        expect(",");
        double const end = choice();
        expect(",");
        if (!(end <= 1e6)) wrong();
        double all = 0;
        with_term([&](auto term) {
            for (double i = doubling ? 1 : 0; i < end; i = doubling ? 2 * i : i + 1) {
                names_[counter] = i;
                all += term();
            }
        });
        return all;
    }

    /// Calls visit(team, level) for each team of the hierarchy, with the values of the parameters on its level.
    template <class Visit>
    void for_each_team(Visit visit) {
        if (!call_) wrong();
        topo::Hierarchy const& tree = call_->hierarchy;
        Setting const& setting = call_->setting;
        for (int level = 0; level < tree.levels(); ++level) {
            for (std::size_t i = 0; i < setting.algorithm->parameters.size(); ++i)
                names_[setting.algorithm->parameters[i].name] = static_cast<double>(setting.values.at(i, level));
            for (int rank = 0; rank < tree.size(); ++rank)
                if (topo::Team const team = tree.team(level, rank); team.members[0] == rank) visit(team, level);
        }
    }

    double teams() {
        double all = 0;
        with_term([&](auto term) {
            int number = 0, last = 0;
            for_each_team([&](topo::Team const& team, int level) {
                number = level == last ? number : 0, last = level;
                names_["i"] = number++;
                names_["n"] = team.members.size();
                bool const is_outermost = level + 1 == call_->hierarchy.levels();
                names_["top"] = is_outermost;
                names_["at"] = is_outermost ? call_->hierarchy.team(level, call_->root).my_index : 0;
                all += term();
            });
        });
        return all;
    }

    double phases() {
        if (!messages_) wrong();
        double all = 0;
        with_term([&](auto term) {
            for (bool between : {false, true}) {
                MessageTimes::Line const& line = between ? messages_->between : messages_->inside;
                names_["n"] = names_[between ? "N" : "c"];
                names_["top"] = between;
                names_["latency"] = line.latency;
                names_["beta"] = line.per_byte;
                all += term();
            }
        });
        return all;
    }

    double parents(bool towards_root) {
        if (!call_) wrong();
        topo::Hierarchy const& tree = call_->hierarchy;
        std::vector<bool> has_children(static_cast<std::size_t>(tree.size()));
        FramePool frames;
        with_term([&](auto term) {
            for_each_team([&](topo::Team const& team, int level) {
                int const n = team.members.size(), k = static_cast<int>(term());
                if (towards_root)
                    mark_parents(team.members, nearest_to(call_->root, tree, level, team), has_children,
                                 [&](int vrank) { return n_ary_tree(frames, vrank, n, k); });
                else
                    mark_parents(team.members, team.leader_index, has_children,
                                 [&](int vrank) { return tree_of_groups(frames, vrank, n, k); });
            });
        });
        return static_cast<double>(std::ranges::count(has_children, true));
    }

    std::string_view text_, rest_;
    CostNames names_;
    CostOfCall const* call_;
    MessageTimes const* messages_;   ///< null: a formula of bytes
};

CostNames names_of(CostOfCall const& call) {
    topo::Hierarchy const& tree = call.hierarchy;
    int teams = 1, alone = 0, smallest = tree.size(), leaders = 0;
    FramePool frames;
    for (int rank = 0; rank < tree.size(); ++rank)
        leaders += position_in_hierarchy(frames, tree, rank, call.root).children.empty() ? 0 : 1;
    if (tree.levels() > 1) {
        teams = tree.team_count(0);
        for (int rank = 0; rank < tree.size(); ++rank) {
            int const members = tree.team(0, rank).members.size();
            alone += members == 1, smallest = std::min(smallest, members);
        }
    }
    CostNames names{{"p", tree.size()},
                    {"s", static_cast<double>(call.bytes)},
                    {"e", static_cast<double>(call.element_bytes)},
                    {"m", teams},
                    {"a", alone},
                    {"l", smallest},
                    {"root", call.root},
                    {"leads", tree.team(0, call.root).is_leader},
                    {"leaders", leaders},
                    {"slot", static_cast<double>(call.slot_bytes)},
                    {"copyable", call.access != AccessPath::staged}};
    if (call.edges)
        names.insert({{"edges", call.edges->edges},
                      {"loops", call.edges->loops},
                      {"senders", call.edges->senders},
                      {"out", call.edges->out}});
    for (std::size_t i = 0; i < call.setting.algorithm->parameters.size(); ++i)
        names[call.setting.algorithm->parameters[i].name] = static_cast<double>(call.setting.values[i]);
    return names;
}

}   // namespace

double CostOfCall::value() const { return evaluate(setting.algorithm->cost.bytes, names_of(*this), this); }

double CostOfCall::time(MessageTimes const& messages, int nodes, int largest) const {
    CostNames names = names_of(*this);
    names["N"] = nodes;
    names["c"] = largest;
    return evaluate_time(setting.algorithm->cost.time, names, messages);
}

double evaluate(std::string_view formula, CostNames const& names, CostOfCall const* call) {
    return Formula(formula, names, call, nullptr).value();
}

double evaluate_time(std::string_view formula, CostNames const& names, MessageTimes const& messages) {
    CostNames all = names;
    MessageTimes::Line const& line = all["N"] > 1 ? messages.between : messages.inside;
    all["alpha"] = messages.alpha;
    all["latency"] = line.latency;
    all["beta"] = line.per_byte;
    return Formula(formula, std::move(all), nullptr, &messages).value();
}

}   // namespace tutti::coll
