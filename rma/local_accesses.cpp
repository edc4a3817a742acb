// SPDX-License-Identifier: BSD-3-Clause
// Comparison of a part of a window with its copy, and the origin buffers of operations in progress.
#include "rma/local_accesses.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "p2p/check/checks.hpp"
#include "p2p/engine.hpp"
#include "rma/access_check.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

void LocalStores::begin_epoch(void const* base, std::int64_t bytes, std::uint64_t site) {
    is_open_ = base && bytes > 0 && static_cast<std::size_t>(bytes) <= max_part_bytes;
    if (!is_open_) return;
    base_ = static_cast<std::byte const*>(base);
    site_ = site;
    snapshot_.assign(base_, base_ + bytes);
}

bool LocalStores::has_changed(AccessRecord const& one) const {
    auto const bytes = static_cast<std::size_t>(one.end - one.first);
    std::byte const *const before = snapshot_.data() + one.first, *const now = base_ + one.first;
    if (!one.writes()) return std::memcmp(before, now, bytes) != 0;
    return (one.digest_before != 0 && one.digest_before != p2p::digest_of(p2p::Data::of_bytes(before, bytes))) ||
           (one.digest_after != 0 && one.digest_after != p2p::digest_of(p2p::Data::of_bytes(now, bytes)));
}

std::vector<AccessRecord> LocalStores::changed_accesses(std::span<AccessRecord const> all) const {
    std::vector<AccessRecord> found;
    if (!is_open_) return found;
    std::uint64_t furthest = 0;   // end of the preceding writes, in the order of their first bytes
    for (std::size_t i = 0; i < all.size(); ++i) {
        AccessRecord const& one = all[i];
        bool others_write = furthest > one.first;
        for (std::size_t next = i + 1; !others_write && next < all.size() && all[next].first < one.end; ++next)
            others_write = all[next].writes();
        if (!others_write && one.end <= snapshot_.size() && has_changed(one)) found.push_back(one);
        if (one.writes()) furthest = std::max(furthest, one.end);
    }
    return found;
}

struct OriginBuffers::Operation {
    int rank;   ///< of the target
    p2p::OperationBuffers buffers;
    bool has_result;
    std::vector<Ref<Datatype>> types;   ///< the program may free them before completion
    OriginBuffers* owner;               ///< null: complete
    std::list<std::shared_ptr<Operation>>::iterator at{};
};

OriginBuffers::~OriginBuffers() {
    for (auto const& operation : operations_) {
        if (process_.p2p) p2p::engine(process_).checks()->release(operation->buffers);
        operation->owner = nullptr;
    }
}

std::shared_ptr<OriginBuffers::Operation> OriginBuffers::begin(std::string const& window, int rank,
                                                               std::initializer_list<Local> sends, Local* result,
                                                               bool fetches) {
    p2p::Checks& checks = *p2p::engine(process_).checks();
    std::vector<p2p::Data> sent, got;
    for (Local const& one : sends) sent.push_back(data_of(one));
    if (result) got.push_back(data_of(*result));
    auto const kind = fetches ? p2p::OperationBuffers::Kind::fetching : p2p::OperationBuffers::Kind::one_sided;
    std::string const on = join("rank ", rank, " of ", window);
    auto made = std::make_shared<Operation>(
        Operation{rank, {kind, on, std::move(sent), std::move(got)}, result != nullptr, {}, this});
    for (Local const& one : sends) made->types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&one.type)));
    if (result) {
        made->types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&result->type)));
        auto const address = reinterpret_cast<std::uintptr_t>(result->buffer);   // 0 for MPI_BOTTOM
        result->buffer =
            reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(made->buffers.redirect_receives()));
    }
    checks.on_begin(made->buffers);
    made->at = operations_.insert(operations_.end(), made);
    return made;
}

void OriginBuffers::complete(int rank) {
    for (auto at = operations_.begin(); at != operations_.end();) {
        Operation& operation = **at++;
        if (rank < 0 || operation.rank == rank) complete(operation);
    }
}

void OriginBuffers::complete(Operation& operation) {
    if (!operation.owner) return;
    p2p::Checks& checks = *p2p::engine(operation.owner->process_).checks();
    if (operation.has_result) checks.call_order.on_news();
    checks.on_arrived(operation.buffers);
    checks.before_completion(operation.buffers);
    std::exchange(operation.owner, nullptr)->operations_.erase(operation.at);   // may destroy the operation
}

void OriginBuffers::forget(Operation& operation) {
    if (operation.owner && !operation.has_result)
        p2p::engine(operation.owner->process_).checks()->release(operation.buffers);
}

}   // namespace tutti::rma
