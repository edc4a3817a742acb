// SPDX-License-Identifier: BSD-3-Clause
// A case is one call of one algorithm by all ranks. Each rank makes its arguments, passes them to an executor that runs
// the algorithm, and compares all of its memory with a plain computation.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <sstream>

#include "coll/blocks/reducer.hpp"
#include "coll/choice/choose.hpp"
#include "tests/coll/world/kinds.hpp"

namespace tutti::coll::test {

enum class Form { equal, counts, types };   ///< the plain form of a movement, its v form, its w form

struct Case {
    AlgorithmRow const* algorithm;
    std::size_t bytes;
    int kind = 0, op = 0, root = 0;
    bool in_place = false;
    Form form = Form::equal;
    bool small_parameters = false;   ///< blocks and limits that make pipelines run through many steps
    unsigned seed = 0;
    int first_group_size = 0;   ///< between two groups: where the second one begins
};

/// The algorithm's defaults, or small values that differ by level; keywords and numbers in turn.
inline Values values_of(Case const& c) {
    Values values;
    for (std::size_t i = 0; i < c.algorithm->parameters.size(); ++i) {
        Parameter const& p = c.algorithm->parameters[i];
        values.set(i, p.default_value);
        if (p.kind == ParameterKind::keyword) {
            std::string_view const words = p.keywords;
            values.set(i, c.seed % static_cast<std::size_t>(1 + std::count(words.begin(), words.end(), '|')));
        }
        if (!c.small_parameters) continue;
        if (p.kind == ParameterKind::bytes || p.kind == ParameterKind::fragment) values.set(i, 320 * (i + 1));
        if (p.kind == ParameterKind::number) values.set(i, 1 + c.seed % 5);
        for (int level = 0; p.kind == ParameterKind::numbers && level < max_levels; ++level)
            values.set(i, 1 + (static_cast<unsigned>(level) + c.seed) % 4, level);
        for (int level = 0; p.kind == ParameterKind::per_level && level < max_levels; ++level)
            values.set(i, 320 * (i + 1) + 256 * ((static_cast<unsigned>(level) + c.seed) % 3), level);
    }
    return values;
}

/// The properties that all ranks of one world share.
struct Suite {
    Suite(topo::Hierarchy const& tree, std::size_t slot, bool across = false)
        : ranks(tree.size()), levels(tree.levels()), consecutive(tree.consecutive()), several_nodes(across),
          slot_bytes(slot) {}

    int const ranks, levels;
    bool const consecutive, several_nodes;
    std::size_t const slot_bytes;
    std::vector<Kind> kinds = make_kinds();
    std::vector<Operator> operators = make_operators();
    std::vector<Case> cases;
    std::mutex mutex;
    std::vector<std::string> failures;
    std::atomic<std::size_t> at{0};   ///< the case that rank 0 has reached

    std::int64_t count_of(Case const& c) const {
        std::int64_t const size = kinds[static_cast<std::size_t>(c.kind)].type->size();
        return size == 0 ? static_cast<std::int64_t>(c.bytes / 8)
                         : static_cast<std::int64_t>((c.bytes + static_cast<std::size_t>(size) - 1) /
                                                     static_cast<std::size_t>(size));
    }
    Kind const& kind(Case const& c) const { return kinds[static_cast<std::size_t>(c.kind)]; }
    Operator const& op(Case const& c) const { return operators[static_cast<std::size_t>(c.op)]; }

    std::string describe(Case const& c) const {
        std::ostringstream out;
        out << name_of(c.algorithm->collective) << " " << c.algorithm->name << ", " << ranks << " ranks, " << levels
            << " levels, " << c.bytes << " bytes of " << kind(c).name << ", " << op(c).name << ", root " << c.root
            << (c.in_place ? ", in place" : "")
            << (c.form == Form::equal    ? ""
                : c.form == Form::counts ? ", counts"
                                         : ", types")
            << (c.first_group_size > 0 ? ", groups " + std::to_string(c.first_group_size) + " and " +
                                             std::to_string(ranks - c.first_group_size)
                                       : "")
            << (c.small_parameters ? ", small parameters" : "");
        return out.str();
    }
    void fail(Case const& c, int rank, std::string const& what) {
        std::lock_guard lock(mutex);
        if (failures.size() < 20) failures.push_back(describe(c) + ": rank " + std::to_string(rank) + ": " + what);
    }
};

/// Adds the suite's cases: case_list.cpp.
void add_cases(Suite& suite, unsigned seed);

/// The n parts of one side of a movement, in the order that `form` requires.
class Plan {
public:
    Plan(Suite const& s, Case const& c, std::vector<std::int64_t> counts) : form_(c.form), kind_(c.kind), suite_(s) {
        int const n = static_cast<int>(counts.size());
        std::int64_t next = 0;
        for (int i = 0; i < n; ++i) {
            counts_.push_back(static_cast<int>(counts[static_cast<std::size_t>(i)]));
            types_.push_back(kind_of(i).type.get());
        }
        displacements_.resize(counts_.size());
        for (int j = 0; j < n; ++j) {   // the v and w forms place parts in reverse order, with gaps
            std::size_t const i = static_cast<std::size_t>(form_ == Form::equal ? j : n - 1 - j);
            std::int64_t const unit = form_ == Form::types ? 1 : types_[i]->extent();
            std::int64_t const extent = std::max<std::int64_t>(1, types_[i]->extent());
            displacements_[i] = static_cast<int>(form_ == Form::types ? next : unit == 0 ? 0 : next / extent);
            next += (counts_[i] + (form_ == Form::equal ? 0 : 1)) * extent;
            if (form_ == Form::types) next = (next + 63) / 16 * 16;
        }
        high_ = next + 64;
    }
    /// The kind of part i: the w form alternates between kinds of eight bytes.
    Kind const& kind_of(int i) const {
        constexpr int mixed[] = {1, 2, 3, 4};
        if (form_ == Form::types) return suite_.kinds[static_cast<std::size_t>(mixed[i % 4])];
        return suite_.kinds[static_cast<std::size_t>(kind_)];
    }
    Memory memory() const { return Memory(-16, high_); }
    std::int64_t at(int i) const {
        auto k = static_cast<std::size_t>(i);
        return form_ == Form::types ? displacements_[k] : displacements_[k] * types_[k]->extent();
    }
    int count(int i) const { return counts_[static_cast<std::size_t>(i)]; }
    std::size_t bytes(int i) const {
        return static_cast<std::size_t>(count(i) * types_[static_cast<std::size_t>(i)]->size());
    }
    void unpack_at(Memory& m, int i, std::vector<std::byte> const& packed) const {
        m.unpack_at(at(i), count(i), *types_[static_cast<std::size_t>(i)], packed);
    }
    Parts parts(Memory& m) const {
        if (form_ == Form::equal) return Parts::regular(m.origin(), counts_[0], *types_[0]);
        if (form_ == Form::counts)
            return Parts::irregular(m.origin(), counts_.data(), displacements_.data(), *types_[0]);
        return Parts::typed(m.origin(), counts_.data(), displacements_.data(), types_.data());
    }

private:
    Form form_;
    int kind_;
    Suite const& suite_;
    std::vector<int> counts_, displacements_;
    std::vector<Datatype const*> types_;
    std::int64_t high_;
};

/// Elements that rank `from` sends to rank `to`, computed on every rank. Some counts are zero.
inline std::int64_t count_between(Suite const& s, Case const& c, int from, int to) {
    std::int64_t const n = s.count_of(c);
    return c.form == Form::equal
               ? n
               : n * ((std::min(from, to) + 2 * std::max(from, to) + static_cast<int>(c.seed)) % 4) / 3;
}

}   // namespace tutti::coll::test
