// SPDX-License-Identifier: BSD-3-Clause
// What the calls of a rank say of the order of its actions among those of others (Lamport's "happened before", CACM
// 1978): from a meeting of all ranks until its next call that may bring it news of others, nothing that another rank
// has done since the meeting comes before what this one does, as far as MPI orders them.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::p2p {

class CallOrder {
public:
    /// Each call of the program is shown to may_learn_in from now on; before that nothing is known.
    void watch() { watched_ = true; }
    /// The program makes this call.
    void may_learn_in(std::string_view call) {
        if (may_teach(call)) may_learn();
    }
    /// The program may get to know what others have done.
    void may_learn() { alone_ = false; }
    /// The program may read at any time what others write.
    void shares_memory() { watched_ = false; }
    /// In the running call all ranks of MPI_COMM_WORLD wait for each other. All ranks count these in one order.
    void met_all() {
        ++meetings_;
        alone_ = watched_;
    }

    std::uint64_t meetings() const { return meetings_; }
    /// It has learnt nothing since the last meeting.
    bool alone() const { return alone_ && watched_; }

    int windows = 0;   ///< that this rank has

private:
    /// False: the call itself brings no news. One-sided operations do when they are complete.
    static bool may_teach(std::string_view call);

    bool watched_ = false, alone_ = false;
    std::uint64_t meetings_ = 0;
};

}   // namespace tutti::p2p
