// SPDX-License-Identifier: BSD-3-Clause
// The table of pending operations, and the report of requests freed while active (T07).
#include "p2p/check/pending.hpp"

#include <algorithm>
#include <utility>

#include "p2p/check/operation_buffers.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/state/call_site.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {
namespace {

std::uintptr_t begin_of(Data const& data) { return reinterpret_cast<std::uintptr_t>(data.base); }

}   // namespace

std::string Pending::describe() const {
    if (operation) return operation->describe(*this);
    BlockedCall blocked;
    request->describe(blocked);
    std::size_t const of = blocked.call.find(" of ");
    return join(function.name(), "(", of == std::string::npos ? blocked.call : blocked.call.substr(of + 4), ")");
}

char const* Pending::role() const {
    if (operation && operation->is_one_sided()) return receives ? "result" : "origin";
    return receives ? "receive" : "send";
}

char const* Pending::completing_calls() const {
    bool const one_sided = operation && operation->is_one_sided();
    return one_sided ? "MPI_Win_flush_local, MPI_Win_unlock, MPI_Win_fence or the like" : "MPI_Wait";
}

char const* Pending::reuse_condition() const {
    if (!operation)
        return receives ? "MPI_Wait or MPI_Test reports that the message has arrived"
                        : "MPI_Wait or MPI_Test reports that the send is complete";
    return !operation->is_one_sided()
               ? "MPI_Wait or MPI_Test reports that the operation is complete"
               : "the operation is complete here (MPI_Win_flush_local, MPI_Win_unlock, MPI_Win_fence or the like)";
}

std::size_t PendingOperations::home_index(Request const* request) const {
    return reinterpret_cast<std::uintptr_t>(request) * 0x9e3779b97f4a7c15 >> 32 & (table_.size() - 1);
}

/// Returns the index of the request's entry, or of the free one where it would be stored.
std::size_t PendingOperations::index_of(Request const* request) const {
    std::size_t index = home_index(request);
    while (table_[index].request && table_[index].request != request) index = next(index);
    return index;
}

void PendingOperations::grow() {
    std::vector<Entry> const former = std::exchange(table_, std::vector<Entry>(2 * table_.size()));
    for (Entry const& entry : former)
        if (entry.request) table_[index_of(entry.request)] = entry;
}

/// Empties an entry and moves the following ones forward that linear probing would not find any more.
void PendingOperations::close_gap(std::size_t gap) {
    std::size_t const mask = table_.size() - 1;
    for (std::size_t index = next(gap); table_[index].request; index = next(index)) {
        std::size_t const from_home = (index - home_index(table_[index].request)) & mask;
        if (from_home < ((index - gap) & mask)) continue;
        table_[gap] = table_[index];
        gap = index;
    }
    table_[gap].request = nullptr;
}

Pending& PendingOperations::add(Pending&& operation) {
    Request const* const request = operation.request;
    remove(*request);
    if (2 * (all_.size() + 1) > table_.size()) grow();
    Part const at = add_part(std::move(operation));
    table_[index_of(request)] = {request, at};
    return at->second;
}

PendingOperations::Part PendingOperations::add_part(Pending&& part) {
    Part at;
    if (spare_.empty()) {
        if (spare_.capacity() <= all_.size()) spare_.reserve(2 * all_.size() + 8);
        at = all_.emplace(begin_of(part.data), Pending());
    } else {
        spare_.back().key() = begin_of(part.data);
        at = all_.insert(std::move(spare_.back()));
        spare_.pop_back();
    }
    Pending& stored = at->second;
    stored = std::move(part);
    if (stored.data.dense()) longest_ = std::max(longest_, stored.data.bytes);
    return at;
}

void PendingOperations::remove_part(Part part) {
    part->second.staging.reset();
    spare_.push_back(all_.extract(part));
}

Pending* PendingOperations::find(Request const& request) {
    Entry& entry = table_[index_of(&request)];
    return entry.request ? &entry.at->second : nullptr;
}

void PendingOperations::remove(Request const& request) {
    std::size_t const index = index_of(&request);
    if (!table_[index].request) return;
    ByAddress::iterator const at = table_[index].at;
    close_gap(index);
    remove_part(at);
}

Pending const* PendingOperations::overlapping(Data const& data, bool also_sends) const {
    if (all_.empty() || !data.dense() || data.bytes == 0) return nullptr;
    std::uintptr_t const first = begin_of(data), end = first + data.bytes;
    for (auto at = all_.lower_bound(first - std::min<std::uintptr_t>(first, longest_));
         at != all_.end() && at->first < end; ++at) {
        Pending const& other = at->second;
        if (!other.data.dense() || other.data.bytes == 0 || at->first + other.data.bytes <= first) continue;
        if (other.receives || also_sends) return &other;
    }
    return nullptr;
}

std::vector<Pending*> PendingOperations::on(Comm const& comm) {
    std::vector<Pending*> found;
    for (auto& [address, pending] : all_)
        if (pending.request && pending.request->comm.get() == &comm) found.push_back(&pending);
    return found;
}

std::vector<Pending const*> PendingOperations::with_freed_comm() const {
    std::vector<Pending const*> found;
    for (auto const& [address, pending] : all_)
        if (pending.comm_freed_by) found.push_back(&pending);
    return found;
}

void FreedActiveRequests::add(bool receives, StartPoint const& start, std::string call, std::uint64_t site) {
    if (!receives && (start.updates == clock_.updates() || clock_.latest_known_elsewhere() >= start.event)) return;
    std::uint64_t const freed_at = program_site(process_.call_site);
    auto const same = std::ranges::find_if(all_, [&](Record const& one) {
        return one.receives == receives && one.site == site && one.freed_at == freed_at && one.call == call;
    });
    if (same == all_.end() && all_.size() == max_records) return;
    if (same == all_.end()) return all_.push_back({receives, start.event, std::move(call), site, freed_at, 1});
    same->event = start.event;   // what is known about the last one holds for the earlier ones, too
    ++same->times;
}

void FreedActiveRequests::finish() {
    auto const is_known = [this](Record const& one) {
        return !one.receives && (clock_.is_uncertain() || clock_.latest_known_elsewhere() >= one.event);
    };
    std::erase_if(all_, is_known);
    if (all_.empty()) return;
    Record const& one = all_.front();
    std::string const freed =
        one.times == 1 ? "freed while it was active" : join("freed while active, ", one.times, " times");
    UsageError::Call const parts[] = {
        {process_.rank(), one.call, "began here", one.site},
        {process_.rank(), "MPI_Request_free(request)",
         all_.size() == 1 ? freed : join(freed, ", and ", all_.size() - 1, " others"), one.freed_at}};
    warn(process_,
         {"T07",
          join("the request of an active ", one.receives ? "receive" : "send",
               " was freed, and the program cannot know whether it is complete"),
          one.receives ? "complete the receive (MPI_Wait): after MPI_Request_free the program cannot know when "
                         "its data has arrived; cancel a receive that is not needed (MPI_Cancel)"
                       : "complete the send (MPI_Wait): MPI_Request_free does not, and the buffer may be "
                         "changed only after the receiver has answered",
          parts});
}

}   // namespace tutti::p2p
