// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/call_records.hpp"

#include <algorithm>

#include "coll/match/call_record.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"

namespace tutti::coll {
namespace {

/// Returns how far `b` is behind `a`; numbers wrap.
std::int32_t distance(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b); }

std::uint64_t block_word(std::uint64_t number, std::uint64_t digest) {
    return number / MemberRecords::block << 32 | (digest >> 32 ^ (digest & UINT32_MAX));
}

}   // namespace

void ComparisonProgress::set(int member, std::uint64_t number, int members) {
    if (number == get(member)) return;
    if (extra_.empty()) extra_.resize(at(members));
    extra_[at(member)] = static_cast<std::uint8_t>(std::min<std::uint64_t>(number - common_, UINT8_MAX));
}

void ComparisonProgress::compact(int self) {
    if (extra_.empty()) return;
    std::uint8_t least = UINT8_MAX, most = 0;
    for (std::size_t m = 0; m < extra_.size(); ++m) {
        if (m == at(self)) continue;
        least = std::min(least, extra_[m]);
        most = std::max(most, extra_[m]);
    }
    if (least == 0 && most != 0) return;
    common_ += least;
    extra_[at(self)] = least;
    for (std::uint8_t& one : extra_) one = static_cast<std::uint8_t>(one - least);
    if (least == most) extra_ = {};
}

CallRecords::~CallRecords() {
    if (matcher_) matcher_->remove(*this);
}

void CallRecords::attach(Comm const& comm) {
    CommMemory const& whole = memory_of(comm);
    std::shared_ptr<CallMatcher> const& all = memory_of(comm.process).call_matcher;
    node_ = whole.multi_node ? whole.multi_node->node.get() : &comm;
    CommMemory const& here = memory_of(*node_);
    bool const alone = here.area.members() < 2 && !whole.multi_node;
    if (!all || !all->enabled || alone) return;
    context_ = comm.context;
    area_ = &here.area;
    rank_ = here.rank;
    try {
        all->add(*this);
    } catch (std::bad_alloc const&) {
        first_records_of(*area_, rank_).state.store(FirstRecords::unknown, std::memory_order_release);
        return;
    }
    matcher_ = all;
    process_ = &comm.process;
    comm_ = &comm;
    last_collective_ = &process_->rank_state().last_call.collective;
    neighbour_ = (rank_ + area_->members() - 1) % area_->members();
    call_site_ = &process_->call_site;
    checkpoint_mask_ = all->compares_each_call ? 0 : (MemberRecords::block - 1) & ~MemberRecords::compare_delay;
    keeps_first_ = !all->compares_each_call && &comm != process_->world.get();
    allocation_tried_ = false;
}

/// Allocates the records. If no memory is left, the rank continues without records, and no rank compares its further
/// calls.
bool CallRecords::allocate_records() {
    allocation_tried_ = true;
    FirstRecords& first = first_records_of(*area_, rank_);
    try {
        records_ = &records_of(*area_, rank_);
    } catch (Error const&) {
        first.state.store(FirstRecords::unknown, std::memory_order_release);
        return false;
    }
    for (std::uint64_t n = 1; n <= number_; ++n) {
        records_->record(n).copy(first.records[n - 1]);
        records_->call(n).store(numbered(n, n), std::memory_order_release);
    }
    first.state.store(FirstRecords::moved, std::memory_order_release);
    area_->mark_called();
    return true;
}

/// Records the call beside this rank's flags if it is one of the first. Otherwise allocates the records and returns
/// true if the caller must record the call there.
bool CallRecords::record_first_call(CallRecord::PreparedCall& call) {
    if (!keeps_first_ || number_ == FirstRecords::capacity) return allocate_records();
    FirstRecords& first = first_records_of(*area_, rank_);
    std::uint64_t const number = number_ + 1;
    call.serial = number;
    first.records[number - 1].write(call);
    first.state.store(static_cast<std::uint32_t>(number), std::memory_order_release);
    area_->mark_called();
    publish_last_collective();
    newest_record_ = number_ = number;
    digest_ = digest_ * 31 + call.digest;
    return false;
}

/// Finds or creates the record of a call that has none, or whose call site has changed.
/// Returns false if the call has already been recorded as one of the first calls, or cannot be recorded.
bool CallRecords::find_record(CallRecord::PreparedCall& call) {
    call.site = reinterpret_cast<std::uintptr_t>(process_->call_site);
    if (!records_ && !record_first_call(call)) {
        call.site = CallRecord::PreparedCall::no_site;
        return false;
    }
    for (std::uint64_t serial = newest_record_; serial > 0 && newest_record_ - serial < MemberRecords::records_kept;
         --serial)
        if (records_->record(serial).is_of(call)) {
            call.serial = serial;
            return true;
        }
    add_record(call);
    return true;
}

void CallRecords::add_record(CallRecord::PreparedCall& call) {
    call.serial = ++newest_record_;
    records_->record(call.serial).write(call);
}

void CallRecords::checkpoint() {
    std::uint64_t const in_block = number_ % MemberRecords::block;
    if (in_block == 0) end_block();
    if (in_block == 0 || checkpoint_mask_ == 0) exchange_between_nodes();
    if (checkpoint_mask_ == 0) return compare();
    if (in_block == MemberRecords::prefetch_delay) __builtin_prefetch(&records_of(*area_, neighbour_).digest(number_));
    if (in_block == MemberRecords::compare_delay) compare_blocks();
}

void CallRecords::end_block() {
    records_->digest(number_).store(block_word(number_, digest_), std::memory_order_release);
    digest_ = 0;
}

/// Compares one word per block as long as these are equal.
void CallRecords::compare_blocks() {
    MemberRecords& peer = records_of(*area_, neighbour_);
    for (std::uint64_t end = (compared_ / MemberRecords::block + 1) * MemberRecords::block; end <= number_;
         end += MemberRecords::block) {
        std::uint64_t const word = peer.digest(end).load(std::memory_order_acquire);
        std::int32_t const ahead =
            distance(static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(end / MemberRecords::block));
        if (ahead < 0) return;   // the neighbour has not completed this block
        if (ahead == 0 && number_ - end < MemberRecords::calls_kept &&
            word != records_->digest(end).load(std::memory_order_relaxed))
            compare_calls(neighbour_, std::max(compared_, end - MemberRecords::block) + 1, end);
        compared_ = end;
    }
}

void CallRecords::compare() {
    if (number_ > compared_) compared_ = compare_calls(neighbour_, compared_ + 1, number_);
}

void CallRecords::compare_last_calls() {
    if (persistent_ == 0) compare_starts();
    exchange_between_nodes(true);
    if (number_ == 0) return;
    // Orders the store of this rank's last record before the loads below: at least one of two ranks sees the other's.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    compare();
    int const other = (rank_ + 1) % area_->members();
    if (other != neighbour_) compare_calls(other, compared_with_.get(other) + 1, number_);
}

void CallRecords::report_mismatch(Error const& error) {
    if (!matcher_ || number_ == 0) return;
    for (int m = 0; m < area_->members(); ++m)
        if (m != rank_) compare_with(m);
    if (error.peer >= 0 && error.peer != process_->rank())
        report_amounts(error.peer, error.what(), {error.call != 0 ? error.call : number_});
}

void CallRecords::report_amounts(int peer, std::string const& text, FailedCall const& call) const {
    if (!matcher_ || number_ == 0 || errors_return()) return;
    RecordedCall const here = call_of(rank_, call.number);
    if (here.number == 0) return;
    NameLookup const names = name_lookup();
    std::vector<UsageError::Call> parts{{process_->rank(), describe(here, names), {}, here.site}};
    if (RecordedCall const there = call_of(member_of(peer), call.number); peer != process_->rank())
        parts.push_back({peer,
                         describe(there.number == 0 ? here : there, names),
                         {},
                         call.peer_site != 0 ? call.peer_site : there.site});
    report(*process_, {"T04", join("in ", here.function.name(), " ", text),
                       "what a rank sends and what the other one expects must be the same amount of the same types: "
                       "check the counts and datatypes on both sides",
                       parts});
}

/// Number 0 in the result: not known.
RecordedCall CallRecords::call_of(int member, std::uint64_t number) const {
    if (member < 0) return {};
    MemberCalls const peer = calls_of(member);
    NumberedRecord const call = peer.call(number);
    bool const is_same = call != 0 && number_of(call) == static_cast<std::uint32_t>(number);
    return is_same ? peer.read(call) : RecordedCall{};
}

void CallRecords::compare_with(int member) {
    if (member == neighbour_) return compare();
    std::uint64_t const compared = compared_with_.get(member);
    if (number_ > compared) compared_with_.set(member, compare_calls(member, compared + 1, number_), area_->members());
}

std::uint64_t CallRecords::compare_calls(int member, std::uint64_t first, std::uint64_t last) {
    return compare_calls(calls_of(member), world_rank(member), member == neighbour_, first, last);
}

/// Returns the last call that both have made. `rank`: owner of `peer`, in MPI_COMM_WORLD. Matching pairs of records
/// are remembered for the neighbour. Blocks with equal digests are skipped.
std::uint64_t CallRecords::compare_calls(MemberCalls const& peer, int rank, bool neighbour, std::uint64_t first,
                                         std::uint64_t last) {
    constexpr std::uint64_t block = MemberRecords::block;
    MemberCalls const own = calls_of(rank_);
    Matching member_matching{};
    Matching& known = neighbour ? matching_ : member_matching;
    if (number_ >= MemberRecords::calls_kept) first = std::max(first, number_ - MemberRecords::calls_kept + 1);
    for (std::uint64_t number = first; number <= last; ++number) {
        if (std::uint64_t const end = number + block - 1; number % block == 1 && end <= last) {
            std::uint64_t const word = peer.digest(end);
            if (word >> 32 == (end / block & UINT32_MAX) && word == own.digest(end)) {
                number = end;
                continue;
            }
        }
        NumberedRecord const call = peer.call(number);
        if (call == 0 || distance(number_of(call), static_cast<std::uint32_t>(number)) < 0) return number - 1;
        ++matcher_->work.calls_compared;
        NumberedRecord const here = own.call(number);
        if (number_of(call) != static_cast<std::uint32_t>(number) || number_of(here) != number_of(call)) continue;
        std::uint64_t const both = here << 32 | (call & UINT32_MAX);
        std::uint64_t& matching = known[here % known.size()];
        if (matching == both) continue;
        if (match(own, here, peer, call, rank)) matching = both;
    }
    return last;
}

void CallRecords::exchange_between_nodes(bool is_last) {
    if (rank_ != 0 || node_ == comm_ || !matcher_ || !matcher_->nodes) return;
    if (number_ == sent_ && !is_last) return matcher_->nodes->receive();
    MemberCalls const own = calls_of(rank_);
    CallBatch batch;
    for (batch.first = sent_ + 1; sent_ < number_ && batch.calls.size() < CallBatch::max_calls; ++sent_)
        batch.add(own.read(own.call(sent_ + 1)));
    batch.is_last = is_last && sent_ == number_;
    if (batch.is_last && no_more_starts_) batch.starts = own_starts();
    matcher_->nodes->send(*comm_, name_lookup(), std::move(batch));
    if (sent_ < number_) exchange_between_nodes(is_last);
}

/// Reports calls that do not match, and then does not return. Returns false if a record has been overwritten, so that
/// this is not known, or if only the amounts differ and errors return to the program.
bool CallRecords::match(MemberCalls const& own, NumberedRecord mine, MemberCalls const& peer_calls, NumberedRecord peer,
                        int rank) const {
    RecordedCall const here = own.read(mine), there = peer_calls.read(peer);
    if (here.number == 0 || there.number == 0) return false;
    Difference const what = difference(here, there);
    if (what == Difference::amount && errors_return()) return false;
    if (what != Difference::none) report_difference(what, here, rank, there);
    return true;
}

/// True if errors return to the program. It then gets MPI_ERR_TRUNCATE if more data arrives than fits, and may be able
/// to handle that.
bool CallRecords::errors_return() const {
    return comm_->errhandler && comm_->errhandler->kind != Errhandler::Kind::fatal;
}

/// True if a member has made its call with this number; it may have made so many calls since that this one is no longer
/// kept.
static bool has_made(MemberCalls const& calls, std::uint64_t number) {
    NumberedRecord const call = calls.call(number);
    return call != 0 && distance(number_of(call), static_cast<std::uint32_t>(number)) >= 0;
}

RecordedCall CallRecords::first_call_missing_at(int member) const {
    if (number_ == 0) return {};
    MemberCalls const peer = calls_of(member);
    if (has_made(peer, number_) || !peer.is_known()) return {};
    MemberCalls const own = calls_of(rank_);
    RecordedCall first;
    for (std::uint64_t n = number_; n > 0 && number_ - n < MemberRecords::calls_kept && !has_made(peer, n); --n) {
        RecordedCall const c = own.read(own.call(n));
        if (c.number != 0 && (c.flags & RecordedCall::blocking)) first = c;
    }
    return first;
}

RecordedCall CallRecords::first_call_missing_here(int member) const {
    MemberCalls const peer = calls_of(member);
    for (std::uint64_t n = number_ + 1; n <= number_ + MemberRecords::calls_kept && has_made(peer, n); ++n) {
        RecordedCall const c = peer.read(peer.call(n));
        if (c.number != 0 && (c.flags & RecordedCall::blocking)) return c;
    }
    return {};
}

int CallRecords::world_rank(int member) const { return node_->union_group->world_rank(member); }

int CallRecords::member_of(int world_rank) const { return node_->union_group->rank_of(world_rank); }

NameLookup CallRecords::name_lookup() const { return {comm_->description(), matcher_->predefined_type}; }

std::string CallRecords::describe_last_call() const {
    if (number_ == 0) return {};
    MemberCalls const own = calls_of(rank_);
    RecordedCall const last = own.read(own.call(number_));
    return last.number == 0 ? "" : describe(last, name_lookup());
}

void CallRecords::report_difference(Difference what, RecordedCall const& call, int rank,
                                    RecordedCall const& peer) const {
    Process& process = *process_;
    NameLookup const names = name_lookup();
    UsageError::Call const parts[] = {{process.rank(), describe(call, names), {}, call.site},
                                      {rank, describe(peer, names), {}, peer.site}};
    report(process, {diagnostic_code(what, call), headline(what, call, process.rank(), peer, rank, names),
                     advice(what, call), parts});
}

void CallRecords::report_order(RecordedCall const& call, int member, CallRecords const& other,
                               RecordedCall const& peer) const {
    Process& process = *process_;
    NameLookup const here = name_lookup(), there = other.name_lookup();
    int const rank = world_rank(member);
    UsageError::Call const parts[] = {{process.rank(), describe(call, here), {}, call.site},
                                      {rank, describe(peer, there), {}, peer.site}};
    // Example for two windows without names: "on a window of 2 ranks first and ... on another window of 2 ranks first".
    std::string other_comm = there.comm;
    if (other_comm == here.comm && other_comm.starts_with("a"))
        other_comm = "another" + other_comm.substr(other_comm.find(' '));
    std::string const text =
        join("rank ", process.rank(), " calls ", call.function.name(), " on ", here.comm, " first and rank ", rank,
             " calls ", peer.function.name(), " on ", other_comm, " first");
    report(process,
           {"T03", text,
            "ranks that two communicators or windows have in common must make their calls on both in the same order",
            parts});
}

}   // namespace tutti::coll
