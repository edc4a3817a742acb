// SPDX-License-Identifier: BSD-3-Clause
// The records of one communicator's calls, taken and compared by this rank.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "coll/env/comm_memory.hpp"
#include "coll/match/all_call_records.hpp"
#include "coll/match/differences.hpp"
#include "coll/match/starts.hpp"

namespace tutti::coll {

/// Up to which call a rank has compared its own with each member's. Takes memory only while members differ in that.
class ComparedWith {
public:
    std::uint64_t get(int member) const { return common_ + (more_.empty() ? 0 : more_[at(member)]); }
    /// `number`: at least get(member). A member that is more than 255 calls ahead of another one may be compared with
    /// again from there on.
    void set(int member, std::uint64_t number, int members);
    /// Gives the memory back if all but `self` have come equally far.
    void settle(int self);
    bool takes_memory() const { return !more_.empty(); }

private:
    static std::size_t at(int member) { return static_cast<std::size_t>(member); }

    std::uint64_t common_ = 0;         ///< with all of them
    std::vector<std::uint8_t> more_;   ///< by member, beyond that; empty: nothing
};

/// A call of this rank, whose peer has made it, too.
struct FailedCall {
    std::uint64_t number = 0;       ///< among those recorded of the communicator
    std::uint64_t peers_site = 0;   ///< where the peer made it; 0: as its records say
};

class CallRecords {
public:
    CallRecords() = default;
    CallRecords(CallRecords const&) = delete;
    CallRecords& operator=(CallRecords const&) = delete;
    ~CallRecords();

    /// From now on they are those of `comm`, which has been made and outlives them.
    void belong_to(Comm const& comm);
    /// Are calls recorded at all?
    [[gnu::always_inline]] bool wanted() const { return mine_ || !tried_; }
    /// Records the program's next call, which is wanted, and compares now and then. Does not return where that finds an
    /// error.
    [[gnu::always_inline]] void take(CallRecord::Prepared& call) {
        if (!take_again(call)) [[unlikely]]
            if (find_record(call)) add(call);
    }
    /// The same for a call that has been recorded and comes from the same place; false: it is not recorded any more.
    [[gnu::always_inline]] bool take_again(CallRecord::Prepared const& call) {
        bool const recorded = call.site == reinterpret_cast<std::uintptr_t>(*call_site_) &&
                              newest_record_ - call.serial < MemberRecords::records_kept;
        if (!recorded) [[unlikely]]
            return false;
        add(call);
        return true;
    }
    /// Compares with the neighbour on this node, as far as both have come.
    void compare();
    /// The same with the neighbours on both sides, when this rank makes no more calls: of two ranks the one that comes
    /// later finds what both have called.
    void compare_last_calls();
    /// The same with another member on this node, each call once.
    void compare_with(int member);
    /// A persistent collective is made, started, and freed.
    void count_persistent(int more) { persistent_ += more; }
    void count_start();
    /// This rank starts no persistent collective any more. All members must have started them equally often: compares
    /// with the neighbours on both sides. Does not return where that differs.
    void compare_starts();
    /// A call of this rank fails. Compares with all members here, and names the one whose amount does not fit.
    void report_mismatch(Error const& error);
    /// T04: in this rank's last call (in `call`) what it exchanges with `peer` (of MPI_COMM_WORLD, maybe itself) does
    /// not match, as `text` says, which goes on behind "in MPI_Gatherv ". Returns where the program handles errors, or
    /// nothing is recorded.
    void report_amounts(int peer, std::string const& text) const { report_amounts(peer, text, {number_}); }
    void report_amounts(int peer, std::string const& text, FailedCall const& call) const;
    /// --check: what ranks exchange in nonblocking v and w forms; else null.
    AmountExchange* amounts() const { return known_to_ ? known_to_->amounts.get() : nullptr; }
    /// Are all ranks to wait for each other in each blocking call, as under --check?
    bool compares_each_call() const { return known_to_ && known_to_->at_every_call; }
    /// After all members have been compared with: keeps no more than is needed.
    void settle() { compared_with_.settle(rank_); }
    /// On several nodes, of the lowest rank of each: sends the calls that have not been sent yet to the next node, and
    /// compares with what has come from the previous one. `is_last`: this rank makes no more calls.
    void exchange_between_nodes(bool is_last = false);

    /// Of this rank's last call; 0: there was none.
    std::uint64_t number() const { return number_; }
    Comm const& comm() const { return *comm_; }
    std::uint64_t context() const { return context_; }
    /// Of this node.
    int members() const { return area_->members(); }
    int rank() const { return rank_; }
    int world_rank(int member) const;
    /// -1: it is not among them.
    int member_of(int world_rank) const;
    /// Has any member made a call?
    bool used() const { return area_->has_calls(); }
    /// This rank's last call in words; empty: none is recorded.
    std::string last_in_words() const;
    /// The first blocking call that this rank has made and the member has not; number 0: none, or it is not known.
    RecordedCall missed_by(int member) const;
    /// The first blocking call that the member has made and this rank has not; number 0: none.
    RecordedCall call_beyond(int member) const;
    /// Ends the job: this rank has made `call` and not yet `theirs` on the other communicator, the member the other way
    /// round. Each would wait for the other if both calls waited for all members, and a program must not rely on that
    /// they do not (MPI 3.1, 5.13).
    [[noreturn]] void report_order(RecordedCall const& call, int member, CallRecords const& other,
                                   RecordedCall const& theirs) const;

private:
    [[gnu::always_inline]] void add(CallRecord::Prepared const& call) {
        std::uint64_t const number = ++number_;
        mine_->call(number).store(numbered(number, call.serial), std::memory_order_release);
        show_last();
        digest_ = digest_ * 31 + call.digest;
        if ((number & look_mask_) == 0) [[unlikely]]
            look();
    }
    /// For ranks that wait for this one.
    void show_last() { std::atomic_ref(*last_collective_).store(context_, std::memory_order_relaxed); }
    bool open();
    bool begin(CallRecord::Prepared& call);
    bool find_record(CallRecord::Prepared& call);
    void record_call(CallRecord::Prepared& call);
    void look();
    void end_block();
    void compare_blocks();
    std::uint64_t compare_calls(MemberCalls const& theirs, int rank, bool neighbour, std::uint64_t first,
                                std::uint64_t last);
    std::uint64_t compare_calls(int member, std::uint64_t first, std::uint64_t last);
    bool match(MemberCalls const& own, NumberedRecord mine, MemberCalls const& others, NumberedRecord theirs,
               int rank) const;
    RecordedCall call_of(int member, std::uint64_t number) const;
    MemberCalls calls_of(int member) const { return {*area_, member}; }
    bool errors_return() const;
    void compare_starts_with(int member) const;
    Starts own_starts() const { return {process_->rank(), starts_, start_site_}; }
    Wording wording() const;
    [[noreturn]] void report_difference(Difference what, RecordedCall const& call, int rank,
                                        RecordedCall const& theirs) const;

    MemberRecords* mine_ = nullptr;
    std::uint64_t number_ = 0;                    ///< of the last call
    std::uint64_t newest_record_ = 0;             ///< its serial number
    std::uint64_t digest_ = 0;                    ///< of the calls since the last block's end
    std::uint64_t look_mask_ = 0;                 ///< 0 in the number of a call after which this rank may compare
    void const* const* call_site_ = nullptr;      ///< where the process keeps from where it is called
    std::uint64_t* last_collective_ = nullptr;    ///< LastCall::collective of this rank
    std::uint64_t context_ = 0;                   ///< of the communicator
    std::uint64_t compared_ = 0;                  ///< up to this call with the neighbour
    std::uint64_t sent_ = 0;                      ///< up to this call to the next node
    ComparedWith compared_with_;                  ///< the same with the other members
    std::uint64_t starts_ = 0, start_site_ = 0;   ///< of persistent collectives: how many, where the last one was
    int persistent_ = 0;                          ///< requests of theirs that there are
    bool no_more_starts_ = false;
    using Matching = std::array<std::uint64_t, 4>;
    Matching matching_{};            ///< records of both that match, this rank's in the upper half: there are few
    bool keeps_first_ = false;       ///< the first calls lie beside this rank's flags, until there are more
    bool tried_ = true;              ///< to get memory; without it, or if nothing is wanted, there are no records
    int rank_ = 0, neighbour_ = 0;   ///< among the members on this node
    Process* process_ = nullptr;
    Comm const* comm_ = nullptr;   ///< whose calls these are
    Comm const* node_ = nullptr;   ///< its members on this node
    Area const* area_ = nullptr;   ///< where they record
    std::shared_ptr<AllCallRecords> known_to_;
};

}   // namespace tutti::coll
