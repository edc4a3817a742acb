// SPDX-License-Identifier: BSD-3-Clause
// The list of what a rank counts, as rows; counters.def is the only list.
#pragma once

#include <span>

#include "runtime/counters/rank_state.hpp"

namespace tutti {

enum class CounterKind { count, bytes, time, level, highest };

struct CounterRow {
    char const* group;
    CounterKind kind;
    char const* name;
    std::uint64_t (*read)(RankState const& rank_state);
    char const* sentence;
};

inline constexpr CounterRow counter_rows[] = {
#define COUNTER(group, kind, name, where, sentence) \
    {#group, CounterKind::kind, #name, [](RankState const& rank_state) { return rank_state.where.read(); }, sentence},
#include "runtime/counters/counters.def"
#undef COUNTER
};

}   // namespace tutti
