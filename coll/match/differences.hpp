// SPDX-License-Identifier: BSD-3-Clause
// Two members' records of the same call: whether they match, and in words what each of them calls.
#pragma once

#include <string>

#include "coll/match/call_record.hpp"

namespace tutti {
class Datatype;
}

namespace tutti::coll {

/// In the order in which they are looked for. `waiting`: of two fences only one has the assertions by which it does not
/// wait.
enum class Difference { none, function, waiting, root, op, amount };

Difference difference(RecordedCall const& a, RecordedCall const& b);

/// How calls are put into words.
struct Wording {
    std::string comm;                                                ///< "MPI_COMM_WORLD"
    Datatype const* (*predefined_type)(unsigned number) = nullptr;   ///< by RecordedCall::type; null: not known
};

/// "MPI_SUM", or what kind of operator of the program it is; `op`: as RecordedCall has it.
char const* op_in_words(std::uint8_t op);
/// "MPI_Bcast(4 MPI_INT, root 0, MPI_COMM_WORLD)"; what the record does not know is left out.
std::string in_words(RecordedCall const& call, Wording const& wording);
/// Under which it is reported: "T03".
char const* code(Difference what, RecordedCall const& a);
/// "rank 1 calls MPI_Bcast with root 1 where rank 0 has root 0, as call 3 on MPI_COMM_WORLD"; the ranks are those of
/// MPI_COMM_WORLD.
std::string headline(Difference what, RecordedCall const& a, int rank_a, RecordedCall const& b, int rank_b,
                     Wording const& wording);
/// What to do about it.
char const* help(Difference what, RecordedCall const& a);

}   // namespace tutti::coll
