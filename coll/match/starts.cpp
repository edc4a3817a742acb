// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/starts.hpp"

#include "coll/match/call_records.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnosis/mistake.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {

void report_starts(Process& process, std::string const& comm, Starts const& mine, Starts const& theirs) {
    auto const part = [&](Starts const& starts) {
        std::string const call = join("MPI_Start(persistent collective, ", comm, ")");
        return Mistake::Part{starts.rank, starts.site != 0 ? call : "no " + call, {}, starts.site};
    };
    auto const times = [](std::uint64_t n) { return join(n, n == 1 ? " time" : " times"); };
    Mistake::Part const parts[] = {part(mine), part(theirs)};
    report(process, {"T03",
                     join("rank ", mine.rank, " has started persistent collectives on ", comm, " ", times(mine.times),
                          ", rank ", theirs.rank, " ", times(theirs.times)),
                     "each start of a persistent collective is a call that all ranks make: look for one in a branch or "
                     "a loop that not all of them take alike",
                     parts});
}

void CallRecords::count_start() {
    ++starts_;
    if (!known_to_) return;
    start_site_ = reinterpret_cast<std::uintptr_t>(*call_site_);
    FirstRecords& mine = first_records_of(*area_, rank_);
    mine.start_site.store(start_site_, std::memory_order_relaxed);
    mine.starts.store(2 * starts_, std::memory_order_release);
}

void CallRecords::compare_starts() {
    if (!known_to_) return;
    no_more_starts_ = true;
    first_records_of(*area_, rank_).starts.store(2 * starts_ + 1, std::memory_order_release);
    // At least one of two ranks sees that the other one starts nothing any more.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    compare_starts_with(neighbour_);
    compare_starts_with((rank_ + 1) % area_->members());
}

void CallRecords::compare_starts_with(int member) const {
    FirstRecords const& theirs = first_records_of(*area_, member);
    std::uint64_t const starts = theirs.starts.load(std::memory_order_acquire);
    if (starts % 2 == 0 || starts / 2 == starts_) return;
    report_starts(*process_, comm_->words(), own_starts(),
                  {world_rank(member), starts / 2, theirs.start_site.load(std::memory_order_relaxed)});
}

}   // namespace tutti::coll
