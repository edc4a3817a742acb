// SPDX-License-Identifier: BSD-3-Clause
// --check: operations under shared locks, which do not order those of two origins (MPI 4.1, 12.5.3 and 12.7). Two of
// them conflict where both ranks have learnt nothing from others between the last meeting of all ranks and the calls:
// then neither can come before the other. What a rank does later is not kept, as it may be ordered by messages, by
// other collectives, by what it has got, or by what others have put into its own memory. Nor is anything kept of a rank
// that has several windows, or memory that others load and store.
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
    static constexpr std::size_t most = 1024;   ///< kept of one target; later ones are not
    using Meeting = std::uint64_t;

    explicit SharedAccesses(Process& process);
    ~SharedAccesses();

    /// The running call accesses the target. `under_shared_lock`: it holds nothing stronger. `access`: null: not all
    /// of its bytes lie in one piece.
    void note(int target, bool writes, bool under_shared_lock, Accessed const* access);
    bool empty() const { return written_.empty() && by_target_.empty(); }
    /// After which meetings this rank has written to the target.
    std::vector<Meeting> written(int target) const;
    /// Others have written to this rank's part after these: it may have seen that.
    void drop(std::set<Meeting> const& meetings);
    /// To be sent to the target.
    std::vector<Accessed> of(int target) const;
    void forget();

private:
    Process& process_;
    std::set<std::pair<int, Meeting>> written_;
    std::map<int, std::vector<Accessed>> by_target_;
};

}   // namespace tutti::rma
