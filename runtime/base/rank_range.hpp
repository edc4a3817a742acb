// SPDX-License-Identifier: BSD-3-Clause
// Many ranks in three numbers, as MPI_Group_range_incl has them.
#pragma once

namespace tutti {

/// Ranks first, first + stride, … up to last, which need not be one of them.
struct RankRange {
    int first = 0, last = 0, stride = 1;

    /// A stride below 1, which only another process' memory can hold, counts as 1.
    bool contains(int rank) const {
        return first <= rank && rank <= last && (rank - first) % (stride < 1 ? 1 : stride) == 0;
    }
    bool operator==(RankRange const&) const = default;
};

}   // namespace tutti
