// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/pending.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {
namespace {

std::uintptr_t begin_of(Data const& data) { return reinterpret_cast<std::uintptr_t>(data.base); }

}   // namespace

std::string Pending::words() const {
    Blockage blockage;
    request->tell(blockage);
    std::size_t const of = blockage.call.find(" of ");
    return join(call, "(", of == std::string::npos ? blockage.call : blockage.call.substr(of + 4), ")");
}

Pending& PendingOperations::add(Pending operation) {
    Request const* const request = operation.request;
    remove(*request);
    Pending& mine = all_.emplace(request, std::move(operation)).first->second;
    if (mine.data.dense() && mine.data.bytes != 0) {
        by_address_.emplace(begin_of(mine.data), &mine);
        longest_ = std::max(longest_, mine.data.bytes);
    }
    return mine;
}

Pending* PendingOperations::find(Request const& request) {
    auto const found = all_.find(&request);
    return found == all_.end() ? nullptr : &found->second;
}

void PendingOperations::remove(Request const& request) {
    auto const found = all_.find(&request);
    if (found == all_.end()) return;
    unlist(found->second);
    all_.erase(found);
}

void PendingOperations::unlist(Pending const& operation) {
    auto [at, end] = by_address_.equal_range(begin_of(operation.data));
    for (; at != end; ++at)
        if (at->second == &operation) return void(by_address_.erase(at));
}

Pending const* PendingOperations::overlapping(Data const& data, bool also_sends) const {
    if (!data.dense() || data.bytes == 0) return nullptr;
    std::uintptr_t const first = begin_of(data), end = first + data.bytes;
    for (auto at = by_address_.lower_bound(first - std::min<std::uintptr_t>(first, longest_));
         at != by_address_.end() && at->first < end; ++at)
        if (at->first + at->second->data.bytes > first && (at->second->receives || also_sends)) return at->second;
    return nullptr;
}

std::vector<Pending*> PendingOperations::on(Comm const& comm) {
    std::vector<Pending*> found;
    for (auto& [request, pending] : all_)
        if (request->comm.get() == &comm) found.push_back(&pending);
    return found;
}

std::vector<Pending const*> PendingOperations::given_up() const {
    std::vector<Pending const*> found;
    for (auto const& [request, pending] : all_)
        if (pending.given_up) found.push_back(&pending);
    return found;
}

}   // namespace tutti::p2p
