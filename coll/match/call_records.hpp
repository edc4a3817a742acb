// SPDX-License-Identifier: BSD-3-Clause
// The records of one communicator's calls: this rank records its own calls and compares them with those of other
// members.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "coll/env/group_layout.hpp"
#include "coll/match/all_call_records.hpp"
#include "coll/match/call_record.hpp"

namespace tutti::coll {

/// The number of the last call that a rank has compared with each member. Takes memory only while this differs between
/// members.
class ComparisonProgress {
public:
    std::uint64_t get(int member) const { return common_ + (extra_.empty() ? 0 : extra_[at(member)]); }
    /// `number` must be at least get(member). A member that is more than 255 calls ahead of another one is stored as
    /// 255 ahead and may be compared again from there.
    void set(int member, std::uint64_t number, int members);
    /// Releases the memory if all members except `self` have been compared equally far.
    void compact(int self);
    bool has_memory() const { return !extra_.empty(); }

private:
    static std::size_t at(int member) { return static_cast<std::size_t>(member); }

    std::uint64_t common_ = 0;          ///< with every member
    std::vector<std::uint8_t> extra_;   ///< by member, in addition to common_; empty: 0 for all
};

/// A call of this rank that its peer has made too, and in which their amounts do not match.
struct FailedCall {
    std::uint64_t number = 0;      ///< among the recorded calls of the communicator
    std::uint64_t peer_site = 0;   ///< return address of the peer's call; 0: use its records
};

/// The calls of this rank on one communicator, and their comparison with those of other members.
class CallRecords {
public:
    CallRecords() = default;
    CallRecords(CallRecords const&) = delete;
    CallRecords& operator=(CallRecords const&) = delete;
    ~CallRecords();

    /// Records the calls of `comm` from now on; `comm` must be complete and stay valid as long as this object.
    void attach(Comm const& comm);
    /// True if calls are recorded.
    [[gnu::always_inline]] bool is_recording() const { return records_ || !allocation_tried_; }
    /// Records the program's next call and compares from time to time. May be called only if is_recording(). Does not
    /// return if the comparison finds an error.
    [[gnu::always_inline]] void record(CallRecord::PreparedCall& call) {
        if (!record_again(call)) [[unlikely]]
            if (find_record(call)) append(call);
    }
    /// Like record(), for a call that has been recorded and is made from the same place. Returns false if its record no
    /// longer exists.
    [[gnu::always_inline]] bool record_again(CallRecord::PreparedCall const& call) {
        bool const recorded = call.site == reinterpret_cast<std::uintptr_t>(*call_site_) &&
                              newest_record_ - call.serial < MemberRecords::records_kept;
        if (!recorded) [[unlikely]]
            return false;
        append(call);
        return true;
    }
    /// Compares with the neighbour on this node, up to the last call that both have made.
    void compare();
    /// Called when this rank makes no more calls: compares with the neighbours on both sides, and sends its last calls
    /// to the next node. The later of two ranks finds the calls of both.
    void compare_last_calls();
    /// Compares with another member on this node. Each call is compared once.
    void compare_with(int member);
    /// Counts persistent collectives: `more` is 1 when one is created, −1 when one is freed.
    void count_persistent(int more) { persistent_ += more; }
    /// Counts the start of a persistent collective.
    void count_start();
    /// Declares that this rank starts no more persistent collectives, and compares the number of starts, which must be
    /// the same at all members, with the neighbours on both sides. Does not return if it differs.
    void compare_starts();
    /// Called when a call of this rank has failed: compares with all members on this node, and reports the member whose
    /// amount does not match.
    void report_mismatch(Error const& error);
    /// Reports T04: in this rank's last call (or in `call`) the amount exchanged with `peer` (rank in MPI_COMM_WORLD,
    /// possibly this rank itself) does not match. `text` describes this and continues "in MPI_Gatherv ". Returns if the
    /// program handles errors itself or nothing is recorded.
    void report_amounts(int peer, std::string const& text) const { report_amounts(peer, text, {number_}); }
    void report_amounts(int peer, std::string const& text, FailedCall const& call) const;
    /// Returns the exchange of amounts in nonblocking v and w forms; null unless --check is on.
    AmountExchange* amounts() const { return matcher_ ? matcher_->amounts.get() : nullptr; }
    /// True if all ranks must wait for each other in each blocking call, as under --check.
    bool compares_each_call() const { return matcher_ && matcher_->compares_each_call; }
    /// Called after all members have been compared: releases memory that is no longer needed.
    void compact() { compared_with_.compact(rank_); }
    /// On several nodes, for the lowest rank of each node: sends the calls that have not been sent yet to the next
    /// node, and compares with calls received from the previous node. `is_last`: this rank makes no more calls.
    void exchange_between_nodes(bool is_last = false);

    /// Number of this rank's last call; 0: there was none.
    std::uint64_t number() const { return number_; }
    Comm const& comm() const { return *comm_; }
    std::uint64_t context() const { return context_; }
    /// Number of members on this node.
    int members() const { return area_->members(); }
    int rank() const { return rank_; }
    int world_rank(int member) const;
    /// Returns -1 if the rank is not among the members on this node.
    int member_of(int world_rank) const;
    /// True if any member has made a call.
    bool has_calls() const { return area_->has_calls(); }
    /// Returns the text of this rank's last call; empty if none is recorded.
    std::string describe_last_call() const;
    /// Returns the first blocking call that this rank has made and the member has not; number 0: none, or not known.
    RecordedCall first_call_missing_at(int member) const;
    /// Returns the first blocking call that the member has made and this rank has not; number 0: none.
    RecordedCall first_call_missing_here(int member) const;
    /// Reports opposite orders and ends the job: this rank has made `call` and not yet `peer` on the other
    /// communicator, and the member the reverse. Each would wait for the other if both calls synchronised, and a
    /// program must not rely on the absence of that synchronisation (MPI 3.1, 5.13).
    [[noreturn]] void report_order(RecordedCall const& call, int member, CallRecords const& other,
                                   RecordedCall const& peer) const;

private:
    [[gnu::always_inline]] void append(CallRecord::PreparedCall const& call) {
        std::uint64_t const number = ++number_;
        records_->call(number).store(numbered(number, call.serial), std::memory_order_release);
        publish_last_collective();
        digest_ = digest_ * 31 + call.digest;
        if ((number & checkpoint_mask_) == 0) [[unlikely]]
            checkpoint();
    }
    /// Publishes the communicator of this rank's last collective call, for ranks that wait for this one.
    void publish_last_collective() { std::atomic_ref(*last_collective_).store(context_, std::memory_order_relaxed); }
    bool allocate_records();
    bool record_first_call(CallRecord::PreparedCall& call);
    bool find_record(CallRecord::PreparedCall& call);
    void add_record(CallRecord::PreparedCall& call);
    void checkpoint();
    void end_block();
    void compare_blocks();
    std::uint64_t compare_calls(MemberCalls const& peer, int rank, bool neighbour, std::uint64_t first,
                                std::uint64_t last);
    std::uint64_t compare_calls(int member, std::uint64_t first, std::uint64_t last);
    bool match(MemberCalls const& own, NumberedRecord mine, MemberCalls const& peer_calls, NumberedRecord peer,
               int rank) const;
    RecordedCall call_of(int member, std::uint64_t number) const;
    MemberCalls calls_of(int member) const { return {*area_, member}; }
    bool errors_return() const;
    void compare_starts_with(int member) const;
    Starts own_starts() const { return {process_->rank(), starts_, start_site_}; }
    NameLookup name_lookup() const;
    [[noreturn]] void report_difference(Difference what, RecordedCall const& call, int rank,
                                        RecordedCall const& peer) const;

    MemberRecords* records_ = nullptr;
    std::uint64_t number_ = 0;                    ///< of the last call
    std::uint64_t newest_record_ = 0;             ///< its serial number
    std::uint64_t digest_ = 0;                    ///< digest of the calls since the end of the last block
    std::uint64_t checkpoint_mask_ = 0;           ///< checkpoint() runs after calls whose number has none of these bits
    void const* const* call_site_ = nullptr;      ///< where the process stores the return address of the current call
    std::uint64_t* last_collective_ = nullptr;    ///< LastCall::collective of this rank
    std::uint64_t context_ = 0;                   ///< of the communicator
    std::uint64_t compared_ = 0;                  ///< the last call compared with the neighbour
    std::uint64_t sent_ = 0;                      ///< the last call sent to the next node
    ComparisonProgress compared_with_;            ///< the last call compared with each other member
    std::uint64_t starts_ = 0, start_site_ = 0;   ///< of persistent collectives: number, last return address
    int persistent_ = 0;                          ///< number of persistent collective requests that exist
    bool no_more_starts_ = false;
    using Matching = std::array<std::uint64_t, 4>;
    Matching matching_{};            ///< matching pairs of records, this rank's in the upper half; few suffice
    bool keeps_first_ = false;       ///< the first calls are stored beside this rank's flags until there are more
    bool allocation_tried_ = true;   ///< if there are still no records, memory was lacking or recording is off
    int rank_ = 0, neighbour_ = 0;   ///< among the members on this node
    Process* process_ = nullptr;
    Comm const* comm_ = nullptr;   ///< the communicator whose calls these are
    Comm const* node_ = nullptr;   ///< the communicator of its members on this node
    Area const* area_ = nullptr;   ///< where the calls are recorded
    std::shared_ptr<CallMatcher> matcher_;
};

}   // namespace tutti::coll
