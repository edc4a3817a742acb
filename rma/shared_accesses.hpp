// SPDX-License-Identifier: BSD-3-Clause
// --check: conflicts of operations under shared locks, which do not order operations of two origins (MPI 4.1, 12.5.3
// and 12.7). Two operations conflict if, between the last meeting of all ranks and the calls, neither rank has learnt
// anything from other ranks: then nothing orders one before the other. Later operations of a rank are not recorded,
// because they may be ordered by messages, by other collectives, by values it got, or by values that others put into
// its memory. Nothing is recorded for a rank that has several windows, or memory that others load and store.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "runtime/process.hpp"

namespace tutti::rma {

struct Accessed;

class SharedAccesses {
public:
    static constexpr std::size_t most = 1024;   ///< records kept per target; later ones are dropped
    using Meeting = std::uint64_t;

    explicit SharedAccesses(Process& process);
    ~SharedAccesses();

    /// The running call accesses the target. `under_shared_lock`: it holds no stronger lock. `access`: null if its
    /// bytes are not contiguous.
    void note(int target, bool writes, bool under_shared_lock, Accessed const* access);
    bool empty() const { return written_.empty() && by_target_.empty(); }
    /// Returns the meetings after which this rank has written to the target.
    std::vector<Meeting> written(int target) const;
    /// Other ranks have written to this rank's part after these meetings, so this rank may have seen that: drops its
    /// accesses after them.
    void drop(std::set<Meeting> const& meetings);
    /// Returns the accesses to be sent to the target.
    std::vector<Accessed> of(int target) const;
    void forget();

private:
    Process& process_;
    std::set<std::pair<int, Meeting>> written_;
    std::map<int, std::vector<Accessed>> by_target_;
};

}   // namespace tutti::rma
