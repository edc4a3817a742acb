// SPDX-License-Identifier: BSD-3-Clause
// Conflict detection for one-sided operations under mpiexec --check: records which bytes of which target each operation
// has accessed since they were last ordered, and finds conflicting accesses (MPI 3.1, 11.7), whose outcome is
// undefined. Only contiguous elements are recorded, at most `max_records` per target: the check may miss an error, but
// does not report a correct program.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/accumulate.hpp"
#include "rma/recording.hpp"
#include "runtime/base/function.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

/// One operation. Trivially copyable, because it is also sent to the target, which compares those of all origins.
struct AccessRecord {
    std::uint64_t first, end;   ///< bytes of the target's part
    Operation operation;
    Function function;
    BuiltinOp op;           ///< for accumulates
    Basic type;             ///< for accumulates
    std::int32_t origin;    ///< rank in MPI_COMM_WORLD
    std::uint32_t number;   ///< sequence number among the origin's operations on this window: lower is earlier
    std::uint64_t site;
    std::uint64_t
        sync_point;   ///< last synchronization of all ranks before it (p2p/check/order.hpp); under shared locks only
    // Digests of the bytes (p2p/check/checks.hpp), if the origin has seen them; 0: unknown.
    std::uint64_t
        digest_before;   ///< content before a put that nothing orders after the target's own accesses in the epoch
    std::uint64_t digest_after;   ///< content that the put has written

    bool swaps() const { return function == "MPI_Compare_and_swap"; }
    bool reads() const;
    bool writes() const;
};

/// The hint accumulate_ordering: which accumulates of one origin to one location are executed in program order (MPI
/// 4.1, 12.7.2).
struct AccumulateOrdering {
    bool rar = true, raw = true, war = true, waw = true;

    /// `hint`: "rar,raw,war,waw" (the default), a subset of it, or "none".
    static AccumulateOrdering parse(std::string_view hint);
    /// Returns true if `later` is executed after `earlier`; one origin has called both in this order.
    bool orders(AccessRecord const& earlier, AccessRecord const& later) const;
};

/// Returns true if the outcome of the two operations is undefined because they access the same bytes.
bool conflict(AccessRecord const& a, AccessRecord const& b, AccumulateOrdering const& ordering);

// --check: conflicts of operations under shared locks, which do not order operations of two origins (MPI 4.1, 12.5.3
// and 12.7). Two operations conflict if, between the last synchronization point of all ranks and the calls, neither
// rank has learnt anything from other ranks: then nothing orders one before the other. Later operations of a rank are
// not recorded, because they may be ordered by messages, by other collectives, by values it got, or by values that
// others put into its memory. Nothing is recorded for a rank that has several windows, or memory that others load and
// store.

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

/// The records of one window at this process, as an origin.
class AccessLog {
public:
    static constexpr std::size_t max_records = 1024;   ///< records kept per target

    explicit AccessLog(Process& process) : shared(process), process_(process) {}

    /// Records that the running call performs this operation on the elements at byte `origin` of the target's part.
    /// `op`: of an accumulate, otherwise null. `under_shared_lock`: the target is held by a shared lock and nothing
    /// stronger. Returns the record, valid until the next call, or null if none was kept.
    AccessRecord* record(Remote const& target, std::int64_t origin, bool under_shared_lock, Operation operation,
                         Op const* op);
    /// The running call has a request, or has completed accesses: not all accesses to the target are recorded.
    void mark_incomplete(int rank) { incomplete_.insert(rank); }
    /// Returns true if all accesses to the target since the last clear() are recorded.
    bool is_complete(int rank) const { return !incomplete_.contains(rank); }
    /// Accesses to a target (−1: all targets) are complete there, so later ones are ordered after them. Warns of
    /// conflicts.
    void complete(int rank);
    /// As complete(), but only gets are complete.
    void complete_gets(int rank);
    /// For an epoch of all members: the accesses to be sent to that target.
    std::span<AccessRecord const> records_for(int rank) { return by_target_[rank]; }
    /// Warns of conflicts among accesses to one part, of one or several origins; once for each pair of call sites.
    /// Sorts `all` by first byte.
    void report_conflicts(std::vector<AccessRecord>& all);
    /// Likewise for accesses under shared locks: accesses of different origins after the same synchronization point
    /// conflict.
    void report_shared_conflicts(std::vector<AccessRecord>& all);
    void clear() {
        by_target_.clear();
        incomplete_.clear();
    }
    /// Warns of accesses whose bytes the target's program has changed between the fences called at these two sites.
    void report_stores(std::vector<AccessRecord> const& changed, std::uint64_t opened, std::uint64_t closed);

    AccumulateOrdering ordering;
    SharedAccesses shared;

private:
    void report(AccessRecord const& a, AccessRecord const& b, bool under_shared_locks);

    Process& process_;
    std::uint32_t last_number_ = 0;   ///< number of the last operation
    std::map<int, std::vector<AccessRecord>> by_target_;
    std::set<int> incomplete_;                                     ///< targets
    std::set<std::pair<std::uint64_t, std::uint64_t>> reported_;   ///< pairs of call sites that were reported
};

}   // namespace tutti::rma
