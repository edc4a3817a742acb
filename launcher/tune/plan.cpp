// SPDX-License-Identifier: BSD-3-Clause
// What is worth measuring.
#include "launcher/tune/plan.hpp"

#include <bit>
#include <numeric>

#include "coll/choice/tuning.hpp"
#include "coll/env/area.hpp"

namespace tutti::tune {
namespace {

using coll::Collective;

topo::Hierarchy tree_of(topo::Machine const& machine, int ranks) {
    std::vector<int> numbers(static_cast<std::size_t>(ranks));
    std::iota(numbers.begin(), numbers.end(), 0);
    return topo::make_hierarchy(machine, topo::place_in_order(machine, ranks), numbers, {});
}

/// Every rank has a part for, or from, each: buffers hold so many parts as there are ranks.
bool in_parts(Collective c) {
    return c == Collective::gather || c == Collective::scatter || c == Collective::allgather ||
           c == Collective::alltoall || c == Collective::reduce_scatter || c == Collective::neighbor_allgather ||
           c == Collective::neighbor_alltoall;
}

coll::Setting parsed(Collective collective, std::string const& setting) {
    std::vector<std::string> complaints;
    return parse_setting(collective, setting, "tutti-tune", complaints);
}

}   // namespace

Contest::Contest(Collective collective, int ranks, topo::Machine const& machine, Options const& options)
    : collective_(collective), ranks_(ranks), trees_(tree_of(machine, ranks)) {
    std::size_t const parts = in_parts(collective) ? std::bit_ceil(static_cast<unsigned>(ranks)) : 1;
    std::size_t const largest = std::max(options.smallest, options.largest / parts);
    if (collective == Collective::barrier) sizes_ = {0};
    else
        for (std::size_t size = options.smallest; size <= largest; size *= 2) sizes_.push_back(size);
}

std::size_t Contest::message(std::size_t size) const {
    if (collective_ == Collective::barrier) return coll::no_limit;
    return std::bit_ceil(collective_ == Collective::reduce_scatter ? size * static_cast<std::size_t>(ranks_) : size);
}

coll::CallTraits Contest::offer(std::size_t size) const {
    return {.ranks = ranks_,
            .levels = trees_.hierarchy.levels(),
            .bytes = collective_ == Collective::barrier ? 0 : message(size),
            .slot_bytes = coll::Area(nullptr, ranks_).slot_bytes(),
            .commutes = true,
            .ordered = true,
            .one_kind = true,
            .equal_parts = true};
}

bool Contest::can(std::string const& setting, std::size_t size) const {
    return offer(size).suits(*parsed(collective_, setting).algorithm);
}

std::vector<std::string> Contest::candidates() const {
    std::vector<std::string> names;
    for (coll::AlgorithmRow const& row : coll::all_algorithms())
        if (row.collective == collective_ && can(row.name, sizes_.front())) names.push_back(row.name);
    return names;
}

std::string Contest::standard(std::size_t size) const {
    auto const decision = decide(collective_, offer(size), {}, [this](auto*) -> coll::Trees const& { return trees_; });
    return text_of(*decision.setting);
}

std::vector<std::string> Contest::variants(std::string const& setting) const {
    std::vector<std::string> all;
    coll::Setting const base = parsed(collective_, setting);
    for (std::size_t i = 0; i < base.algorithm->parameters.size(); ++i) {
        auto const kind = base.algorithm->parameters[i].kind;
        if (kind != coll::ParameterKind::bytes && kind != coll::ParameterKind::per_level) continue;
        for (std::size_t const value : {base.values[i] / 2, base.values[i] * 2}) {
            coll::Setting other = base;
            other.values.set(i, std::max<std::size_t>(value, 64));
            all.push_back(text_of(other));
        }
    }
    return all;
}

}   // namespace tutti::tune
