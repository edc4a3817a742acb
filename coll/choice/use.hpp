// SPDX-License-Identifier: BSD-3-Clause
// What a communicator has done with one collective, and the list of what can be asked about it.
#pragma once

#include "runtime/counters/counters.hpp"

namespace tutti::coll {

struct AlgorithmRow;

struct Use {
    AlgorithmRow const* algorithm = nullptr;   ///< of the last call; null: there was none
    Counter calls;
    Counter bytes, time;   ///< as in a CallStatisticsRow, and only while there is call statistics

    void begin(AlgorithmRow const* by) {
        algorithm = by;
        calls.add(1);
    }
};

struct UseRow {
    char const* name;
    CounterKind kind;
    Counter Use::*counter;
    char const* sentence;   ///< goes on with the collective's name and a full stop
};

/// As variables they are tutti_ and the collective's name, then this one.
inline constexpr UseRow use_rows[] = {
    {"calls", CounterKind::count, &Use::calls, "Calls on this communicator of "},
    {"bytes", CounterKind::bytes, &Use::bytes,
     "With TUTTI_STATS=yes: bytes that this rank gave or got, of reductions the whole vector, on a communicator in "},
    {"time", CounterKind::time, &Use::time, "With TUTTI_STATS=yes: time spent on this communicator in "},
};
inline constexpr char algorithm_variable[] = "algorithm";
inline constexpr char algorithm_sentence[] = "The algorithm of the last call on this communicator of ";
/// Of the rank.
inline constexpr char in_flight_variable[] = "tutti_coll_in_flight";
inline constexpr char in_flight_sentence[] =
    "How many nonblocking and persistent collectives of this rank are under way and looked after by progress.";

}   // namespace tutti::coll
