// SPDX-License-Identifier: BSD-3-Clause
// The records of one communicator's calls, taken and compared by this rank; and those of all communicators together.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "coll/env/comm_memory.hpp"
#include "coll/match/differences.hpp"

namespace tutti::coll {

class CallRecords;

/// Of a process; those that record their calls, for long waits and the end.
struct AllCallRecords {
    explicit AllCallRecords(Process& process);

    /// Compares what can be compared: all calls of all communicators with all members on this node, and the order of
    /// blocking calls on different communicators. Does not return where it finds a mistake.
    void compare() const;
    /// MPI_Finalize, by all ranks: the same of MPI_COMM_WORLD, with the next node. On one node that is nothing.
    void compare_between_nodes() const;

    bool on, at_every_call;   ///< TUTTI_DIAGNOSIS
    Datatype const* (*predefined_type)(unsigned number) = nullptr;
    std::vector<CallRecords*> all;
};

/// A blocking call that another rank has made and this one has not.
struct CallAhead {
    CallRecords const* records;   ///< of its communicator
    RecordedCall call;
};
/// One for each rank that has made such a call, by its rank in MPI_COMM_WORLD.
using CallsAhead = std::map<int, CallAhead>;

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
    /// Records the program's next call, which is wanted, and compares now and then. Does not return where that finds a
    /// mistake.
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
    /// With the neighbour on this node, as far as both have come.
    void compare();
    /// The same with all members on this node, each call once.
    void compare_with_all();
    bool is_of_world() const { return comm_ == process_->world.get(); }
    /// By all members, of which the first one of each node compares with that of the next node, as far as both kept.
    void compare_between_nodes();
    /// This rank's last call; empty: none is recorded.
    std::string last_in_words() const;
    /// Has any member taken records, or has this one made a call? Then this one's are at hand, too.
    bool taken_by_anybody() { return mine_ || (!tried_ && (number_ != 0 || area_->has_records()) && open()); }
    /// Adds the calls that members of this node have made on this communicator and this rank has not.
    void add_calls_ahead(CallsAhead& ahead) const;
    /// Ends the job where a member has made one of these calls, but not one on this communicator that this rank has
    /// made: they make blocking calls on two communicators in opposite orders.
    void compare_order(CallsAhead const& ahead) const;

private:
    [[gnu::always_inline]] void add(CallRecord::Prepared const& call) {
        std::uint64_t const number = ++number_;
        mine_->call(number).store(numbered(number, call.serial), std::memory_order_release);
        digest_ = digest_ * 31 + call.digest;
        if ((number & look_mask_) == 0) [[unlikely]]
            look();
    }
    bool open();
    bool begin(CallRecord::Prepared const& call);
    bool find_record(CallRecord::Prepared& call);
    void record_call(CallRecord::Prepared& call);
    void look();
    void end_block();
    void compare_blocks();
    std::uint64_t compare_calls(MemberRecords const& theirs, int rank, bool neighbour, std::uint64_t first,
                                std::uint64_t last);
    std::uint64_t compare_calls(int member, std::uint64_t first, std::uint64_t last);
    bool match(NumberedRecord mine, MemberRecords const& records, NumberedRecord theirs, int rank);
    RecordedCall missed_by(int member) const;
    RecordedCall call_beyond(int member) const;
    bool errors_return() const;
    bool made_by(int member, std::uint64_t number) const;
    int member_of(int world_rank) const;
    Wording wording() const;
    [[noreturn]] void tell(Difference what, RecordedCall const& call, int rank, RecordedCall const& theirs) const;
    [[noreturn]] void tell_order(RecordedCall const& call, int member, CallRecords const& other,
                                 RecordedCall const& theirs) const;

    MemberRecords* mine_ = nullptr;
    std::uint64_t number_ = 0;                 ///< of the last call
    std::uint64_t newest_record_ = 0;          ///< its serial number
    std::uint64_t digest_ = 0;                 ///< of the calls since the last block's end
    std::uint64_t look_mask_ = 0;              ///< what is 0 in the number of a call after which this rank looks around
    void const* const* call_site_ = nullptr;   ///< where the process records from where it is called
    std::uint64_t compared_ = 0;               ///< up to this call with the neighbour
    std::vector<std::uint64_t> compared_with_;   ///< up to this call with each member; empty: with none yet
    /// Records of both that match, this rank's in the upper half: there are few different ones.
    std::array<std::uint64_t, 4> matching_{};
    bool keeps_first_ = false;       ///< no memory is taken before the second call, or a long wait
    CallRecord::Prepared first_;     ///< the first call, while it is kept
    bool tried_ = true;              ///< to get memory; if that was in vain, or not wanted, there are no records
    int rank_ = 0, neighbour_ = 0;   ///< among the members on this node
    Process* process_ = nullptr;
    Comm const* comm_ = nullptr;   ///< whose calls these are
    Comm const* node_ = nullptr;   ///< its members on this node
    Area const* area_ = nullptr;   ///< where they record
    std::shared_ptr<AllCallRecords> known_to_;
};

}   // namespace tutti::coll
