// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/node_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "coll/match/call_record.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

struct Head {
    std::uint64_t context, first;
    std::uint32_t calls, records, is_last;
    Starts starts;
};
static_assert(std::is_trivially_copyable_v<RecordedCall>);

bool is_same(RecordedCall const& a, RecordedCall const& b) {
    return (a.number == 0) == (b.number == 0) && a.digest() == b.digest() && a.type == b.type && a.site == b.site;
}

template <class T>
void append(std::vector<std::byte>& to, T const* from, std::size_t n) {
    auto const bytes = std::as_bytes(std::span(from, n));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

}   // namespace

void CallBatch::add(RecordedCall const& call) {
    // Programs make few distinct calls and repeat them soon.
    std::size_t place = records.size();
    while (place > 0 && !is_same(records[place - 1], call)) --place;
    if (place == 0) {
        records.push_back(call);
        place = records.size();
    }
    calls.push_back(static_cast<std::uint8_t>(place - 1));
}

std::vector<std::byte> CallBatch::to_bytes() const {
    std::vector<std::byte> bytes;
    Head const head{
        context, first, static_cast<std::uint32_t>(calls.size()), static_cast<std::uint32_t>(records.size()),
        is_last, starts};
    bytes.reserve(sizeof head + calls.size() + records.size() * sizeof(RecordedCall));
    append(bytes, &head, 1);
    append(bytes, records.data(), records.size());
    append(bytes, calls.data(), calls.size());
    return bytes;
}

CallBatch CallBatch::from_bytes(std::span<std::byte const> bytes) {
    Head head;
    std::memcpy(&head, bytes.data(), sizeof head);
    CallBatch batch;
    batch.context = head.context;
    batch.first = head.first;
    batch.is_last = head.is_last != 0;
    batch.starts = head.starts;
    batch.records.resize(head.records);
    batch.calls.resize(head.calls);
    std::byte const* const records = bytes.data() + sizeof head;
    std::size_t const record_bytes = head.records * sizeof(RecordedCall);
    if (head.records > 0) std::memcpy(batch.records.data(), records, record_bytes);
    if (head.calls > 0) std::memcpy(batch.calls.data(), records + record_bytes, head.calls);
    return batch;
}

NodeExchange::Conversation& NodeExchange::conversation(Comm const& comm, Wording const& wording) {
    Conversation& about = conversations_[comm.context];
    about.wording = wording;
    about.errors_return = comm.errhandler && comm.errhandler->kind != Errhandler::Kind::fatal;
    if (about.next >= 0) return about;
    Cluster const& cluster = process_.cluster;
    std::vector<int> masters;   // in the order of their ranks in the communicator
    std::vector<bool> seen(static_cast<std::size_t>(cluster.nodes()));
    for (int const world : comm.union_group->world_ranks()) {
        auto const node = static_cast<std::size_t>(cluster.node_of(world));
        if (!seen[node]) masters.push_back(world);
        seen[node] = true;
    }
    auto const me = std::ranges::find(masters, process_.rank());
    about.next = me + 1 == masters.end() ? masters.front() : *(me + 1);
    about.previous = me == masters.begin() ? masters.back() : *(me - 1);
    return about;
}

void NodeExchange::give(Comm const& comm, Wording const& wording, CallBatch batch) {
    batch.context = comm.context;
    Conversation& about = conversation(comm, wording);
    about.is_last_given |= batch.is_last;
    about.given_starts = batch.starts;
    mail_.send(batch.to_bytes(), about.next);
    if (!batch.calls.empty()) about.given.push_back(std::move(batch));
    if (about.given.size() > most_batches) about.given.pop_front();
    compare(comm.context);
    take();
}

void NodeExchange::take() {
    while (std::optional<std::vector<std::byte>> const bytes = mail_.next()) take(CallBatch::from_bytes(*bytes));
}

void NodeExchange::take(CallBatch batch) {
    std::uint64_t const context = batch.context;
    Conversation& about = conversations_[context];
    about.is_last_taken |= batch.is_last;
    about.taken_starts = batch.starts;
    if (!batch.calls.empty()) about.taken.push_back(std::move(batch));
    if (about.taken.size() > most_batches) about.taken.pop_front();
    compare(context);
}

/// Compares up to the last call that both sides have given, and erases a conversation that is complete.
void NodeExchange::compare(std::uint64_t context) {
    auto const at = conversations_.find(context);
    if (at == conversations_.end()) return;
    Conversation& about = at->second;
    while (!about.given.empty() && !about.taken.empty()) {
        CallBatch const &mine = about.given.front(), &theirs = about.taken.front();
        std::uint64_t const end = std::min(mine.end(), theirs.end());
        for (std::uint64_t number = std::max(mine.first, theirs.first); number < end; ++number) {
            RecordedCall here = mine.call(number), there = theirs.call(number);
            if (here.number == 0 || there.number == 0) continue;
            Difference const what = difference(here, there);
            if (what == Difference::none || (what == Difference::amount && about.errors_return)) continue;
            here.number = there.number = static_cast<std::uint32_t>(number);
            report(about, here, there, what);
        }
        bool const is_mine_over = mine.end() == end, is_theirs_over = theirs.end() == end;
        if (is_mine_over) about.given.pop_front();
        if (is_theirs_over) about.taken.pop_front();
    }
    if (!about.is_last_given || !about.is_last_taken) return;
    Starts const &mine = about.given_starts, &theirs = about.taken_starts;
    if (mine.rank >= 0 && theirs.rank >= 0 && mine.times != theirs.times)
        report_starts(process_, about.wording.comm, mine, theirs);
    conversations_.erase(at);
}

void NodeExchange::report(Conversation const& about, RecordedCall const& here, RecordedCall const& there,
                          Difference what) {
    Mistake::Part const parts[] = {{process_.rank(), in_words(here, about.wording), {}, here.site},
                                   {about.previous, in_words(there, about.wording), {}, there.site}};
    tutti::report(process_,
                  {code(what, here), headline(what, here, process_.rank(), there, about.previous, about.wording),
                   help(what, here), parts});
}

/// Waits until take() has received all messages. take() may have begun to receive a message whose data has not arrived;
/// a second receive would then wait for a message that no rank sends.
void NodeExchange::finish() {
    auto const open = [](auto const& one) { return one.second.is_last_given && !one.second.is_last_taken; };
    take();
    for (auto one = std::ranges::find_if(conversations_, open); one != conversations_.end();
         one = std::ranges::find_if(conversations_, open)) {
        std::uint64_t const context = one->first;
        auto const over = [&] {
            take();
            auto const still = conversations_.find(context);
            return still == conversations_.end() || !open(*still);
        };
        process_.waiter.until(over, {"MPI_Finalize", one->second.previous});
    }
}

}   // namespace tutti::coll
