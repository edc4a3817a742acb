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

struct BatchHeader {
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
    std::size_t index = records.size();
    while (index > 0 && !is_same(records[index - 1], call)) --index;
    if (index == 0) {
        records.push_back(call);
        index = records.size();
    }
    calls.push_back(static_cast<std::uint8_t>(index - 1));
}

std::vector<std::byte> CallBatch::to_bytes() const {
    std::vector<std::byte> bytes;
    BatchHeader const head{
        context, first, static_cast<std::uint32_t>(calls.size()), static_cast<std::uint32_t>(records.size()),
        is_last, starts};
    bytes.reserve(sizeof head + calls.size() + records.size() * sizeof(RecordedCall));
    append(bytes, &head, 1);
    append(bytes, records.data(), records.size());
    append(bytes, calls.data(), calls.size());
    return bytes;
}

CallBatch CallBatch::from_bytes(std::span<std::byte const> bytes) {
    BatchHeader head;
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

NodeExchange::NodePair& NodeExchange::pair_of(Comm const& comm, NameLookup const& names) {
    NodePair& pair = pairs_[comm.context];
    pair.names = names;
    pair.errors_return = comm.errhandler && comm.errhandler->kind != Errhandler::Kind::fatal;
    if (pair.next >= 0) return pair;
    Cluster const& cluster = process_.cluster;
    std::vector<int> masters;   // in the order of their ranks in the communicator
    std::vector<bool> seen(static_cast<std::size_t>(cluster.nodes()));
    for (int const world : comm.union_group->world_ranks()) {
        auto const node = static_cast<std::size_t>(cluster.node_of(world));
        if (!seen[node]) masters.push_back(world);
        seen[node] = true;
    }
    auto const own = std::ranges::find(masters, process_.rank());
    pair.next = own + 1 == masters.end() ? masters.front() : *(own + 1);
    pair.previous = own == masters.begin() ? masters.back() : *(own - 1);
    return pair;
}

void NodeExchange::send(Comm const& comm, NameLookup const& names, CallBatch batch) {
    batch.context = comm.context;
    NodePair& pair = pair_of(comm, names);
    pair.is_last_sent |= batch.is_last;
    pair.sent_starts = batch.starts;
    mailbox_.send(batch.to_bytes(), pair.next);
    if (!batch.calls.empty()) pair.sent.push_back(std::move(batch));
    if (pair.sent.size() > max_batches) pair.sent.pop_front();
    compare(comm.context);
    receive();
}

void NodeExchange::receive() {
    while (std::optional<std::vector<std::byte>> const bytes = mailbox_.next()) receive(CallBatch::from_bytes(*bytes));
}

void NodeExchange::receive(CallBatch batch) {
    std::uint64_t const context = batch.context;
    NodePair& pair = pairs_[context];
    pair.is_last_received |= batch.is_last;
    pair.received_starts = batch.starts;
    if (!batch.calls.empty()) pair.received.push_back(std::move(batch));
    if (pair.received.size() > max_batches) pair.received.pop_front();
    compare(context);
}

/// Compares up to the last call that both sides have given, and erases a conversation that is complete.
void NodeExchange::compare(std::uint64_t context) {
    auto const at = pairs_.find(context);
    if (at == pairs_.end()) return;
    NodePair& pair = at->second;
    while (!pair.sent.empty() && !pair.received.empty()) {
        CallBatch const &local = pair.sent.front(), &remote = pair.received.front();
        std::uint64_t const end = std::min(local.end(), remote.end());
        for (std::uint64_t number = std::max(local.first, remote.first); number < end; ++number) {
            RecordedCall here = local.call(number), there = remote.call(number);
            if (here.number == 0 || there.number == 0) continue;
            Difference const what = difference(here, there);
            if (what == Difference::none || (what == Difference::amount && pair.errors_return)) continue;
            here.number = there.number = static_cast<std::uint32_t>(number);
            report(pair, here, there, what);
        }
        bool const is_local_done = local.end() == end, is_remote_done = remote.end() == end;
        if (is_local_done) pair.sent.pop_front();
        if (is_remote_done) pair.received.pop_front();
    }
    if (!pair.is_last_sent || !pair.is_last_received) return;
    Starts const &local = pair.sent_starts, &remote = pair.received_starts;
    if (local.rank >= 0 && remote.rank >= 0 && local.count != remote.count)
        report_start_mismatch(process_, pair.names.comm, local, remote);
    pairs_.erase(at);
}

void NodeExchange::report(NodePair const& pair, RecordedCall const& here, RecordedCall const& there, Difference what) {
    UsageError::Call const parts[] = {{process_.rank(), describe(here, pair.names), {}, here.site},
                                      {pair.previous, describe(there, pair.names), {}, there.site}};
    tutti::report(process_,
                  {diagnostic_code(what, here), headline(what, here, process_.rank(), there, pair.previous, pair.names),
                   advice(what, here), parts});
}

/// Waits until receive() has received all messages. receive() may have begun to receive a message whose data has not
/// arrived; a second receive would then wait for a message that no rank sends.
void NodeExchange::finish() {
    auto const is_open = [](auto const& one) { return one.second.is_last_sent && !one.second.is_last_received; };
    receive();
    for (auto one = std::ranges::find_if(pairs_, is_open); one != pairs_.end();
         one = std::ranges::find_if(pairs_, is_open)) {
        std::uint64_t const context = one->first;
        auto const is_complete = [&] {
            receive();
            auto const still = pairs_.find(context);
            return still == pairs_.end() || !is_open(*still);
        };
        process_.waiter.wait_until(is_complete, {"MPI_Finalize", one->second.previous});
    }
}

}   // namespace tutti::coll
