// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/call_records.hpp"

#include <algorithm>
#include <iterator>

#include "coll/match/functions.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnosis/mistake.hpp"

namespace tutti::coll {
namespace {

constexpr int records_tag = 1402;   // of messages in the library's own context

/// How far `b` is behind `a`; numbers wrap.
std::int32_t distance(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b); }

std::uint64_t block_word(std::uint64_t number, std::uint64_t digest) {
    return number / MemberRecords::block << 32 | (digest >> 32 ^ (digest & UINT32_MAX));
}

}   // namespace

AllCallRecords::AllCallRecords(Process& process)
    : on(process.variables.diagnosis != "no"), at_every_call(process.variables.diagnosis == "full") {}

void AllCallRecords::compare_between_nodes() const {
    for (CallRecords* records : all)
        if (records->is_of_world()) records->compare_between_nodes();
}

void AllCallRecords::compare() const {
    std::vector<CallRecords*> taken;
    std::ranges::copy_if(all, std::back_inserter(taken),
                         [](CallRecords* records) { return records->taken_by_anybody(); });
    for (CallRecords* records : taken) records->compare_with_all();
    // The members' calls are read before it is read whether this rank's own are still missing there.
    CallsAhead ahead;
    for (CallRecords* records : taken) records->add_calls_ahead(ahead);
    for (CallRecords* records : taken) records->compare_order(ahead);
}

CallRecords::~CallRecords() {
    if (!known_to_) return;
    auto& all = known_to_->all;
    all.erase(std::ranges::find(all, this));
}

void CallRecords::belong_to(Comm const& comm) {
    CommMemory const& whole = memory_of(comm);
    std::shared_ptr<AllCallRecords> const& all = memory_of(comm.process).call_records;
    node_ = whole.multi_node ? whole.multi_node->node.get() : &comm;
    CommMemory const& here = memory_of(*node_);
    // A rank that is alone on its node is compared with other nodes.
    bool const alone = here.area.members() < 2 && !(whole.multi_node && &comm == comm.process.world.get());
    if (!all || !all->on || alone) return;
    try {
        all->all.push_back(this);
    } catch (std::bad_alloc const&) { return; }
    known_to_ = all;
    process_ = &comm.process;
    comm_ = &comm;
    area_ = &here.area;
    rank_ = here.rank;
    neighbour_ = (rank_ + area_->members() - 1) % area_->members();
    call_site_ = &process_->call_site;
    look_mask_ = all->at_every_call ? 0 : (MemberRecords::block - 1) & ~MemberRecords::until_compared;
    keeps_first_ = !all->at_every_call && &comm != process_->world.get();
    tried_ = false;
}

/// Without memory for records a rank goes on without them, and nobody compares with it.
bool CallRecords::open() {
    tried_ = true;
    try {
        mine_ = &records_of(*area_, rank_);
    } catch (Error const&) { return false; }
    if (number_ != 0) {
        record_call(first_);
        mine_->call(number_).store(numbered(number_, first_.serial), std::memory_order_release);
    }
    mine_->complete.store(1, std::memory_order_release);
    return true;
}

/// Many communicators are used once, and a page for their records would be half of what they take. So the first call is
/// kept until there is a second one, or somebody waits for long. True: records can be taken now.
bool CallRecords::begin(CallRecord::Prepared const& call) {
    if (!keeps_first_ || number_ != 0) return open();
    first_ = call;
    digest_ = call.digest;
    number_ = 1;
    return false;
}

/// A call that is not among the records, or made at another place than when it was recorded. True: now it is there.
bool CallRecords::find_record(CallRecord::Prepared& call) {
    call.site = reinterpret_cast<std::uintptr_t>(process_->call_site);
    if (!mine_ && !begin(call)) {
        call.site = CallRecord::Prepared::no_site;
        return false;
    }
    for (std::uint64_t serial = newest_record_; serial > 0 && newest_record_ - serial < MemberRecords::records_kept;
         --serial)
        if (mine_->record(serial).is_of(call)) {
            call.serial = serial;
            return true;
        }
    record_call(call);
    return true;
}

void CallRecords::record_call(CallRecord::Prepared& call) {
    call.serial = ++newest_record_;
    mine_->record(call.serial).write(call);
}

void CallRecords::look() {
    std::uint64_t const in_block = number_ % MemberRecords::block;
    if (in_block == 0) end_block();
    if (look_mask_ == 0) return compare();
    if (in_block == MemberRecords::until_fetched) __builtin_prefetch(&records_of(*area_, neighbour_).digest(number_));
    if (in_block == MemberRecords::until_compared) compare_blocks();
}

void CallRecords::end_block() {
    mine_->digest(number_).store(block_word(number_, digest_), std::memory_order_release);
    digest_ = 0;
}

/// One word per block as long as it is equal.
void CallRecords::compare_blocks() {
    MemberRecords& theirs = records_of(*area_, neighbour_);
    for (std::uint64_t end = (compared_ / MemberRecords::block + 1) * MemberRecords::block; end <= number_;
         end += MemberRecords::block) {
        std::uint64_t const word = theirs.digest(end).load(std::memory_order_acquire);
        std::int32_t const ahead =
            distance(static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(end / MemberRecords::block));
        if (ahead < 0) return;   // not there yet
        if (ahead == 0 && number_ - end < MemberRecords::calls_kept &&
            word != mine_->digest(end).load(std::memory_order_relaxed))
            compare_calls(neighbour_, std::max(compared_, end - MemberRecords::block) + 1, end);
        compared_ = end;
    }
}

void CallRecords::compare() {
    if (mine_) compared_ = compare_calls(neighbour_, compared_ + 1, number_);
}

void CallRecords::compare_with_all() {
    if (!mine_) return;
    compared_with_.resize(static_cast<std::size_t>(area_->members()));
    for (int m = 0; m < area_->members(); ++m) {
        std::uint64_t& compared = compared_with_[static_cast<std::size_t>(m)];
        if (m != rank_) compared = compare_calls(m, compared + 1, number_);
    }
}

std::uint64_t CallRecords::compare_calls(int member, std::uint64_t first, std::uint64_t last) {
    return compare_calls(records_of(*area_, member), node_->union_group->world_rank(member), member == neighbour_,
                         first, last);
}

/// Returns up to which call both have come. `rank`: whose records those are, of MPI_COMM_WORLD; what they say of a call
/// that is made again and again is known of the neighbour.
std::uint64_t CallRecords::compare_calls(MemberRecords const& theirs, int rank, bool neighbour, std::uint64_t first,
                                         std::uint64_t last) {
    if (number_ >= MemberRecords::calls_kept) first = std::max(first, number_ - MemberRecords::calls_kept + 1);
    for (std::uint64_t number = first; number <= last; ++number) {
        NumberedRecord const call = theirs.calls[number % MemberRecords::calls_kept].load(std::memory_order_acquire);
        if (call == 0 || distance(number_of(call), static_cast<std::uint32_t>(number)) < 0) return number - 1;
        NumberedRecord const here = mine_->call(number).load(std::memory_order_relaxed);
        if (number_of(call) != static_cast<std::uint32_t>(number) || number_of(here) != number_of(call)) continue;
        std::uint64_t const both = here << 32 | (call & UINT32_MAX);
        std::uint64_t& matching = matching_[here % matching_.size()];
        if (neighbour && matching == both) continue;
        if (match(here, theirs, call, rank) && neighbour) matching = both;
    }
    return last;
}

// Records are plain words, and those that are sent are this rank's own, which it does not write to meanwhile.
void CallRecords::compare_between_nodes() {
    if (rank_ != 0 || node_ == comm_) return;
    Cluster const& cluster = process_->cluster;
    std::vector<int> first(static_cast<std::size_t>(cluster.nodes()), -1);   // rank of each node
    for (int r = process_->size(); r-- > 0;) first[static_cast<std::size_t>(cluster.node_of(r))] = r;
    std::size_t const nodes = first.size(), here = static_cast<std::size_t>(cluster.node_of(process_->rank()));
    int const next = first[(here + 1) % nodes], previous = first[(here + nodes - 1) % nodes];
    static MemberRecords const none{};
    MemberRecords const& mine = mine_ ? *mine_ : none;
    auto const theirs = std::make_unique<MemberRecords>();
    p2p::sendrecv_bytes(*process_->world, &mine, sizeof mine, next, theirs.get(), sizeof *theirs, previous, records_tag,
                        "MPI_Finalize");
    if (mine_) compare_calls(*theirs, previous, false, 1, number_);
}

/// Does not return where they do not match. False: nobody knows, as one has been overwritten.
bool CallRecords::match(NumberedRecord mine, MemberRecords const& records, NumberedRecord theirs, int rank) {
    RecordedCall const here = mine_->read(mine), there = records.read(theirs);
    if (here.number == 0 || there.number == 0) return false;
    Difference const what = difference(here, there);
    if (what == Difference::amount && errors_return()) return false;
    if (what != Difference::none) tell(what, here, rank, there);
    return true;
}

/// Then the program gets MPI_ERR_TRUNCATE where more comes than it has room for, and may know what to do.
bool CallRecords::errors_return() const {
    return comm_->errhandler && comm_->errhandler->kind != Errhandler::Kind::fatal;
}

/// Has the member made its call with that number? It may have made so many since that this one is not kept.
bool CallRecords::made_by(int member, std::uint64_t number) const {
    NumberedRecord const call = records_of(*area_, member).call(number).load(std::memory_order_acquire);
    return call != 0 && distance(number_of(call), static_cast<std::uint32_t>(number)) >= 0;
}

/// The first blocking call that this rank has made and the member has not; number 0: none.
RecordedCall CallRecords::missed_by(int member) const {
    if (records_of(*area_, member).complete.load(std::memory_order_acquire) == 0)
        return {};   // it may keep its first one
    RecordedCall first;
    for (std::uint64_t n = number_; n > 0 && number_ - n < MemberRecords::calls_kept && !made_by(member, n); --n) {
        RecordedCall const c = mine_->read(mine_->call(n).load(std::memory_order_relaxed));
        if (c.number != 0 && (c.flags & RecordedCall::blocking)) first = c;
    }
    return first;
}

/// The first blocking call that the member has made and this rank has not; number 0: none.
RecordedCall CallRecords::call_beyond(int member) const {
    MemberRecords& theirs = records_of(*area_, member);
    for (std::uint64_t n = number_ + 1; n <= number_ + MemberRecords::calls_kept && made_by(member, n); ++n) {
        RecordedCall const c = theirs.read(theirs.call(n).load(std::memory_order_acquire));
        if (c.number != 0 && (c.flags & RecordedCall::blocking)) return c;
    }
    return {};
}

int CallRecords::member_of(int world_rank) const { return node_->union_group->rank_of(world_rank); }

void CallRecords::add_calls_ahead(CallsAhead& ahead) const {
    if (process_->many_threads) return;   // there is no order of the calls of several threads
    for (int m = 0; mine_ && m < area_->members(); ++m) {
        if (m == rank_) continue;
        if (RecordedCall const call = call_beyond(m); call.number != 0)
            ahead.try_emplace(node_->union_group->world_rank(m), CallAhead{this, call});
    }
}

// This rank has made its call on this communicator before the one on the other, which it has not made yet. The member
// has made that one first, if this one is still missing there now. Each would wait for the other if both calls waited
// for all members, and a program must not rely on that they do not (MPI 3.1, 5.13).
void CallRecords::compare_order(CallsAhead const& ahead) const {
    for (auto const& [rank, theirs] : ahead) {
        int const m = mine_ ? member_of(rank) : -1;
        if (m < 0) continue;
        RecordedCall const missed = missed_by(m);
        if (missed.number != 0) tell_order(missed, m, *theirs.records, theirs.call);
    }
}

Wording CallRecords::wording() const { return {comm_->words(), known_to_->predefined_type}; }

std::string CallRecords::last_in_words() const {
    RecordedCall last;
    if (mine_) last = mine_->read(mine_->call(number_).load(std::memory_order_relaxed));
    else if (number_ != 0) {
        CallRecord kept;
        kept.write(first_);
        last = kept.read(static_cast<std::uint32_t>(first_.serial), static_cast<std::uint32_t>(number_));
    }
    return last.number == 0 ? "" : in_words(last, wording());
}

void CallRecords::tell(Difference what, RecordedCall const& call, int rank, RecordedCall const& theirs) const {
    Process& process = *process_;
    Wording const words = wording();
    Mistake::Part const parts[] = {{process.rank(), in_words(call, words), {}, call.site},
                                   {rank, in_words(theirs, words), {}, theirs.site}};
    report(process, {what == Difference::function ? "T03" : "T04",
                     headline(what, call, process.rank(), theirs, rank, words), help(what), parts});
}

void CallRecords::tell_order(RecordedCall const& call, int member, CallRecords const& other,
                             RecordedCall const& theirs) const {
    Process& process = *process_;
    Wording const here = wording(), there = other.wording();
    int const rank = node_->union_group->world_rank(member);
    Mistake::Part const parts[] = {{process.rank(), in_words(call, here), {}, call.site},
                                   {rank, in_words(theirs, there), {}, theirs.site}};
    std::string const text =
        join("rank ", process.rank(), " calls ", function_name(call.function), " on ", here.comm, " first and rank ",
             rank, " calls ", function_name(theirs.function), " on ", there.comm, " first");
    report(process,
           {"T03", text, "ranks that two communicators have in common must make their calls on both in the same order",
            parts});
}

}   // namespace tutti::coll
