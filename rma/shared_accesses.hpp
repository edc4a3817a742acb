// SPDX-License-Identifier: BSD-3-Clause
// --check: conflicts of operations under shared locks, which do not order operations of two origins (MPI 4.1, 12.5.3
// and 12.7). Two operations conflict if, between the last synchronization point of all ranks and the calls, neither
// rank has learnt anything from other ranks: then nothing orders one before the other. Later operations of a rank are
// not recorded, because they may be ordered by messages, by other collectives, by values it got, or by values that
// others put into its memory. Nothing is recorded for a rank that has several windows, or memory that others load and
// store.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "runtime/process.hpp"

namespace tutti::rma {

struct AccessRecord;

class SharedAccesses {
public:
    static constexpr std::size_t max_records = 1024;   ///< records kept per target; later ones are dropped
    using SyncPoint = std::uint64_t;

    explicit SharedAccesses(Process& process);
    ~SharedAccesses();

    /// The running call accesses the target. `under_shared_lock`: it holds no stronger lock. `access`: null if its
    /// bytes are not contiguous.
    void record(int target, bool writes, bool under_shared_lock, AccessRecord const* access);
    bool empty() const { return written_.empty() && by_target_.empty(); }
    /// Returns the synchronization points after which this rank has written to the target.
    std::vector<SyncPoint> written(int target) const;
    /// Other ranks have written to this rank's part after these synchronization points, so this rank may have seen
    /// that: drops its accesses after them.
    void drop_after(std::set<SyncPoint> const& sync_points);
    /// Returns the accesses to be sent to the target.
    std::vector<AccessRecord> records_for(int target) const;
    void clear();

private:
    Process& process_;
    std::set<std::pair<int, SyncPoint>> written_;
    std::map<int, std::vector<AccessRecord>> by_target_;
};

}   // namespace tutti::rma
