// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/pending.hpp"

#include <algorithm>
#include <utility>

#include "p2p/check/operation_buffers.hpp"
#include "runtime/base/error.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {
namespace {

std::uintptr_t begin_of(Data const& data) { return reinterpret_cast<std::uintptr_t>(data.base); }

}   // namespace

std::string Pending::words() const {
    if (operation) return operation->words(*this);
    Blockage blockage;
    request->tell(blockage);
    std::size_t const of = blockage.call.find(" of ");
    return join(call, "(", of == std::string::npos ? blockage.call : blockage.call.substr(of + 4), ")");
}

char const* Pending::role() const {
    if (operation && operation->is_one_sided()) return receives ? "result" : "origin";
    return receives ? "receive" : "send";
}

char const* Pending::completion() const {
    bool const one_sided = operation && operation->is_one_sided();
    return one_sided ? "MPI_Win_flush_local, MPI_Win_unlock, MPI_Win_fence or the like" : "MPI_Wait";
}

char const* Pending::end() const {
    if (!operation)
        return receives ? "MPI_Wait or MPI_Test says that the message is there"
                        : "MPI_Wait or MPI_Test says that the send is complete";
    return !operation->is_one_sided()
               ? "MPI_Wait or MPI_Test says that the operation is complete"
               : "the operation is complete here (MPI_Win_flush_local, MPI_Win_unlock, MPI_Win_fence or the like)";
}

std::size_t PendingOperations::home_of(Request const* request) const {
    return reinterpret_cast<std::uintptr_t>(request) * 0x9e3779b97f4a7c15 >> 32 & (table_.size() - 1);
}

/// Its own, or the one that it would have.
std::size_t PendingOperations::place_of(Request const* request) const {
    std::size_t place = home_of(request);
    while (table_[place].request && table_[place].request != request) place = next(place);
    return place;
}

void PendingOperations::grow() {
    std::vector<Entry> const former = std::exchange(table_, std::vector<Entry>(2 * table_.size()));
    for (Entry const& entry : former)
        if (entry.request) table_[place_of(entry.request)] = entry;
}

/// Moves up those behind it that have their places because this one was taken.
void PendingOperations::close_gap(std::size_t gap) {
    std::size_t const mask = table_.size() - 1;
    for (std::size_t place = next(gap); table_[place].request; place = next(place)) {
        std::size_t const from_home = (place - home_of(table_[place].request)) & mask;
        if (from_home < ((place - gap) & mask)) continue;
        table_[gap] = table_[place];
        gap = place;
    }
    table_[gap].request = nullptr;
}

Pending& PendingOperations::add(Pending&& operation) {
    Request const* const request = operation.request;
    remove(*request);
    if (2 * (all_.size() + 1) > table_.size()) grow();
    Part const at = add_part(std::move(operation));
    table_[place_of(request)] = {request, at};
    return at->second;
}

PendingOperations::Part PendingOperations::add_part(Pending&& part) {
    Part at;
    if (spare_.empty()) {
        at = all_.emplace(begin_of(part.data), Pending());
    } else {
        spare_.back().key() = begin_of(part.data);
        at = all_.insert(std::move(spare_.back()));
        spare_.pop_back();
    }
    Pending& mine = at->second;
    mine = std::move(part);
    if (mine.data.dense()) longest_ = std::max(longest_, mine.data.bytes);
    return at;
}

void PendingOperations::remove_part(Part part) {
    part->second.aside.reset();
    spare_.push_back(all_.extract(part));
}

Pending* PendingOperations::find(Request const& request) {
    Entry& entry = table_[place_of(&request)];
    return entry.request ? &entry.at->second : nullptr;
}

void PendingOperations::remove(Request const& request) {
    std::size_t const place = place_of(&request);
    if (!table_[place].request) return;
    ByAddress::iterator const at = table_[place].at;
    close_gap(place);
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

std::vector<Pending const*> PendingOperations::given_up() const {
    std::vector<Pending const*> found;
    for (auto const& [address, pending] : all_)
        if (pending.given_up) found.push_back(&pending);
    return found;
}

}   // namespace tutti::p2p
