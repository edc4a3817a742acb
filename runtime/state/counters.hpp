// SPDX-License-Identifier: BSD-3-Clause
// The counters of a rank as table rows, expanded from counters.def, the only list.
#pragma once

#include <span>

#include "runtime/state/rank_state.hpp"

namespace tutti {

/// See counters.def.
enum class CounterKind { count, bytes, time, level, highest };

struct CounterRow {
    char const* group;
    CounterKind kind;
    char const* name;
    std::uint64_t (*read)(RankState const& rank_state);
    char const* description;   ///< description, for users
};

inline constexpr CounterRow counter_rows[] = {
#define COUNTER(group, kind, name, where, description)                                                      \
    {#group, CounterKind::kind, #name, [](RankState const& rank_state) { return rank_state.where.read(); }, \
     description},
#include "runtime/state/counters.def"
#undef COUNTER
};

}   // namespace tutti
